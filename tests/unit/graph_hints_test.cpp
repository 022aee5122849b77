// Hints that are wrong, inputs that hold nothing, and what is said of both.
#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>
#include <set>
#include <utility>

#include "base/error.h"
#include "graph/read/formats.h"
#include "graph/read/input.h"
#include "graph/read/readers.h"
#include "graph_inputs.h"

namespace edgewire::graph {

using namespace std::string_literals;

namespace {

using Ends = std::set<std::pair<std::uint64_t, std::uint64_t>>;

/// Edges both ways between ids from 1 on.
const Ends kRing = {{1, 2}, {2, 1}, {2, 3}, {3, 2}, {1, 3}, {3, 1}};
const Ends kFour = {{1, 2}, {1, 3}, {1, 4}, {2, 1}, {2, 3}, {2, 4},
                    {3, 1}, {3, 2}, {3, 4}, {4, 1}, {4, 2}, {4, 3}};
const Ends kPair = {{1, 2}, {2, 1}};

std::string lines(const Ends& edges, const std::string& separator, const std::string& weight) {
  std::string text;
  for (const auto& [source, target] : edges)
    text += fmt::format("{}{}{}{}\n", source, separator, target, weight);
  return text;
}

std::string pairs(const Ends& edges) {
  std::string bytes;
  for (const auto& [source, target] : edges) {
    append(bytes, static_cast<std::uint32_t>(source));
    append(bytes, static_cast<std::uint32_t>(target));
  }
  return bytes;
}

std::string serialized(const Ends& edges, bool weighted) {
  const std::uint64_t vertices = edges.rbegin()->first + 1;
  std::string bytes(1, '\0');  // undirected
  append(bytes, edges.size());
  append(bytes, vertices);
  for (std::uint64_t v = 0; v <= vertices; ++v)
    append(bytes, std::uint64_t(
                      std::count_if(edges.begin(), edges.end(), [&](auto edge) { return edge.first < v; })));
  for (const auto& [source, target] : edges) {
    append(bytes, static_cast<std::uint32_t>(target));
    if (weighted) append(bytes, std::int32_t{5});
  }
  return bytes;
}

struct Sample {
  Format format;
  std::string bytes;
  Ends edges;
};

/// Graphs whose METIS lines could all be edges, and the same graphs in other formats.
std::vector<Sample> samples(const Converter& converter) {
  std::vector<Sample> all = {{Format::metis, "3 3\n2 3\n1 3\n1 2\n", kRing},
                             {Format::metis, "4 6 0\n2 3 4\n1 3 4\n1 2 4\n1 2 3\n", kFour},
                             {Format::metis, "3 3 10\n7 2 3\n8 1 3\n9 1 2\n", kRing},
                             {Format::metis, "2 1 11\n7 2 5\n8 1 5\n", kPair}};
  for (const Ends* const edges : {&kRing, &kFour, &kPair}) {
    const std::uint64_t vertices = edges->rbegin()->first;
    const std::string counts = fmt::format("{} {} {}\n", vertices, vertices, edges->size());
    const std::string el = lines(*edges, " ", ""), wel = lines(*edges, " ", " 5");
    all.insert(all.end(),
               {{Format::snap, "# edges\n" + el, *edges},
                {Format::snap, wel, *edges},
                {Format::csv, "source,target\n" + lines(*edges, ",", ""), *edges},
                {Format::csv, "from;to;weight\n" + lines(*edges, ";", ";5"), *edges},
                {Format::csv, lines(*edges, ",", ""), *edges},
                {Format::matrix_market,
                 fmt::format("%%MatrixMarket matrix coordinate pattern general\n{}{}", counts, el), *edges},
                {Format::matrix_market,
                 fmt::format("%%MatrixMarket matrix coordinate integer general\n{}{}", counts, wel), *edges},
                {Format::dimacs,
                 fmt::format("p sp {} {}\n", vertices, edges->size()) + lines(*edges, " ", " 5"), *edges},
                {Format::el, el, *edges},
                {Format::wel, wel, *edges},
                {Format::sg, serialized(*edges, false), *edges},
                {Format::wsg, serialized(*edges, true), *edges},
                {Format::u32_pairs, pairs(*edges), *edges}});
    converter("g.el", el, {.workers = 1});
    all.push_back({Format::ew, converter.output_bytes(), *edges});
  }
  for (Sample& sample : all) {
    if (sample.format != Format::dimacs) continue;
    for (std::size_t at = sample.bytes.find('\n'); at + 1 < sample.bytes.size();
         at = sample.bytes.find('\n', at + 1))
      sample.bytes.insert(at + 1, "a ");
  }
  return all;
}

Ends ends_of(const Graph& graph) {
  Ends found;
  for (const auto& [source, target, weight] : edges_of(graph))
    found.emplace(graph.original_id(VertexId(source)), graph.original_id(VertexId(target)));
  return found;
}

/// What `convert` makes of it, or none where it is refused.
std::optional<Ends> read_as(const Converter& converter, const std::string& name, const std::string& bytes,
                            Format format) {
  try {
    return ends_of(converter(name, bytes, {.format = format, .workers = 1}));
  } catch (const Error& error) {
    CHECK(contains(error.what(), name));
    CHECK(!contains(error.what(), "\n"));
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("each format under each hint is refused or read right") {
  const Converter converter;
  std::size_t refused = 0;
  for (const Sample& sample : samples(converter)) {
    CAPTURE(name_of(sample.format).option);
    CAPTURE(sample.bytes);
    for (const std::string& bytes : {sample.bytes, gzipped(sample.bytes)}) {
      if (bytes.empty()) continue;
      for (const FormatName& hint : all_formats()) {
        CAPTURE(hint.option);
        const std::string ending(hint.endings.substr(0, hint.endings.find(' ')));
        for (const bool asked : {true, false}) {
          if (!asked && hint.format == Format::ew) continue;  // only plain files have this name
          const auto found = asked ? read_as(converter, "g.dat", bytes, hint.format)
                                   : read_as(converter, "g" + ending, bytes, Format::automatic);
          refused += found ? 0 : 1;
          if (found) CHECK(*found == sample.edges);
          const bool mapped = sample.format == Format::ew && bytes != sample.bytes;
          if (hint.format == sample.format && !mapped) CHECK(found.has_value());
        }
      }
    }
  }
  CHECK(refused > 400);
}

TEST_CASE("what begins like METIS but is none") {
  const TemporaryDirectory directory;
  const auto is_metis = [&](const std::string& text, bool whole = true) {
    write_file(directory / "g.txt", text);
    Input input(directory / "g.txt");
    return metis_graph_in(input, whole).has_value();
  };
  CHECK(is_metis("% c\n3 3\n2 3\n1 3\n% c\n1 2\n"));
  CHECK(is_metis("3 2\n2 3\n1\r\n1\n\n"));
  CHECK(is_metis("3 1\n2\n1"));  // the last vertex has no neighbour
  for (const char* const text : {"",
                                 "\n",
                                 "3\n",
                                 "x y\n",
                                 "0 1\n1 2\n",
                                 "1 0\n0 1\n",
                                 "1 1\n",
                                 "2 1\n1 2\n",
                                 "3 3\n3 2\n3 1\n2 1\n1 3\n",
                                 "3 3\n2 3\n1 3\n",
                                 "3 3\n2 3\n1 3\n1 1\n",
                                 "3 3\n2 3\n1 3\n2 1\n1 2\n",
                                 "3 3\n2 2\n1 3\n1 2\n",
                                 "3 3\n2 3\n1 3\n2 2\n",
                                 "3 4\n2 3\n1 3\n1 2\n",
                                 "# edges\n3 3\n2 3\n1 3\n1 2\n",
                                 "3,3\n2,3\n1,3\n1,2\n",
                                 "4 4\n2 3\n1 4\n1 2\n2 3\n",
                                 "3 3 1\n2 3\n1 3\n1 2\n",
                                 "3 3 12\n2 3 4\n1 3 4\n1 2 4\n",
                                 "2 1 11\n7 2 5\n8 1 6\n",
                                 "3 3\n2 3.5\n1 3\n1 2\n",
                                 "3 3\n2 4\n1 3\n1 2\n"}) {
    CAPTURE(text);
    CHECK_FALSE(is_metis(text));
  }
  // Of a beginning only what is there can be compared.
  CHECK(is_metis("100 100\n2 100\n1 3\n2 4\n3 ", false));
  CHECK_FALSE(is_metis("100 99\n2 100\n1 3\n2 4\n3 ", false));
  CHECK_FALSE(is_metis("100 100\n2 100\n3 4\n2 4\n3 ", false));
}

TEST_CASE("a METIS graph that is longer than what is looked at is no edge list") {
  const Converter converter;
  constexpr int kLong = 40'000;
  std::string text = fmt::format("{} {}\n", kLong, kLong);
  for (int v = 0; v < kLong; ++v)
    text += fmt::format("{} {}\n", (v + kLong - 1) % kLong + 1, (v + 1) % kLong + 1);
  REQUIRE(text.size() > 2 * Input::kPeekBytes);
  for (const std::string& bytes : {text, gzipped(text)})
    if (!bytes.empty())
      CHECK(contains(
          converter.error("g.el", bytes),
          "it is to be read as GAP's edge list, but is a METIS graph of 40000 vertices and 40000 edges; "
          "--format metis reads it"));
  CHECK(converter("g.el", "# edges\n" + text, {.workers = 1}).edges() == kLong + 1);
}

TEST_CASE("an input without an edge is an error unless it may be empty") {
  const Converter converter;
  const std::string header(17, '\0');
  const std::vector<std::pair<std::string, std::string>> inputs = {
      {"g.txt", ""},
      {"g.txt", "# only\n\n"},
      {"g.el", ""},
      {"g.wel", "\n"},
      {"g.bin", ""},
      {"g.csv", "source,target\n"},
      {"g.graph", "5 0\n"s + "\n\n\n\n\n"},
      {"g.gr", "p sp 5 0\n"},
      {"g.sg", header + std::string(8, '\0')},
      {"g.mtx", "%%MatrixMarket matrix coordinate pattern general\n5 5 0\n"}};
  for (const auto& input : inputs) {
    const auto& name = input.first;
    const auto& bytes = input.second;
    CAPTURE(name);
    for (const std::string& packed : {bytes, gzipped(bytes), zstandard(bytes), xz(bytes), bzip2(bytes)}) {
      if (packed.empty() && !bytes.empty()) continue;
      CHECK(converter.error(name, packed) ==
            "it holds no edge; --allow-empty makes a graph of it all the same");
      const Graph graph = converter(name, packed, {.allow_empty = true});
      CHECK(graph.edges() == 0);
      CHECK(graph.vertices() == (name == "g.graph" || name == "g.gr" || name == "g.mtx" ? 5 : 0));
    }
  }
  CHECK(contains(converter.error("g.txt", "", {.labels = true}), "it holds no edge"));
  CHECK(converter("g.txt", "3 3\n", {.simple = true}).edges() == 0);  // it held one
  // Our own format as well.
  converter("none.txt", "", {.allow_empty = true});
  CHECK(contains(converter.error("copy.ew", converter.output_bytes()), "it holds no edge"));
}

TEST_CASE("line ends of old Macs are refused wherever they hide edges") {
  const Converter converter;
  const std::string said =
      "lines end in CR alone, as on old Macs; tr '\\r' '\\n' < FILE > NEW makes them readable";
  for (const char* const name : {"g.txt", "g.el", "g.graph", "g.csv", "noname"})
    CHECK(converter.error(name, "0 1\r1 2\r") == "its " + said);
  CHECK(converter.error("g.txt", "# c\r0 1\r1 2\r") == "its " + said);
  CHECK(converter.error("g.txt", "# c\r\n0 1\r\n# c\r2 3\r\n") == "line 3, column 4: " + said);
  if (const auto packed = gzipped("# c\r0 1\r"); !packed.empty())
    CHECK(converter.error("g.txt", packed) == "its " + said);
  for (const char* const fine : {"0 1\r\n1 2\r\n", "0 1\r\r\n1 2\r\r\n", "0 1\n1 2\r"})
    CHECK(converter("g.txt", fine).edges() == 2);
}

TEST_CASE("an input that is written while it is read ends the conversion") {
  const Converter converter;
  const std::string path = converter.directory() / "g.txt", output = converter.directory() / "out.ew";
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "1 2\n";
  for (const bool right : {true, false}) {  // what is written could be read, or not
    write_file(path, text);
    const timespec old[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    REQUIRE(utimensat(AT_FDCWD, path.c_str(), old, 0) == 0);
    bool written = false;
    const auto write = [&](const Step& step) {
      if (std::string_view(step.name) != "reading" || std::exchange(written, true)) return;
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(text.size() - 4));
      file << (right ? "2 1\n" : "a b\n");
    };
    CHECK(contains(error_of([&] { convert(path, output, {.workers = 1}, write); }),
                   path + ": the file was written while it was used"));
    CHECK_FALSE(std::filesystem::exists(output));
  }
}

TEST_CASE("zeros behind gzip data are skipped as gzip skips them") {
  const Converter converter;
  const std::string packed = gzipped(edge_lines(false, 0));
  if (packed.empty()) return;
  for (const std::size_t zeros : {1, 511, 100'000})
    CHECK(converter("g.txt", packed + std::string(zeros, '\0')).edges() == kEdges.size());
  CHECK(contains(converter.error("g.txt", packed + std::string(9, '\0') + "garbage"),
                 "the gzip data is damaged"));
}

TEST_CASE("how big sparse ids become that are kept is said before") {
  const Converter converter;
  std::vector<std::string> notes;
  ConvertOptions options;
  options.note = [&](const std::string& text) { notes.push_back(text); };
  const std::string matrix =
      "%%MatrixMarket matrix coordinate pattern general\n2000000 2000000 1\n1 2000000\n";
  for (const auto& [name, bytes] :
       {std::pair{"g.el"s, "1 2000000\n"s}, {"g.txt", "1 2000000\n"}, {"g.mtx", matrix}}) {
    options.keep_ids = false;
    CHECK(converter(name, bytes, options).vertices() == 2);
    CHECK(notes.empty());
    options.keep_ids = true;
    const std::uint64_t vertices = converter(name, bytes, options).vertices();
    REQUIRE(notes.size() == 1);
    CHECK(notes[0] == fmt::format("--keep-ids: {} vertices for 1 edges take {}.01 MB", vertices,
                                  name == "g.mtx" ? 32 : 16));
    notes.clear();
  }
}

}  // namespace edgewire::graph
