#include "edgewire/graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/file_calls.h"
#include "graph/file/format.h"
#include "graph/file/graph_parts.h"
#include "options/files.h"
#include "options/kernels.h"

namespace edgewire {

using namespace graph;

struct Graph::Mapping {
  std::string path;
  std::array<std::optional<SectionSpace>, kSections> spaces;  ///< spaces of a folder; they outlive its parts
  std::vector<std::unique_ptr<GraphPart>> parts;              ///< parts that are here, or the whole file
  std::array<const std::uint8_t*, kSections> sections{};      ///< sections of the whole graph
  std::vector<std::array<SectionSpace::Addresses, kSections>> mapped;  ///< pages of the parts' files, [part]
  const GraphPart* with_ids = nullptr;                                 ///< the part that holds original ids
  Header layout{};  ///< layout of the whole graph as one file
  std::string table;
  Direction direction = Direction::out;

  void map_file(const std::string& name);
  void map_folder(const std::string& name);

  const Header& header() const { return parts.front()->header(); }
  bool in_parts() const { return is_part(header()); }
  template <class T>
  std::span<const T> section(std::uint32_t section) const {
    return {reinterpret_cast<const T*>(sections[section]), layout.sections[section].bytes / sizeof(T)};
  }
  [[noreturn]] void fail_missing(std::uint64_t row) const;
  using Check = void (GraphPart::*)(std::uint64_t first, std::uint64_t last) const;
  void each_part(std::uint64_t first, std::uint64_t last, Check check) const;
};

void Graph::Mapping::map_file(const std::string& name) {
  parts.push_back(std::make_unique<GraphPart>(path, name, GraphPart::Kind::whole));
  path = parts[0]->file().path();
  layout = header();
  with_ids = parts[0].get();
  mapped.resize(1);
  for (std::uint32_t section = 0; section < kSections; ++section) {
    sections[section] = parts[0]->data(section);
    mapped[0][section] = {sections[section], sections[section] + pages_of(layout.sections[section]).bytes};
  }
}

void Graph::Mapping::map_folder(const std::string& name) {
  parts = open_parts(path);
  if (!name.empty()) path = name;
  layout = lay_out(header().vertices, header().edges, header().flags);
  const auto holds_ids = [](const auto& part) { return part->header().part.holds_ids != 0; };
  if (const auto found = std::ranges::find_if(parts, holds_ids); found != parts.end())
    with_ids = found->get();
  mapped.resize(parts.size());
  for (std::uint32_t section = 0; section < kSections; ++section) {
    SectionSpace& space = spaces[section].emplace(layout.sections[section].bytes, path);
    sections[section] = space.data();
    for (std::size_t part = 0; part < parts.size(); ++part)
      mapped[part][section] = space.add(*parts[part], section);
  }
}

/// Throws the error that the row is in a part that is not here.
void Graph::Mapping::fail_missing(std::uint64_t row) const {
  std::uint32_t missing = 0;
  for (const auto& part : parts)
    if (part->extent().last_row <= row) missing = part->header().part.number + 1;
  throw Error(fmt::format("{}: part {} is not here", path, part_name(missing, header().part.parts)));
}

/// Lets each part check its rows of [first, last). Throws Error where they are not here.
void Graph::Mapping::each_part(std::uint64_t first, std::uint64_t last, Check check) const {
  const auto ends_before = [](const auto& part, std::uint64_t row) { return part->extent().last_row <= row; };
  auto part = std::lower_bound(parts.begin(), parts.end(), first, ends_before);
  if (first == last) {  // there may be no part
    if (part == parts.end()) --part;
    if ((*part)->extent().first_row <= first && first <= (*part)->extent().last_row)
      (**part.*check)(first, first);
    return;
  }
  for (; first < last; ++part) {
    if (part == parts.end() || (*part)->extent().first_row > first) fail_missing(first);
    const std::uint64_t end = std::min(last, (*part)->extent().last_row);
    if (first < end) (**part.*check)(first, end);
    first = end;
  }
}

Graph Graph::open(const std::string& path, const std::string& name) {
  auto mapping = std::make_unique<Mapping>();
  mapping->path = path;
  if (is_folder(path)) {
    while (mapping->path.size() > 1 && mapping->path.ends_with('/')) mapping->path.pop_back();
    mapping->map_folder(name);
  } else {
    mapping->map_file(name);
  }
  return Graph(std::move(mapping));
}

Graph::Graph(std::unique_ptr<Mapping> mapping)
    : mapping_(std::move(mapping)),
      offsets_(mapping_->section<std::uint64_t>(kOffsets)),
      targets_(mapping_->section<VertexId>(kTargets)),
      weights_(weights_at(mapping_->sections[kWeights], mapping_->layout)) {}
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

const std::string& Graph::table() const { return mapping_->table; }
void Graph::set_table(const std::string& path) { mapping_->table = path; }
Direction Graph::direction() const { return mapping_->direction; }
void Graph::set_direction(Direction direction) { mapping_->direction = direction; }
const std::string& Graph::path() const { return mapping_->path; }
std::uint64_t Graph::file_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& part : mapping_->parts) bytes += part->file().bytes();
  return bytes;
}
std::uint64_t Graph::vertices() const { return mapping_->header().vertices; }
std::uint64_t Graph::edges() const { return mapping_->header().edges; }
std::uint32_t Graph::flags() const { return mapping_->header().flags; }
bool Graph::weighted() const { return (flags() & kWeighted) != 0; }
bool Graph::float_weights() const {
  return weighted() && (weights_.type() == WeightType::f32 || (flags() & kFloatWeights) != 0);
}
bool Graph::weights_doubtful() const { return (flags() & kDoubtfulWeights) != 0; }
bool Graph::simple() const { return (flags() & kSimple) != 0; }
bool Graph::symmetric() const { return (flags() & kSymmetric) != 0; }
std::uint64_t Graph::checksum() const {
  return mapping_->in_parts() ? mapping_->header().part.graph_checksum : mapping_->header().checksum;
}
bool Graph::labelled() const { return (flags() & kLabels) != 0; }
bool Graph::has_original_ids() const { return (flags() & kOriginalIds) != 0; }

