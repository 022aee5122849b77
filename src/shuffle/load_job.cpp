#include "shuffle/load_job.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "error.h"
#include "exchange/exchange.h"
#include "exchange/record_stream.h"
#include "graph/checksum.h"
#include "graph/edge_list.h"
#include "graph/mapped_file.h"
#include "graph/weight_key.h"
#include "launch/agreement.h"
#include "launch/packing.h"

namespace edgewire::shuffle {

using graph::GraphShape;

namespace {

constexpr std::uint64_t kProgramBytes = std::uint64_t{40} << 20;  // of the program and its libraries
constexpr std::uint64_t kWorkerBytes = std::uint64_t{6}
                                       << 20;  // text and its edges; later blocks of sections
constexpr std::uint64_t kAllIds = std::uint64_t{graph::kMaxVertices} + 1;  // that a record can hold
constexpr std::uint32_t kPartitionsOfWorker = 4;

/// A bit for each id takes a quarter of the memory at most.
std::uint64_t id_limit(std::uint64_t memory) { return std::min(kAllIds, memory / 4 * 8); }

void store_big_endian(std::byte* to, std::uint32_t number) {
  number = __builtin_bswap32(number);
  std::memcpy(to, &number, sizeof number);
}

std::uint32_t load_big_endian(const std::byte* from) {
  std::uint32_t number = 0;
  std::memcpy(&number, from, sizeof number);
  return __builtin_bswap32(number);
}

const LoadOptions& checked(const LoadOptions& options) {
  exchange::check(options.seat);
  if (options.temp.empty()) throw UsageError("temp: it names no folder for sorted runs");
  return options;
}

std::uint32_t load_partitions(int workers, int processes) {
  return static_cast<std::uint32_t>(processes * workers) * kPartitionsOfWorker;
}

}  // namespace

RecordShape edge_record(bool weighted) {
  const std::size_t bytes = weighted ? 12 : 8;
  return {bytes, 0, bytes};
}

MemoryNeeds load_needs(const RecordShape& record, int workers, int processes, std::uint64_t memory_bytes,
                       bool renumbers) {
  MemoryNeeds needs{record, workers, load_partitions(workers, processes), 0, 0, 0};
  needs.ring_bytes = exchange::RecordStream::memory_bytes(workers, processes, record.bytes);
  needs.other_bytes = kProgramBytes + static_cast<std::uint64_t>(workers) * kWorkerBytes;
  if (renumbers) needs.other_bytes += IdBits::memory_bytes(id_limit(memory_bytes));
  return needs;
}

LoadJob::LoadJob(launch::Bootstrap& bootstrap, const LoadOptions& options)
    : bootstrap_(bootstrap),
      options_(checked(options)),
      seat_(bootstrap, options.seat),
      workers_(static_cast<std::size_t>(options.seat.workers)) {
  const auto& nodes = bootstrap.nodes();
  if (std::ranges::any_of(nodes, [&](int node) { return node != nodes[0]; }))
    throw UsageError("convert writes one file: all its processes must be on one host (-p)");
}

void LoadJob::start(const GraphShape& shape, std::span<const std::uint64_t> sources) {
  shape_ = shape;
  if (shape.options.keep_ids && shape.numbering == GraphShape::Numbering::dense)
    shape_.numbering = GraphShape::Numbering::given;
  const RecordShape record = edge_record(shape.options.weighted);
  partitions_ = load_partitions(options_.seat.workers, bootstrap_.size());
  launch::check_agreement(bootstrap_, {{"the numbering", std::to_string(static_cast<int>(shape_.numbering))},
                                       {"the number of vertices", std::to_string(shape.vertices)},
                                       {"the size of a record", fmt::format("{} bytes", record.bytes)},
                                       {"the number of workers", std::to_string(options_.seat.workers)},
                                       {"the transport", std::string(seat_.link().name())},
                                       {"the check of integrity", options_.seat.integrity ? "yes" : "no"}});
  const bool renumbers = may_compact() || shape_.numbering == GraphShape::Numbering::dense;
  const auto needs =
      load_needs(record, options_.seat.workers, bootstrap_.size(), options_.memory_bytes, renumbers);
  if (shape_.numbering == GraphShape::Numbering::dense) ids_.emplace(id_limit(options_.memory_bytes));
  shuffle_.emplace(
      bootstrap_, seat_,
      ShuffleOptions{record, partitions_, options_.temp, plan_memory(needs, options_.memory_bytes)});
  std::vector<std::byte> sample(sources.size() * record.stride());  // least records of rows: none is cut
  for (std::size_t i = 0; i < sources.size(); ++i)
    store_big_endian(&sample[i * record.stride()], static_cast<std::uint32_t>(std::min(sources[i], kAllIds)));
  shuffle_->choose_splitters(sample);
}

/// Throws Error where a bit for each id up to `largest` takes too much memory.
void LoadJob::check_bits(std::uint64_t largest) const {
  if (largest < id_limit(options_.memory_bytes)) return;
  if (largest >= kAllIds)
    throw Error(
        fmt::format("{}: vertex id {} is larger than the {} that are converted in little memory: leave "
                    "--memory and -p out",
                    shape_.name, largest, kAllIds - 1));
  throw Error(
      fmt::format("{}: vertex id {} needs --memory {}M at least: a bit for each id takes a quarter "
                  "of it, unless --keep-ids makes all ids vertices",
                  shape_.name, largest, (largest + 1) / 2 / (1 << 20) + 1));
}

void LoadJob::take_ids(Worker& worker, std::span<const std::uint64_t> ids) {
  if (ids.empty()) return;
  const std::uint64_t largest = *std::ranges::max_element(ids);
  if (!ids_ && largest >= graph::kMaxVertices)
    throw Error(fmt::format("{}: vertex id {} is larger than the {} that is supported with --keep-ids",
                            shape_.name, largest, graph::kMaxVertices - 1));
  if (ids_) check_bits(largest);
  worker.end_id = std::max(worker.end_id, largest + 1);
  if (ids_)
    for (const std::uint64_t id : ids) ids_->set(id);
}

void LoadJob::add(int worker, std::span<const std::uint64_t> ids, std::span<const float> weights) {
  Worker& mine = workers_[static_cast<std::size_t>(worker)];
  take_ids(mine, ids);
  mine.read += ids.size() / 2;
  const bool both_ways = shape_.options.undirected;
  for (std::size_t i = 0; i < ids.size() / 2; ++i) {
    const std::uint64_t source = ids[2 * i], target = ids[2 * i + 1];
    const std::uint32_t weight = weights.empty() ? 0 : graph::weight_key(weights[i]);
    put(worker, source, target, weight);
    if (both_ways && source != target) put(worker, target, source, weight);
  }
}

void LoadJob::put(int worker, std::uint64_t source, std::uint64_t target, std::uint32_t weight) {
  ++workers_[static_cast<std::size_t>(worker)].added;
  std::array<std::byte, 12> record;
  store_big_endian(record.data(), static_cast<std::uint32_t>(source));
  store_big_endian(&record[4], static_cast<std::uint32_t>(target));
  store_big_endian(&record[8], weight);
  shuffle_->add(worker, record.data());
}

void LoadJob::add_vertices(int worker, std::span<const std::uint64_t> ids) {
  take_ids(workers_[static_cast<std::size_t>(worker)], ids);
}

/// Others may still send, and would wait for a process that takes nothing.
void LoadJob::end_reading() {
  if (!std::exchange(reading_, false)) return;
  seat_.pool().run([&](int lane) { shuffle_->finish(lane); });
  shuffle_->settle();
  if (shuffle_->stream() != nullptr) bytes_sent_ = shuffle_->stream()->bytes_sent();
}

std::uint64_t LoadJob::sum(std::uint64_t mine) {
  end_reading();
  std::uint64_t sum = 0;
  for (const auto& one : launch::allgather(bootstrap_, std::vector{mine})) sum += one[0];
  return sum;
}

/// Tells all others the ids that occur here: records of a place and 32 bits.
void LoadJob::exchange_ids() {
  exchange::RecordStream* const stream = shuffle_->stream();
  if (stream == nullptr) return;
  const auto take = [&](int, std::span<const std::byte> bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(stream->record_bytes()))
      ids_->add_half(load_big_endian(bytes.data()), load_big_endian(&bytes[4]));
  };
  std::array<std::byte, 12> record{};
  for (std::uint64_t half = 0; half * 32 < end_id_; ++half) {
    const std::uint32_t bits = ids_->half(half);
    if (bits == 0) continue;
    store_big_endian(record.data(), static_cast<std::uint32_t>(half));
    store_big_endian(&record[4], bits);
    for (int peer = 0; peer < size(); ++peer)
      if (peer != rank()) stream->send(0, peer, record.data(), stream->record_bytes(), take);
  }
  stream->finish(0, take);
}

