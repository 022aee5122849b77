#include "job/plan_cache.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "error.h"
#include "graph/checksum.h"
#include "graph/mapped_file.h"
#include "launch/agreement.h"
#include "launch/packing.h"
#include "plan/plan_file.h"
#include "seconds.h"

namespace edgewire::job {

namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t content_checksum(const std::string& path) {
  const graph::MappedFile file(path);
  return graph::checksum(file.data(), file.bytes());
}

/// All that the plan depends on, a line each.
std::string to_key(const launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                   const std::string& transport, const DenseOptions& options, const tiles::TileSizes& sizes) {
  std::string key;
  const auto line = [&key](const char* name, const auto& value) {
    key += fmt::format("{} {}\n", name, value);
  };
  line("program", EDGEWIRE_VERSION);
  line("tiles of", fmt::format("{} ({}) x {}, bundles of {}", sizes.strip_width, sizes.narrow_sources,
                               sizes.column_width, tiles::kBundle));
  line("graph", fmt::format("{:016x}", graph.checksum()));
  line("vertices", graph.vertices());
  line("edges", graph.edges());
  line("processes", bootstrap.size());
  line("rank", bootstrap.rank());
  line("workers", options.seat.workers);
  line("ownership", options.ownership);
  if (const auto path = plan::partition_file(options.ownership); !path.empty())
    line("partition file", fmt::format("{:016x}", content_checksum(path)));
  line("layout", options.choose_layout ? "auto" : options.layout == plan::Layout::given ? "given" : "degree");
  line("strategy", options.choose_strategy ? "auto" : plan::to_name(options.strategy));
  line("wire", plan::to_name(options.encoding));
  line("weighted", options.weighted);
  if (!options.devices.empty()) line("edges on disks", options.devices.size());
  if (options.choose_strategy || options.ownership.starts_with("auto")) {
    line("transport", transport);
    line("compute rate", options.assumed_compute_rate);
    line("link rate", fmt::format("{} ({} bit/s)", options.assumed_link_rate, options.link_bits_per_s));
  }
  return key;
}

void tiles_section(plan::PlanFileWriter& file, const tiles::Tiles& tiles, std::span<const std::uint32_t>) {
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

void tiles_section(plan::PlanFileReader& file, tiles::Tiles& tiles, std::span<const std::uint32_t> bounds) {
  std::vector<tiles::Tiles::Size> sizes;
  file(sizes);
  const auto words = file.map<std::uint16_t>();
  std::uint64_t taken = 0;
  for (const auto& size : sizes) taken += std::min<std::uint64_t>(size.words, words.size() - taken + 1);
  if (taken != words.size() || (!sizes.empty() && sizes.size() + 1 != bounds.size()))
    file.fail("faulty tiles");
  tiles = tiles::Tiles(bounds, sizes, words);
}

void segments_section(plan::PlanFileWriter& file, const TileSegments& where) {
  file.copy(where.sizes);
  file.copy(where.ends);
  file.copy(where.segments);
}

void segments_section(plan::PlanFileReader& file, TileSegments& where) {
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

}  // namespace

std::string_view to_name(PlanSource source) noexcept {
  return source == PlanSource::used ? "used" : source == PlanSource::written ? "written" : "none";
}

PlanCache::PlanCache(DenseJob& job, const DenseOptions& options, const topology::Machine& machine)
    : job_(job),
      options_(options),
      machine_(machine),
      for_each_([&job](std::uint64_t count, const std::function<void(int, std::uint64_t)>& work) {
        job.seat_.pool().for_each(count, work);
      }),
      path_(std::filesystem::path(options.plan_cache) /
            fmt::format("{}.plan-{}-of-{}", std::filesystem::path(job.graph_.path()).filename().string(),
                        job.bootstrap_.rank(), job.bootstrap_.size())),
      key_(to_key(job.bootstrap_, job.graph_, std::string(job.seat_.link().name()), options,
                  tile_sizes(options, machine))),
      partition_file_(plan::partition_file(options.ownership)) {}

/// All that is kept, in order, for writing and reading alike.
template <class File, class Incoming, class Outgoing>
void PlanCache::sections(File& file, Incoming& incoming, Outgoing& outgoing,
                         const std::function<void()>& columns_known) {
  file(job_.ownership_name_);
  file(job_.ownership_table_);
  file.value(job_.strategy_);
  file(job_.strategy_reason_);
  file.value(job_.layout_);
  file(job_.layout_reason_);
  file.value(job_.order_.order);
  file(job_.order_.reason);
  file.value(job_.matching_);
  job_.owned_->arrays(file);
  file(job_.column_bounds_);
  columns_known();
  const auto local = std::span(job_.column_bounds_).first(job_.local_columns() + 1);
  if (options_.devices.empty())
    tiles_section(file, job_.tiles_, job_.column_bounds_);
  else
    segments_section(file, segments_);
  for (tiles::Tiles& tiles : job_.mirror_tiles_) tiles_section(file, tiles, local);
  for (auto& stream : incoming) file(stream.targets);
  for (auto& stream : outgoing) {
    file.value(stream.slots);
    file.value(stream.first_destination);
    file(stream.indexes);
    file(stream.ids);
    file(stream.weights);
  }
}

/// Tiles stay mapped: iterations are as fast as from huge pages, since tiles are read front to back (Zen 4,
/// 20 iterations of 67 M edges: within 1 %), and nothing is copied. Only where there are several nodes they
/// are copied, because nobody can say on which one a file's pages lie.
void PlanCache::spread() {
  std::vector<std::uint64_t> edges;
  for (std::size_t c = 0; c < job_.tiles_.columns(); ++c) edges.push_back(job_.tiles_.edges(c));
  job_.spread_columns(machine_, edges);
  if (machine_.nodes.size() == 1 || job_.disk_tiles_) return;
  job_.tiles_.move_to(job_.seat_.pool(), job_.memory_nodes_);
  for (auto& tiles : job_.mirror_tiles_) tiles.move_to(job_.seat_.pool(), job_.memory_nodes_);
}

/// Returns the generation of what it read into the job.
std::uint64_t PlanCache::read() {
  job_.plan_file_ = std::make_shared<plan::PlanFileReader>(path_, key_, for_each_);
  plan::PlanFileReader& file = *job_.plan_file_;
  job_.owned_ = std::make_unique<plan::OwnedVertices>();
  sections(file, incoming_, outgoing_, [&] {
    check_choices();
    const int rank = job_.bootstrap_.rank(), size = job_.bootstrap_.size();
    job_.ownership_ = plan::Ownership::create(job_.ownership_name_, job_.graph_.offsets(), size);
    if (!job_.owned_->fit(*job_.ownership_, rank, for_each_)) file.fail("other vertices");
    if (!can_be_columns(job_.column_bounds_, job_.owned_->count())) file.fail("faulty columns");
    job_.mirror_tiles_.resize(static_cast<std::size_t>(size));
    const int streams = size * plan::streams_per_peer(job_.strategy_, options_.seat.workers);
    incoming_.resize(static_cast<std::size_t>(streams));
    outgoing_.resize(static_cast<std::size_t>(streams));
    for (std::size_t s = 1; s < outgoing_.size(); s += 2)
      outgoing_[s].mirrors = job_.strategy_ == plan::Strategy::cover;
  });
  if (!options_.devices.empty()) {
    if (segments_.sizes.size() + 1 != job_.column_bounds_.size()) refuse("it has other columns");
    job_.open_disk_tiles(options_, std::move(segments_));
  }
  check();
  spread();
  return file.generation();
}

/// slots: [peer], how many it sends here in each of its streams; empty when its file cannot be used.
bool PlanCache::matches(const std::vector<std::string>& slots) const {
  const std::size_t lists = incoming_.size() / slots.size();
  for (std::size_t p = 0; p < slots.size(); ++p) {
    if (slots[p].empty()) continue;
    const auto sent = launch::unpack<std::uint32_t>(slots[p], p);
    const auto here = std::span(incoming_).subspan(p * lists, lists);
    if (!std::ranges::equal(sent, here, {}, {}, [](const auto& stream) { return stream.targets.size(); }))
      return false;
  }
  return true;
}

/// Forgets what was read.
void PlanCache::drop() {
  job_.ownership_.reset();
  job_.ownership_name_.clear();
  job_.ownership_table_.clear();
  job_.strategy_reason_.clear();
  job_.layout_reason_.clear();
  job_.order_ = {};
  job_.matching_ = 0;
  job_.owned_.reset();
  job_.column_bounds_.clear();
  for (auto* nodes : {&job_.column_nodes_, &job_.memory_nodes_, &job_.worker_nodes_, &job_.all_nodes_,
                      &job_.stretch_nodes_})
    nodes->clear();
  job_.stretch_ends_.clear();
  job_.tiles_ = {};
  job_.disk_tiles_.reset();
  job_.mirror_tiles_.clear();
  incoming_.clear();
  outgoing_.clear();
  job_.plan_file_.reset();
}

bool PlanCache::take() {
  auto start = Clock::now();
  std::string mine(1, '-');  // or '+' and the generation; then why there is none
  std::vector<std::string> slots(static_cast<std::size_t>(job_.bootstrap_.size()));  // [peer]
  if (std::error_code none; std::filesystem::exists(path_, none)) {
    try {
      mine = fmt::format("+{:x} {}", read(), plan::to_name(job_.strategy_));
      for (std::size_t s = 0; s < outgoing_.size(); ++s)
        slots[s / (outgoing_.size() / slots.size())] += launch::pack(std::vector{outgoing_[s].slots});
    } catch (const Error& error) {
      mine += fmt::format("plan cache not used: {}", error.what());
    }
  }
  slots = job_.bootstrap_.alltoall(slots);
  if (mine.starts_with('+') && !matches(slots))
    mine = fmt::format("-plan cache not used: {}: the plan of another process does not match", path_);
  const auto all = job_.bootstrap_.allgather(mine);
  const auto without = std::ranges::find_if(all, [](const auto& one) { return !one.starts_with('+'); });
  if (without != all.end())
    job_.plan_cache_note_ = without->substr(1);
  else if (std::ranges::adjacent_find(all, std::ranges::not_equal_to()) != all.end())
    job_.plan_cache_note_ = fmt::format("plan cache not used: {}: the files are of several runs", path_);
  else
    job_.plan_source_ = PlanSource::used;
  if (job_.plan_source_ != PlanSource::used) {
    drop();
    return false;
  }
  constexpr std::uint64_t kPiece = 1 << 20;
  const std::uint64_t vertices = job_.graph_.vertices();
  for_each_((vertices + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
    const std::uint64_t end = std::min(vertices, (piece + 1) * kPiece);
    if (options_.weighted)
      job_.graph_.verify_rows(piece * kPiece, end);  // their weights are added up again
    else
      job_.graph_.verify_offsets(piece * kPiece, end);
  });
  job_.seconds_load = seconds_since(start);
  start = Clock::now();
  job_.exchange_ = std::make_unique<exchange::Exchange>(
      job_.bootstrap_, job_.seat_.link(), std::move(incoming_), std::move(outgoing_), job_.strategy_,
      options_.encoding, options_.seat.workers);
  job_.deal_columns();
  job_.count_traffic();
  job_.seconds_plan = seconds_since(start);
  return true;
}

void PlanCache::keep() {
  const auto start = Clock::now();
  if (job_.disk_tiles_) segments_ = job_.disk_tiles_->where();
  const auto generation = job_.disk_tiles_ ? segments_.generation : launch::new_generation(job_.bootstrap_);
  std::string fault;
  std::error_code ignored;  // writing says it better
  std::filesystem::create_directories(options_.plan_cache, ignored);
  try {
    plan::PlanFileWriter file;
    sections(file, job_.exchange_->incoming(), job_.exchange_->outgoing(), [] {});
    file.write(path_, key_, generation, for_each_);
  } catch (const Error& error) {
    fault = fmt::format("plan cache not written: {}", error.what());
  }
  const auto all = job_.bootstrap_.allgather(fault);
  const auto failed = std::ranges::find_if(all, [](const auto& one) { return !one.empty(); });
  if (failed == all.end())
    job_.plan_source_ = PlanSource::written;
  else
    job_.plan_cache_note_ += (job_.plan_cache_note_.empty() ? "" : "; ") + *failed;
  job_.seconds_plan += seconds_since(start);
}

}  // namespace edgewire::job