std::vector<RowRange> Graph::rows_here() const {
  std::vector<RowRange> ranges;
  for (const auto& part : mapping_->parts) {
    const Extent& held = part->extent();
    if (!ranges.empty() && ranges.back().last == held.first_row)
      ranges.back().last = held.last_row;
    else if (held.first_row < held.last_row || vertices() == 0)
      ranges.push_back({held.first_row, held.last_row});
  }
  return ranges;
}

bool Graph::is_cached() const {
  return std::ranges::all_of(mapping_->parts, [](const auto& part) { return part->file().is_cached(); });
}

void Graph::expect_all_rows() const {
  if (!mapping_->in_parts()) return;
  const auto& parts = mapping_->parts;
  for (std::uint32_t number = 0; number < mapping_->header().part.parts; ++number)
    if (number >= parts.size() || parts[number]->header().part.number != number)
      throw Error(
          fmt::format("{}: part {} is not here", path(), part_name(number, mapping_->header().part.parts)));
}

std::uint64_t Graph::original_id(VertexId v) const {
  if (!has_original_ids()) return v;
  if (mapping_->with_ids == nullptr)
    throw Error(fmt::format("{}: the part with the ids of its vertices is not here", path()));
  mapping_->with_ids->check(kIds, v, std::uint64_t{v} + 1);
  return mapping_->section<std::uint64_t>(kIds)[v];
}

void Graph::verify_offsets(std::uint64_t first, std::uint64_t last) const {
  check_range(first, last);
  mapping_->each_part(first, last, &GraphPart::check_offsets);
}

void Graph::verify_rows(std::uint64_t first, std::uint64_t last) const {
  check_range(first, last);
  mapping_->each_part(first, last, &GraphPart::check_rows);
}

void Graph::check_range(std::uint64_t first, std::uint64_t last) const {
  if (first <= last && last <= vertices()) return;
  throw Error(
      fmt::format("{}: there are no rows {} to {}: it has {} vertices", path(), first, last, vertices()));
}