/// Ids turned out to be sparse: finds those that occur, which are in the records.
void LoadJob::find_ids(const graph::Progress& progress) {
  check_bits(end_id_ - 1);
  ids_.emplace(end_id_);
  each_partition("numbering vertices", progress, [&](int lane, std::uint32_t partition) {
    shuffle_->merge_partition(lane, partition, [&](const std::byte* record) {
      ids_->set(load_big_endian(record));
      ids_->set(load_big_endian(record + 4));
    });
  });
}

void LoadJob::number_vertices(const graph::Progress& progress) {
  std::uint64_t added = 0, read = 0;
  for (const Worker& worker : workers_) {
    end_id_ = std::max(end_id_, worker.end_id);
    added += worker.added;
    read += worker.read;
  }
  added_ = sum(added);
  const std::uint64_t edges = sum(read);
  graph::require_edges(shape_.options, edges);
  for (const auto& one : launch::allgather(bootstrap_, std::vector{end_id_}))
    end_id_ = std::max(end_id_, one[0]);
  vertices_ = shape_.numbering == GraphShape::Numbering::counted ? shape_.vertices : end_id_;
  compacted_ = may_compact() && end_id_ > 0 && graph::are_sparse(end_id_ - 1, edges);
  if (compacted_) find_ids(progress);
  if (!ids_) return;
  exchange_ids();
  ids_->count(end_id_);
  renumbered_ = ids_->size() < end_id_;
  vertices_ = ids_->size();
}

