#include "shuffle/load_job.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "channel/record_stream.h"
#include "edgewire/graph.h"
#include "graph/file/graph_parts.h"
#include "launch/agreement.h"
#include "launch/packing.h"
#include "options/files.h"
#include "options/kernels.h"
#include "process/barrier.h"
#include "process/job_folder.h"
#include "shuffle/edge_record.h"

namespace edgewire::shuffle {

using graph::GraphShape;

namespace {

constexpr std::uint64_t kProgramBytes = std::uint64_t{40} << 20;  // bytes of the program and its libraries
constexpr std::uint64_t kWorkerBytes = std::uint64_t{6} << 20;    // of text and its edges, later of blocks
constexpr std::uint64_t kAllIds = std::uint64_t{graph::kMaxVertices} + 1;  // ids that a record can hold
constexpr std::uint32_t kPartitionsOfWorker = 4;

/// Returns the limit of ids: a bit for each id takes a quarter of the memory at most.
std::uint64_t id_limit(std::uint64_t memory) { return std::min(kAllIds, memory / 4 * 8); }

const LoadOptions& checked(const LoadOptions& options) {
  process::check(options.process);
  if (options.temp.empty()) throw UsageError("temp: it must name a folder for sorted runs");
  return options;
}

std::uint32_t load_partitions(int workers, int processes) {
  return static_cast<std::uint32_t>(processes * workers) * kPartitionsOfWorker;
}

}  // namespace

RecordShape edge_record(bool weighted) {
  const std::size_t bytes = weighted ? RecordShape::kWeightedBytes : RecordShape::kPairBytes;
  return {bytes, 0, bytes};
}

MemoryNeeds load_needs(const RecordShape& record, int workers, int processes, std::uint64_t memory_bytes,
                       bool renumbers) {
  MemoryNeeds needs{record, workers, load_partitions(workers, processes), 0, 0, 0};
  needs.ring_bytes = channel::RecordStream::memory_bytes(workers, processes, record.bytes);
  needs.other_bytes = kProgramBytes + static_cast<std::uint64_t>(workers) * kWorkerBytes;
  if (renumbers) needs.other_bytes += IdBits::memory_bytes(id_limit(memory_bytes));
  return needs;
}

LoadJob::LoadJob(launch::Bootstrap& bootstrap, const LoadOptions& options)
    : bootstrap_(bootstrap),
      options_(checked(options)),
      process_(bootstrap, options.process),
      workers_(static_cast<std::size_t>(options.process.workers)) {
  const auto& nodes = bootstrap.nodes();
  if (!options.parts && std::ranges::any_of(nodes, [&](int node) { return node != nodes[0]; }))
    throw UsageError(
        fmt::format("convert writes one file, so all its processes must be on one host (-p); {} writes a "
                    "file for each process",
                    opt::parts));
  if (!options.parts) return;
  folder_ = process::make_folder(bootstrap, options_.output);
  // Another process that refuses to run may have removed the folder again.
  if (graph::is_folder(options_.output) && !graph::part_names(options_.output).empty())
    throw Error(fmt::format(
        "{}: it holds parts of an earlier conversion: remove them, or name another folder", options_.output));
}

void LoadJob::start(const GraphShape& shape, std::span<const std::uint64_t> sources) {
  shape_ = shape;
  if (shape.options.keep_ids && shape.numbering == GraphShape::Numbering::dense)
    shape_.numbering = GraphShape::Numbering::given;
  const RecordShape record = edge_record(shape.options.weighted);
  partitions_ = load_partitions(options_.process.workers, bootstrap_.size());
  launch::check_agreement(bootstrap_,
                          {{"the numbering", std::to_string(static_cast<int>(shape_.numbering))},
                           {"the number of vertices", std::to_string(shape.vertices)},
                           {"the size of a record", fmt::format("{} bytes", record.bytes)},
                           {"the number of workers", std::to_string(options_.process.workers)},
                           {"the transport", std::string(process_.link().name())},
                           {"what is written", options_.parts ? "parts" : "a file"},
                           {"the check of integrity", options_.process.integrity ? "yes" : "no"}});
  const bool renumbers = may_compact() || shape_.numbering == GraphShape::Numbering::dense;
  const auto needs =
      load_needs(record, options_.process.workers, bootstrap_.size(), options_.memory_bytes, renumbers);
  if (shape_.numbering == GraphShape::Numbering::dense) ids_.emplace(id_limit(options_.memory_bytes));
  shuffle_.emplace(
      bootstrap_, process_,
      ShuffleOptions{record, partitions_, options_.temp, plan_memory(needs, options_.memory_bytes)});
  // The least record of a row, so that no row is cut.
  std::vector<std::byte> sample(sources.size() * record.stride());
  for (std::size_t i = 0; i < sources.size(); ++i)
    store_big_endian(&sample[i * record.stride()], static_cast<PlainId>(std::min(sources[i], kAllIds)));
  shuffle_->choose_splitters(sample);
  if (options_.started) options_.started();
  readers_.emplace([this](const std::function<void(int)>& work) { process_.pool().run(work); });
}

std::uint64_t LoadJob::edges_read() const noexcept {
  std::uint64_t edges = 0;
  for (const Worker& worker : workers_) edges += worker.read;
  return edges;
}

std::uint64_t LoadJob::edges_written() const noexcept {
  return edge_begins_[shuffle_->last_partition()] - edge_begins_[shuffle_->first_partition()];
}

/// Throws Error where a bit for each id up to `largest` takes too much memory.
void LoadJob::check_bits(std::uint64_t largest) const {
  if (largest < id_limit(options_.memory_bytes)) return;
  if (largest >= kAllIds)
    throw Error(fmt::format(
        "{}: vertex id {} is larger than the {} that are converted in little memory: leave {} and -p out",
        shape_.name, largest, kAllIds - 1, opt::memory));
  throw Error(
      fmt::format("{}: vertex id {} needs at least {}: a bit for each id takes a quarter of it, unless {} "
                  "makes all ids vertices",
                  shape_.name, largest, opt::memory(fmt::format("{}M", (largest + 1) / 2 / (1 << 20) + 1)),
                  opt::keep_ids));
}

void LoadJob::take_ids(Worker& worker, std::span<const std::uint64_t> ids) {
  if (ids.empty()) return;
  const std::uint64_t largest = *std::ranges::max_element(ids);
  if (!ids_ && largest >= graph::kMaxVertices)
    throw Error(fmt::format("{}: vertex id {} is larger than the {} that is supported with {}{}", shape_.name,
                            largest, graph::kMaxVertices - 1, opt::keep_ids, graph::kMoreVertices));
  if (ids_) check_bits(largest);
  worker.end_id = std::max(worker.end_id, largest + 1);
  if (ids_)
    for (const std::uint64_t id : ids) ids_->set(id);
}

void LoadJob::add(int worker, std::span<const std::uint64_t> ids, graph::Weights weights) {
  Worker& mine = workers_[static_cast<std::size_t>(worker)];
  if (mine.parsing) mine.parsing->tell();
  take_ids(mine, ids);
  mine.read += ids.size() / 2;
  mine.weights.add(weights);
  const bool both_ways = shape_.options.undirected;
  for (std::size_t i = 0; i < ids.size() / 2; ++i) {
    const std::uint64_t source = ids[2 * i], target = ids[2 * i + 1];
    const auto weight = weights.empty() ? graph::WeightCode() : graph::weight_code(weights.at(i));
    put(worker, source, target, weight);
    if (both_ways && source != target) put(worker, target, source, weight);
  }
  mine.parsing.emplace(process_.pool().observer(), worker);
}

void LoadJob::put(int worker, std::uint64_t source, std::uint64_t target, graph::WeightCode weight) {
  ++workers_[static_cast<std::size_t>(worker)].added;
  const auto record = store({static_cast<PlainId>(source), static_cast<PlainId>(target), weight});
  shuffle_->add(worker, record.data());
}

void LoadJob::add_vertices(int worker, std::span<const std::uint64_t> ids) {
  take_ids(workers_[static_cast<std::size_t>(worker)], ids);
}

/// Ends reading. Other processes may still send, and would wait for one that takes nothing.
void LoadJob::end_reading() {
  if (!std::exchange(reading_, false)) return;
  readers_.reset();
  process_.pool().run([&](int lane) { shuffle_->finish(lane); });
  shuffle_->settle();
  if (shuffle_->stream() != nullptr) bytes_sent_ = shuffle_->stream()->bytes_sent();
  end_step(kDistribute);
}

std::uint64_t LoadJob::sum(std::uint64_t mine) {
  end_reading();
  return launch::allreduce(bootstrap_, mine, std::plus<>());
}

std::uint64_t LoadJob::least(std::uint64_t mine) {
  return launch::allreduce(bootstrap_, mine, std::ranges::min);
}

/// Tells all others the ids that occur here: records of a place and 32 bits.
void LoadJob::exchange_ids() {
  channel::RecordStream* const stream = shuffle_->stream();
  if (stream == nullptr) return;
  const auto take = [&](int, std::span<const std::byte> bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(stream->record_bytes()))
      ids_->add_half(load_big_endian(bytes.data()),
                     static_cast<std::uint32_t>(load_big_endian(&bytes[sizeof(PlainId)])));
  };
  std::array<std::byte, EdgeRecord::kLongest> record{};
  for (std::uint64_t half = 0; half * 32 < end_id_; ++half) {
    const std::uint32_t bits = ids_->half(half);
    if (bits == 0) continue;
    store_big_endian(record.data(), static_cast<PlainId>(half));
    store_big_endian(&record[sizeof(PlainId)], bits);
    for (int peer = 0; peer < size(); ++peer)
      if (peer != rank()) stream->send(0, peer, record.data(), stream->record_bytes(), take);
  }
  stream->finish(0, take);
  process::barrier(bootstrap_, process_.link());  // all sent records have left this process
}