void Graph::release_rows(std::uint64_t first, std::uint64_t last) const noexcept {
  if (first >= last || last > vertices()) return;
  const Mapping& mapping = *mapping_;
  for (std::size_t i = 0; i < mapping.parts.size(); ++i) {
    const Extent& held = mapping.parts[i]->extent();
    const std::uint64_t begin = std::max(first, held.first_row), end = std::min(last, held.last_row);
    if (begin >= end) continue;
    const std::uint64_t first_edge = std::min(offsets()[begin], held.last_edge);
    const std::uint64_t last_edge = std::min(offsets()[end], held.last_edge);
    const auto release = [&](std::uint32_t section, std::uint64_t from, std::uint64_t to,
                             std::uint64_t bytes) {
      const auto [least, most] = mapping.mapped[i][section];
      MappedFile::release(std::max(least, mapping.sections[section] + from * bytes),
                          std::min(most, mapping.sections[section] + to * bytes));
    };
    release(kTargets, first_edge, last_edge, sizeof(VertexId));
    if (weighted()) release(kWeights, first_edge, last_edge, bytes_of(weights_.type()));
    if (has_original_ids()) release(kIds, begin, end, 8);
    release(kOffsets, begin, end, 8);
  }
}

}  // namespace edgewire

namespace edgewire::graph {

void expect_weights(const Graph& graph, std::string_view otherwise) {
  if (!graph.weighted())
    throw Error(fmt::format("{}: the graph has no weights: convert it from a file with weights{}{}",
                            graph.path(), otherwise.empty() ? "" : ", or ", otherwise));
  if (!graph.weights_doubtful()) return;
  throw Error(
      fmt::format("{}: its weights were a third column that looks like a time, not like a weight; {} takes "
                  "it as a weight{}",
                  graph.path(), options::conversion_with(opt::columns("1,2,3")),
                  opt::no_weights.hint(", and leaves it out with {}")));
}

std::optional<int> id_bits_of(const std::string& path) {
  std::string looked_at = path;
  if (is_folder(path)) {
    const auto names = part_names(path);
    if (names.empty()) return {};
    looked_at = fmt::format("{}/{}", path, names[0]);
  }
  if (std::error_code none; !std::filesystem::is_regular_file(looked_at, none)) return {};
  Header header{};
  if (read_start(looked_at, &header, sizeof header) < sizeof header || header.magic != kMagic ||
      (header.version != kVersion && !is_part(header)) || header_checksum(header) != header.checksum)
    return {};
  return (header.flags & kWideIds) != 0 ? 64 : 32;
}

bool is_folder(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_directory(path, none);
}

bool is_ours(const std::string& path) {
  std::error_code none;
  if (path.ends_with(".ew") || !std::filesystem::is_regular_file(path, none)) return true;
  std::array<char, kMagic.size()> start{};
  read_start(path, start.data(), start.size());
  return start == kMagic;
}

double Row::weight_sum(bool floats) const {
  if (!graph.weighted()) throw Error(fmt::format("{}: the graph has no weights", graph.path()));
  double sum = 0;
  weights().visit([&](const auto all) {
    for (std::size_t e = 0; e < all.size(); ++e) {
      const auto weight = static_cast<double>(all[e]);
      if (weight < 0)
        throw Error(fmt::format("{}: edge {} -> {} has weight {}; {} needs weights that are not negative",
                                graph.path(), graph.original_id(vertex), graph.original_id(targets()[e]),
                                weight, opt::weighted));
      sum += weight;
    }
  });
  // Neither 1 / sum nor a share is below the normal numbers then, or infinite.
  constexpr double kMostOfFloats = 1e25, kMostOfDoubles = 1e290;
  const auto fits = [sum](double most) { return sum <= most && sum >= 1 / most; };
  if (sum == 0 || fits(floats ? kMostOfFloats : kMostOfDoubles)) return sum;
  throw Error(fmt::format(
      "{}: the weights of vertex {} sum to {:g}: {}", graph.path(), graph.original_id(vertex), sum,
      fits(kMostOfDoubles)
          ? fmt::format("{} takes such sums (without {})", opt::precision("f64"), opt::wire)
          : fmt::format("{} takes sums from 1e-290 to 1e290, so scale the weights", opt::weighted)));
}

}  // namespace edgewire::graph