void LoadJob::each_partition(std::string_view step, const graph::Progress& progress,
                             const std::function<void(int, std::uint32_t)>& work) {
  const std::uint32_t first = shuffle_->first_partition(), count = shuffle_->last_partition() - first;
  seat_.pool().for_each(count, [&](int lane, std::uint64_t part) {
    work(lane, first + static_cast<std::uint32_t>(part));
    if (lane == 0 && rank() == 0 && progress) progress(step, part + 1, count);
  });
}

/// The edges of a partition that stay, in order.
template <class Take>
void LoadJob::each_edge(int lane, std::uint32_t partition, const Take& take) {
  const bool simple = shape_.options.simple, weighted = shape_.options.weighted;
  Edge before{};
  bool any = false;
  shuffle_->merge_partition(lane, partition, [&](const std::byte* record) {
    const Edge edge{load_big_endian(record), load_big_endian(record + 4),
                    weighted ? load_big_endian(record + 8) : 0};
    const bool again = any && edge.source == before.source && edge.target == before.target;
    if (simple && (again || edge.source == edge.target)) return;
    before = edge;
    any = true;
    take(edge);
  });
}

/// Where nothing is dropped, the numbers of records are known.
void LoadJob::count_edges(const graph::Progress& progress) {
  const std::uint32_t first = shuffle_->first_partition();
  std::vector<std::uint64_t> mine(shuffle_->last_partition() - first);
  for (std::uint32_t p = 0; p < mine.size(); ++p) mine[p] = shuffle_->records(first + p);
  if (shape_.options.simple)
    each_partition("dropping duplicates", progress, [&](int lane, std::uint32_t partition) {
      std::uint64_t count = 0;
      each_edge(lane, partition, [&](const Edge&) { ++count; });
      mine[partition - first] = count;
    });
  edge_begins_.assign(1, 0);
  for (const auto& part : bootstrap_.allgather(launch::pack(mine)))
    for (const auto count : launch::unpack<std::uint64_t>(part, 0))
      edge_begins_.push_back(edge_begins_.back() + count);
  if (edge_begins_.back() > graph::kMaxEdges)
    throw Error(fmt::format("{} edges are more than the {} that are supported", edge_begins_.back(),
                            graph::kMaxEdges));
}

