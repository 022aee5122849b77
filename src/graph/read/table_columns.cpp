// Which columns of a table hold the edges: one rule for text, and for the tables of Python.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/error.h"
#include "edgewire/convert.h"
#include "graph/read/readers.h"
#include "options/files.h"

namespace edgewire {

namespace {

using Places = std::vector<std::size_t>;
using Names = std::span<const std::string_view>;

/// Names of sources, any of which goes with any of the targets. Blanks, - and _ in names do not count.
struct EndNames {
  std::array<std::string_view, 4> sources;
  std::array<std::string_view, 5> targets;
  bool clear = true;  ///< whether no vertex has such a name
};
constexpr std::array<EndNames, 11> kEnds = {
    {{{"source", "src", "from", "origin"}, {"target", "dst", "dest", "destination", "to"}},
     {{"sourceid", "srcid", "fromid", "fromnodeid"}, {"targetid", "dstid", "destid", "toid", "tonodeid"}},
     {{"payer"}, {"payee"}},
     {{"sender"}, {"receiver", "recipient"}},
     {{"follower"}, {"followee", "followed"}},
     {{"caller"}, {"callee"}},
     {{"citing"}, {"cited"}},
     {{"u"}, {"v"}, false},
     {{"i"}, {"j"}, false},
     {{"node1"}, {"node2"}, false},
     {{"id1"}, {"id2"}, false}}};
constexpr std::array<std::string_view, 1> kWeightNames = {"weight"};
constexpr std::array<std::string_view, 1> kTypeNames = {"type"};
/// Names of columns that Gephi writes and that carry no edges.
constexpr std::array<std::string_view, 7> kRemarks = {"",        "type",     "id",  "label",
                                                      "timeset", "interval", "kind"};
constexpr std::size_t kMostNamed = 20;    // most columns that a message names
constexpr std::size_t kMostLetters = 40;  // most letters of a name in a message

Places places_of(Names names, Names words) {
  Places places;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (graph::is_one_of(names[i], words)) places.push_back(i);
  return places;
}

/// Returns the places of columns with one of these names, whatever stands between words.
Places ends_of(Names names, Names words) {
  Places places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string name(names[i]);
    std::erase_if(name, [](char c) { return c == ' ' || c == '-' || c == '_'; });
    if (!name.empty() && graph::is_one_of(name, words)) places.push_back(i);
  }
  return places;
}

/// The columns whose names say that they hold ends of edges.
struct FoundEnds {
  Places sources, targets;
  bool clear = false;  ///< whether the names are clear, see EndNames; also where only one of the two is there

  bool both() const noexcept { return !sources.empty() && !targets.empty(); }
};

/// Returns the first pair of names of which both are there; else the first clear pair of which one is.
FoundEnds find_ends(Names names) {
  FoundEnds half;
  for (const EndNames& ends : kEnds) {
    FoundEnds found = {ends_of(names, ends.sources), ends_of(names, ends.targets), ends.clear};
    if (found.both()) return found;
    if (!half.clear && ends.clear && !(found.sources.empty() && found.targets.empty()))
      half = std::move(found);
  }
  return half;
}

/// Returns the name of a column for messages.
std::string shown(Names names, std::size_t place) {
  const std::string_view name = names[place];
  const bool plain = !name.empty() && name.size() <= kMostLetters &&
                     std::ranges::all_of(name, [](unsigned char c) { return c >= 0x20 && c != 0x7F; });
  return plain ? std::string(name) : fmt::format("column {}", place + 1);
}

/// Returns the text by which --columns names a column: its name where that is plain and no other has it.
std::string called(Names names, std::size_t place) {
  const std::string_view name = names[place];
  const bool plain = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
                     std::ranges::all_of(name, [](unsigned char c) {
                       return c < 0x80 && (std::isalnum(c) != 0 || c == '_');
                     });
  return plain && places_of(names, std::array{name}).size() == 1 ? std::string(name)
                                                                 : std::to_string(place + 1);
}

bool is_remark(std::string_view name) {
  return graph::is_one_of(name, kRemarks) || name.starts_with("__");  // pandas' name of an index
}

[[noreturn]] void refuse_ambiguous(Names names, const Places& places, std::string_view what,
                                   const std::string& example) {
  throw Error(fmt::format("columns {} ({}) and {} ({}) may both be the {}: choose by number, such as {}",
                          places[0] + 1, shown(names, places[0]), places[1] + 1, shown(names, places[1]),
                          what, opt::columns(example)));
}

/// Returns the line about the chosen columns; empty where names tell all of it.
std::string note_of(Names names, const EdgeColumns& chosen, bool weights) {
  Places ignored;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (i != chosen.source && i != chosen.target && i != chosen.weight) ignored.push_back(i);
  const auto candidate = std::ranges::find_if(ignored, [&](std::size_t i) { return !is_remark(names[i]); });
  const bool may_weigh = weights && !chosen.weight && candidate != ignored.end();
  if (!chosen.by_place && !may_weigh) return "";
  std::string note = chosen.by_place ? fmt::format(
                                           "no column is called source or target, so edges go from "
                                           "{} to {}",
                                           shown(names, chosen.source), shown(names, chosen.target))
                                     : "no column is called weight";
  if (chosen.by_place && chosen.weight) note += ", with the weight " + shown(names, *chosen.weight);
  for (std::size_t i = 0; i < std::min(ignored.size(), kMostNamed); ++i)
    note += (i == 0 ? "; ignored: " : ", ") + shown(names, ignored[i]);
  if (ignored.size() > kMostNamed) note += ", ...";
  if (may_weigh)
    note += fmt::format(" ({} takes {} for the weight)",
                        opt::columns(fmt::format("{},{},{}", called(names, chosen.source),
                                                 called(names, chosen.target), called(names, *candidate))),
                        shown(names, *candidate));
  return note;
}

}  // namespace