/// Finds the ids that occur, which are in the records, after ids turned out to be sparse.
void LoadJob::find_ids(const Progress& progress) {
  check_bits(end_id_ - 1);
  ids_.emplace(end_id_);
  each_partition("numbering vertices", progress, [&](int lane, std::uint32_t partition) {
    shuffle_->merge_partition(lane, partition, [&](const std::byte* record) {
      ids_->set(load_big_endian(record));
      ids_->set(load_big_endian(record + sizeof(PlainId)));
    });
  });
}

void LoadJob::number_vertices(const Progress& progress) {
  std::uint64_t added = 0, read = 0;
  for (const Worker& worker : workers_) {
    end_id_ = std::max(end_id_, worker.end_id);
    added += worker.added;
    read += worker.read;
  }
  added_ = sum(added);
  const std::uint64_t edges = sum(read);
  graph::require_edges(shape_.options, edges);
  end_id_ = launch::allreduce(bootstrap_, end_id_, std::ranges::max);
  vertices_ = shape_.numbering == GraphShape::Numbering::counted ? shape_.vertices : end_id_;
  compacted_ = may_compact() && end_id_ > 0 && graph::are_sparse(end_id_ - 1, edges);
  if (compacted_) find_ids(progress);
  if (!ids_) return;
  exchange_ids();
  ids_->count(end_id_);
  renumbered_ = ids_->size() < end_id_;
  vertices_ = ids_->size();
}

void LoadJob::each_partition(const char* step, const Progress& progress,
                             const std::function<void(int, std::uint32_t)>& work) {
  const std::uint32_t first = shuffle_->first_partition(), count = shuffle_->last_partition() - first;
  process_.pool().for_each(count, [&](int lane, std::uint64_t part) {
    work(lane, first + static_cast<std::uint32_t>(part));
    if (lane == 0 && rank() == 0 && progress) progress({step, part + 1, count, "partitions"});
  });
}

graph::BuildSummary LoadJob::write(std::uint32_t flags, const Progress& progress) {
  end_reading();
  number_vertices(progress);
  count_edges(progress);
  std::vector<graph::WeightFacts> weights;
  for (const Worker& worker : workers_) weights.push_back(worker.weights);
  for (const auto& process : launch::allgather(bootstrap_, weights))
    for (const auto& one : process) weights_.add(one);
  end_step(kNumber);
  open_output(flags);
  each_partition("merging edges", progress,
                 [&](int lane, std::uint32_t partition) { write_partition(lane, partition); });
  end_step(kMerge);
  const auto summary = finish();
  end_step(kFinish);
  return summary;
}

}  // namespace edgewire::shuffle