void LoadJob::open_output(std::uint32_t flags) {
  const graph::BuildOptions& options = shape_.options;
  const bool other_ids = renumbered_ || (shape_.first_id > 0 && vertices_ > 0);
  flags |= (options.weighted ? graph::kWeighted : 0U) | (options.simple ? graph::kSimple : 0U) |
           (options.undirected ? graph::kSymmetric : 0U) | (other_ids ? graph::kOriginalIds : 0U);
  if (vertices_ > graph::kMaxVertices)
    throw Error(
        fmt::format("{} vertices are more than the {} that are supported", vertices_, graph::kMaxVertices));
  sections_.path = options_.output;
  sections_.health = &bootstrap_.health();
  sections_.header = graph::lay_out(vertices_, edge_begins_.back(), flags);
  sections_.checksums.assign(graph::first_block(sections_.header, graph::kSections), 0);
  sections_.known.assign(sections_.checksums.size(), 0);
  std::string path;
  if (rank() == 0) {
    graph::note_size(options, vertices_, edge_begins_.back(), graph::file_bytes(sections_.header));
    output_ = options_.output.empty() ? graph::OutputFile::nameless(options_.temp)
                                      : std::make_unique<graph::OutputFile>(options_.output);
    output_->reserve(graph::file_bytes(sections_.header));
    sections_.descriptor = output_->descriptor();
    path = output_->path_for_others();
  }
  path = bootstrap_.allgather(path)[0];
  if (rank() == 0) return;
  shared_ = disk::File(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (shared_.descriptor() < 0)
    throw Error(fmt::format("{}: cannot write: {}", options_.output, reason(errno)));
  sections_.descriptor = shared_.descriptor();
}

std::uint64_t LoadJob::first_source(std::uint32_t partition) const {
  if (partition == 0) return 0;
  if (partition == partitions_) return std::max(end_id_, vertices_);
  return load_big_endian(shuffle_->splitters().splitter(partition - 1));
}

std::uint64_t LoadJob::first_vertex(std::uint32_t partition) const {
  return std::min(vertices_, vertex_of(first_source(partition)));
}

void LoadJob::write_partition(int lane, std::uint32_t partition) {
  const std::uint64_t last = first_vertex(partition + 1);
  std::uint64_t vertex = first_vertex(partition), edge = edge_begins_[partition];
  auto offsets = SectionWriter::at<std::uint64_t>(sections_, graph::kOffsets, vertex);
  auto targets = SectionWriter::at<std::uint32_t>(sections_, graph::kTargets, edge);
  auto weights = SectionWriter::at<float>(sections_, graph::kWeights, edge);
  each_edge(lane, partition, [&](const Edge& next) {
    for (const std::uint64_t source = vertex_of(next.source); vertex <= source; ++vertex) offsets.put(edge);
    targets.put(static_cast<std::uint32_t>(vertex_of(next.target)));
    if (shape_.options.weighted) weights.put(graph::weight_of(next.weight));
    ++edge;
  });
  for (; vertex < last; ++vertex) offsets.put(edge);
  if (partition + 1 == partitions_) offsets.put(edge);
  offsets.finish();
  targets.finish();
  weights.finish();
  if ((sections_.header.flags & graph::kOriginalIds) != 0) write_ids(partition);
}

void LoadJob::write_ids(std::uint32_t partition) {
  const std::uint64_t first = first_vertex(partition), last = first_vertex(partition + 1);
  auto ids = SectionWriter::at<std::uint64_t>(sections_, graph::kIds, first);
  if (renumbered_)
    ids_->visit(first_source(partition), first_source(partition + 1), [&](std::uint64_t id) { ids.put(id); });
  else
    for (std::uint64_t vertex = first; vertex < last; ++vertex) ids.put(vertex + shape_.first_id);
  ids.finish();
}

graph::BuildSummary LoadJob::finish_file() {
  graph::refuse_changed_files();  // that edges were read from
  struct Known {
    std::uint64_t block, checksum;
  };
  std::vector<Known> mine;
  for (std::uint64_t block = 0; block < sections_.known.size(); ++block)
    if (sections_.known[block] != 0) mine.push_back({block, sections_.checksums[block]});
  const auto parts = bootstrap_.gather(launch::pack(mine));
  graph::Header& header = sections_.header;
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (const Known& known : launch::unpack<Known>(parts[p], p)) {
      sections_.checksums[known.block] = known.checksum;
      sections_.known[known.block] = 1;
    }
  if (rank() == 0) {
    sections_.complete_checksums();
    output_->write(sections_.checksums.data(), header.checksums.bytes, header.checksums.offset);
    header.checksums_checksum = graph::checksum(sections_.checksums.data(), header.checksums.bytes);
    header.checksum = graph::header_checksum(header);
    output_->write(&header, sizeof header, 0);
    output_->commit();
  }
  bootstrap_.allgather("written");
  return {vertices_, header.edges, added_ - header.edges, graph::file_bytes(header), header.checksum,
          false,     compacted_};
}

graph::BuildSummary LoadJob::write(std::uint32_t flags, const graph::Progress& progress) {
  end_reading();
  number_vertices(progress);
  count_edges(progress);
  open_output(flags);
  each_partition("merging edges", progress,
                 [&](int lane, std::uint32_t partition) { write_partition(lane, partition); });
  return finish_file();
}

}  // namespace edgewire::shuffle
