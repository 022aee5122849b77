#include "dense/job/plan_cache.h"
#include "dense/tiles/build_tiles.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/checksum.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/seconds.h"
#include "launch/agreement.h"
#include "launch/packing.h"
#include "partition/row_loader.h"

namespace edgewire::job {

namespace {

std::uint64_t content_checksum(const std::string& path) {
  const MappedFile file(path);
  return checksum(file.data(), file.bytes());
}

template <class Value>
std::string line(const char* name, const Value& value) {
  return fmt::format("{} {}\n", name, value);
}

/// Returns all that the plan depends on, a line each.
std::string to_key(const PlanTask& task) {
  const tiles::TileSizes sizes = task.tile_sizes();
  std::string key;
  key += line("program", EDGEWIRE_VERSION);
  key += line("tiles of", fmt::format("{} ({}) x {}, bundles of {}", sizes.strip_width, sizes.narrow_sources,
                                      sizes.column_width, tiles::kBundle));
  key += subject_of_plan(task);
  key += line("vertices", task.graph.vertices());
  key += line("edges", task.graph.edges());
  key += line("processes", task.bootstrap.size());
  key += line("rank", task.bootstrap.rank());
  if (const auto path = partition::partition_file(task.options.ownership); !path.empty())
    key += line("partition file", fmt::format("{:016x}", content_checksum(path)));
  return key;
}

// The sections of a file, for both writing and reading.

template <class File, class Kept>
void choices_section(File& file, Kept& choices) {
  file(choices.ownership);
  file(choices.ownership_table);
  file.value(choices.strategy);
  file(choices.strategy_reason);
  file.value(choices.layout);
  file(choices.layout_reason);
  file.value(choices.order);
  file(choices.order_reason);
}

void tiles_section(ArrayFileWriter& file, const tiles::Tiles& tiles) {
  std::vector<tiles::Tiles::Size> sizes;
  std::vector<std::span<const std::byte>> parts;
  for (std::size_t c = 0; c < tiles.columns(); ++c) {
    auto& size = sizes.emplace_back(tiles::Tiles::Size{tiles.edges(c), 0});
    for (const auto part : tiles.column_data(c)) {
      size.words += part.size();
      parts.push_back(std::as_bytes(part));
    }
  }
  file.copy(sizes);
  file.add(std::move(parts));
}

void tiles_section(ArrayFileReader& file, tiles::Tiles& tiles, std::span<const std::uint32_t> bounds) {
  std::vector<tiles::Tiles::Size> sizes;
  file(sizes);
  const auto words = file.map<std::uint16_t>();
  std::uint64_t taken = 0;
  for (const auto& size : sizes) taken += std::min<std::uint64_t>(size.words, words.size() - taken + 1);
  if (taken != words.size() || (!sizes.empty() && sizes.size() + 1 != bounds.size()))
    file.fail("its tiles are faulty");
  tiles = tiles::Tiles(bounds, sizes, words);
}

void segments_section(ArrayFileWriter& file, const TileSegments& where) {
  file.copy(where.sizes);
  file.copy(where.ends);
  file.copy(where.segments);
}

void segments_section(ArrayFileReader& file, TileSegments& where) {
  where.generation = file.generation();
  file(where.sizes);
  file(where.ends);
  file(where.segments);
}

bool can_be_columns(std::span<const std::uint32_t> bounds, std::uint32_t owned) {
  if (bounds.empty() || bounds[0] != 0 || !std::ranges::binary_search(bounds, owned)) return false;
  for (std::size_t c = 0; c + 1 < bounds.size(); ++c)
    if (bounds[c] >= bounds[c + 1] || bounds[c + 1] - bounds[c] > tiles::kColumnWidth) return false;
  return true;
}

template <class File, class Incoming, class Outgoing>
void streams_section(File& file, Incoming& incoming, Outgoing& outgoing) {
  for (std::size_t s = 0; s < incoming.size(); ++s) {
    if (outgoing[s].mirrors)
      file(incoming[s].sources);
    else
      file(incoming[s].targets);
  }
  for (auto& stream : outgoing) {
    file.value(stream.slots);
    file.value(stream.first_destination);
    file(stream.indexes);
    file(stream.ids);
    file(stream.weights);
  }
}

/// Returns whether the streams match. `slots`: what each peer sends in its streams; empty without its file.
bool matches(const std::vector<exchange::IncomingStream>& incoming, const std::vector<std::string>& slots) {
  const std::size_t lists = incoming.size() / slots.size();
  for (std::size_t p = 0; p < slots.size(); ++p) {
    if (slots[p].empty()) continue;
    const auto sent = launch::unpack<std::uint32_t>(slots[p], p);
    const auto here = std::span(incoming).subspan(p * lists, lists);
    if (!std::ranges::equal(sent, here, {}, {}, [](const auto& stream) { return stream.slots(); }))
      return false;
  }
  return true;
}

}  // namespace

std::string_view to_name(PlanSource source) noexcept {
  return source == PlanSource::used ? "used" : source == PlanSource::written ? "written" : "none";
}

std::string subject_of_plan(const PlanTask& task) {
  const DenseOptions& options = task.options;
  std::string lines = line("graph", fmt::format("{:016x}", task.graph.checksum()));
  lines += line("workers", task.workers());
  lines += line("ownership", options.ownership);
  lines += line("layout", options.choose_layout                   ? "auto"
                          : options.layout == plan::Layout::given ? "given"
                                                                  : "degree");
  lines += line("strategy", options.choose_strategy ? "auto" : plan::to_name(options.strategy));
  lines += line("wire", plan::to_name(options.encoding));
  lines += line("weighted", options.weighted);
  if (!options.devices.empty()) lines += line("edges on disks", options.devices.size());
  if (options.choose_strategy || options.ownership.starts_with("auto")) {
    lines += line("transport", task.process.link().name());
    lines += line("compute rate", options.assumed_compute_rate);
    lines +=
        line("link rate", fmt::format("{} ({} bit/s)", options.assumed_link_rate, options.link_bits_per_s));
  }
  return lines;
}

PlanCache::PlanCache(const PlanTask& task)
    : task_(task),
      for_each_([&task](std::uint64_t count, const std::function<void(int, std::uint64_t)>& work) {
        task.process.pool().for_each(count, work);
      }),
      path_(std::filesystem::path(task.options.plan_cache) /
            (task.options.devices.empty() ? task.cache_name("plan") : edges_name(task))),
      key_(to_key(task)) {}

CachedPlan PlanCache::read() const {
  auto file = std::make_unique<ArrayFileReader>(path_, key_, for_each_);
  const bool on_disks = !task_.options.devices.empty();
  Choices choices;
  choices_section(*file, choices);
  check_choices(choices, task_.options, path_);
  std::uint64_t matching = 0;
  file->value(matching);
  auto ownership =
      ranges_ && partition::Ownership::is_name_of_ranges(choices.ownership)
          ? *ranges_
          : partition::Ownership::create(choices.ownership, task_.graph.offsets(), task_.bootstrap.size());
  plan::OwnedVertices owned;
  plan::OwnedVertices::arrays(owned, *file);
  if (!owned.fit(ownership, task_.bootstrap.rank(), for_each_)) file->fail("the file has other vertices");
  std::vector<std::uint32_t> bounds;
  (*file)(bounds);
  if (!can_be_columns(bounds, owned.count())) file->fail("its columns are faulty");
  EdgeTiles tiles;
  TileSegments segments;
  if (on_disks)
    segments_section(*file, segments);
  else
    tiles_section(*file, tiles.own, bounds);
  std::vector<tiles::Tiles> mirrored(task_.processes());
  for (auto& one : mirrored)
    tiles_section(*file, one, std::span(bounds).first(mirrored_columns(choices, bounds, owned.count()) + 1));
  const int lists = choices.mirrors() ? 2 : plan::streams_per_peer(choices.strategy, task_.workers());
  const auto streams = static_cast<std::size_t>(lists) * mirrored.size();
  std::vector<exchange::IncomingStream> incoming(streams);
  std::vector<exchange::OutgoingStream> outgoing(streams);
  for (std::size_t s = 1; s < streams; s += 2) outgoing[s].mirrors = choices.mirrors();
  streams_section(*file, incoming, outgoing);
  if (on_disks) {
    if (segments.sizes.size() + 1 != bounds.size()) refuse(path_, "it has other columns");
    tiles = open_disk_tiles(task_, std::move(segments), bounds);
  }
  tiles.mirrored = std::move(mirrored);
  tiles.file = std::move(file);
  CachedPlan cached{std::move(choices), matching,         std::move(ownership), std::move(owned),
                    std::move(bounds),  std::move(tiles), std::move(incoming),  std::move(outgoing)};
  check_plan(cached, task_, path_);
  return cached;
}

/// Returns nothing, and sets a note, unless the files of all processes can be used and fit each other.
std::optional<CachedPlan> PlanCache::read_all() {
  std::optional<CachedPlan> cached;
  std::string mine(1, '-');  // or '+' and the generation; then the reason why there is none
  std::vector<std::string> slots(task_.processes());  // slots, [peer]
  if (std::error_code none; std::filesystem::exists(path_, none)) {
    try {
      cached = read();
      mine =
          fmt::format("+{:x} {}", cached->tiles.file->generation(), plan::to_name(cached->choices.strategy));
      for (std::size_t s = 0; s < cached->outgoing.size(); ++s)
        slots[s / (cached->outgoing.size() / slots.size())] +=
            launch::pack(std::vector{cached->outgoing[s].slots});
    } catch (const Error& error) {
      mine += fmt::format("plan cache not used: {}", error.what());
    }
  }
  slots = task_.bootstrap.alltoall(slots);
  if (cached && !matches(cached->incoming, slots))
    mine = fmt::format("-plan cache not used: {}: the plan of another process does not match", path_);
  const auto all = task_.bootstrap.allgather(mine);
  const auto without = std::ranges::find_if(all, [](const auto& one) { return !one.starts_with('+'); });
  if (without != all.end())
    use_.note = without->substr(1);
  else if (std::ranges::adjacent_find(all, std::ranges::not_equal_to()) != all.end())
    use_.note = fmt::format("plan cache not used: {}: the files are of several runs", path_);
  else
    use_.source = PlanSource::used;
  if (use_.source != PlanSource::used) cached.reset();
  return cached;
}

/// Tiles stay mapped: iterations are as fast as from huge pages, since tiles are read front to back (Zen 4,
/// 20 iterations of 67 M edges: within 1 %). Only where there are several nodes they are copied, because
/// nobody can say on which one a file's pages lie.
std::optional<ConnectedPlan> PlanCache::take() {
  auto start = Clock::now();
  if (task_.options.ownership != "hash")  // hash needs no ranges
    ranges_ = partition::make_ownership(task_.bootstrap, task_.graph, "ranges");
  auto cached = read_all();
  ranges_.reset();
  if (!cached) return std::nullopt;
  // A weighted run adds weights up again, and its errors name edges.
  const bool weighted = task_.options.weighted;
  partition::OwnedRows rows =
      partition::owns_edges(cached->choices.ownership)
          ? partition::OwnedRows(task_.graph)
          : partition::load_rows(task_.bootstrap, task_.process, task_.graph, cached->ownership,
                                 {.targets = weighted, .weights = weighted, .reading = task_.options.rows});
  if (rows.in_file())
    for_each_rows(task_, partition::span_of_owned(cached->ownership, task_.rank()), for_each_,
                  [&](std::uint64_t first, std::uint64_t last) {
                    if (weighted)
                      task_.graph.verify_rows(first, last);
                    else
                      task_.graph.verify_offsets(first, last);
                  });
  auto& pool = task_.process.pool();
  EdgeTiles& tiles = cached->tiles;
  std::vector<std::uint64_t> edges;
  for (std::size_t c = 0; c < tiles.own.columns(); ++c) edges.push_back(tiles.work(c).edges);
  auto columns = spread_columns(task_, std::move(cached->bounds), cached->owned.count(), edges);
  if (task_.machine.nodes.size() > 1 && !tiles.disks) {
    tiles::move_to_nodes(tiles.own, pool, columns.memory_nodes);
    for (auto& one : tiles.mirrored) tiles::move_to_nodes(one, pool, columns.memory_nodes);
  }
  const double seconds_load = seconds_since(start);
  start = Clock::now();
  exchange::Exchange exchange(task_.bootstrap, task_.process.link(), std::move(cached->incoming),
                              std::move(cached->outgoing), cached->choices.strategy, task_.options.encoding,
                              task_.workers());
  return ConnectedPlan{std::move(cached->choices), cached->matching,    std::move(cached->ownership),
                       std::move(cached->owned),   std::move(rows),     std::move(columns),
                       std::move(cached->tiles),   std::move(exchange), seconds_load,
                       seconds_since(start)};
}

void PlanCache::store(const ConnectedPlan& plan) {
  if (use_.source == PlanSource::used) return;
  const DiskTiles* const disks = plan.tiles.disks.get();
  const auto generation =
      disks != nullptr ? disks->where().generation : launch::new_generation(task_.bootstrap);
  std::string fault;
  std::error_code ignored;  // a failing write gives a better message
  std::filesystem::create_directories(task_.options.plan_cache, ignored);
  try {
    ArrayFileWriter file;
    choices_section(file, plan.choices);
    file.value(plan.matching);
    plan::OwnedVertices::arrays(plan.owned, file);
    file(plan.columns.bounds);
    if (disks != nullptr)
      segments_section(file, disks->where());
    else
      tiles_section(file, plan.tiles.own);
    for (const auto& one : plan.tiles.mirrored) tiles_section(file, one);
    streams_section(file, plan.exchange.incoming(), plan.exchange.outgoing());
    file.write(path_, key_, generation, for_each_);
  } catch (const Error& error) {
    fault = fmt::format("plan cache not written: {}", error.what());
  }
  const auto all = task_.bootstrap.allgather(fault);
  const auto failed = std::ranges::find_if(all, [](const auto& one) { return !one.empty(); });
  if (failed == all.end())
    use_.source = PlanSource::written;
  else
    use_.note += (use_.note.empty() ? "" : "; ") + *failed;
}

}  // namespace edgewire::job