EdgeColumns find_edge_columns(std::span<const std::string_view> names, bool weights,
                              std::optional<std::size_t> weight) {
  const FoundEnds named = find_ends(names);
  const Places &sources = named.sources, &targets = named.targets;
  const Places found = weight ? Places{*weight} : weights ? places_of(names, kWeightNames) : Places();
  EdgeColumns chosen;
  chosen.by_place = sources.empty() && targets.empty();
  Places ends;  // first columns whose name is not weight
  for (std::size_t i = 0; chosen.by_place && i < names.size() && ends.size() < 2; ++i)
    if (i != weight && !graph::is_one_of(names[i], kWeightNames)) ends.push_back(i);
  if (!chosen.by_place && !named.both()) {
    const bool source = !sources.empty();
    const std::size_t one = source ? sources[0] : targets[0];
    throw Error(fmt::format("column {} ({}) tells the {} of edges, but no name tells their {}: {}", one + 1,
                            shown(names, one), source ? "source" : "target", source ? "target" : "source",
                            graph::which_columns()));
  }
  if (chosen.by_place && ends.size() < 2) throw Error(graph::which_columns());
  chosen.source = chosen.by_place ? ends[0] : sources[0];
  chosen.target = chosen.by_place ? ends[1] : targets[0];
  const std::string example = fmt::format("{},{}", chosen.source + 1, chosen.target + 1);
  if (sources.size() > 1) refuse_ambiguous(names, sources, "source", example);
  if (targets.size() > 1) refuse_ambiguous(names, targets, "target", example);
  if (found.size() > 1) refuse_ambiguous(names, found, "weight", fmt::format("{},{}", example, found[0] + 1));
  if (!found.empty()) chosen.weight = found[0];
  chosen.note = note_of(names, chosen, weights);
  return chosen;
}

std::string note_of_types(std::uint64_t undirected, std::uint64_t rows) {
  if (undirected == 0) return "";
  return undirected == rows ? fmt::format(
                                  "all edges are Undirected by their column Type, but each is stored one "
                                  "way, as it stands there: {} stores each both ways",
                                  opt::undirected)
                            : fmt::format(
                                  "{} of {} edges are Undirected by their column Type, but each is stored "
                                  "one way, as it stands there: {} stores all of them both ways",
                                  undirected, rows, opt::undirected);
}

namespace graph {

std::string which_columns() {
  return fmt::format("which columns hold the edges? Say {}, by name or by number, such as {}",
                     opt::columns("SOURCE,TARGET[,WEIGHT]"), opt::columns("1,2"));
}

std::size_t find_column(std::span<const std::string_view> names, std::string_view wanted) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  const bool is_place = error == std::errc() && end == wanted.data() + wanted.size();
  Places places;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (is_place ? i + 1 == number : names[i] == wanted) places.push_back(i);
  if (places.empty() && !is_place) places = places_of(names, std::array{wanted});
  if (places.size() == 1) return places[0];
  if (places.size() > 1)
    throw Error(fmt::format("{}: columns {} and {} are both called {}: choose them by number", opt::columns,
                            places[0] + 1, places[1] + 1, wanted));
  std::string all;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
    all.append(i == 0 ? "" : ", ").append(names[i]);
  throw Error(fmt::format("{}: this line has no column {}; its columns are {}", opt::columns, wanted, all));
}

std::optional<std::size_t> type_column(std::span<const std::string_view> names) {
  const Places places = places_of(names, kTypeNames);
  return places.size() == 1 ? std::optional(places[0]) : std::nullopt;
}

bool names_edges(std::span<const std::string_view> names) {
  const FoundEnds found = find_ends(names);
  return found.both() && found.clear;
}

bool is_end_name(std::string_view name) {
  const std::array names = {name};
  return std::ranges::any_of(kEnds, [&](const EndNames& ends) {
    return !ends_of(names, ends.sources).empty() || !ends_of(names, ends.targets).empty();
  });
}

bool is_one_of(std::string_view name, std::span<const std::string_view> words) {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  return std::ranges::any_of(words, [&](std::string_view word) {
    return std::ranges::equal(name, word, std::ranges::equal_to(), lower, lower);
  });
}

}  // namespace graph

}  // namespace edgewire
