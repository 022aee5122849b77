#include "shuffle/sort_job.h"

#include <dirent.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>

#include "disk/busy_devices.h"
#include "error.h"
#include "exchange/exchange.h"
#include "launch/packing.h"
#include "shuffle/merge.h"

namespace edgewire::shuffle {

namespace {

constexpr std::uint64_t kOtherFiles = 100;  // that are open beside inputs, runs and parts

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Of all threads of this process.
double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

MemoryPlan plan_of(const SortOptions& options, int processes, std::uint64_t records) {
  MemoryNeeds needs{options.shape, options.seat.workers, options.partitions, records, 0};
  needs.ring_bytes =
      exchange::RecordStream::memory_bytes(options.seat.workers, processes, options.shape.stride());
  return plan_memory(needs, options.memory_bytes);
}

/// Whether an earlier sort has left parts there. Another process that refuses to run may have removed the
/// folder again.
bool holds_parts(const std::string& folder) {
  DIR* const entries = opendir(folder.c_str());
  if (entries == nullptr && errno == ENOENT) return false;
  if (entries == nullptr) throw Error(fmt::format("{}: cannot read: {}", folder, reason(errno)));
  bool found = false;
  while (const dirent* entry = readdir(entries)) {
    const std::string name = entry->d_name;
    found = found || (name.starts_with("part-") && name.find("-of-") != name.npos);
  }
  closedir(entries);
  return found;
}

/// All parts are open until the last one is written.
void check_open_files(std::uint64_t files) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < files)
    throw Error(
        fmt::format("{} files must be open at a time, and {} may be: raise the limit (ulimit -n), or "
                    "ask for fewer --partitions",
                    files, limit.rlim_cur));
}

}  // namespace

std::string partition_file(const std::string& folder, std::uint32_t partition, std::uint32_t partitions) {
  return fmt::format("{}/part-{:05}-of-{:05}", folder, partition, partitions);
}

SortJob::SortJob(launch::Bootstrap& bootstrap, const SortOptions& options)
    : bootstrap_(bootstrap),
      options_(options),
      input_(options.inputs, options.shape.bytes),
      plan_(plan_of(options, bootstrap.size(), input_.records())),
      folder_(options.output),
      seat_(bootstrap, options.seat),
      first_(first_of(static_cast<std::uint32_t>(bootstrap.rank()))),
      last_(first_of(static_cast<std::uint32_t>(bootstrap.rank()) + 1)),
      workers_(static_cast<std::size_t>(options.seat.workers)),
      parts_(last_ - first_),
      counts_(last_ - first_) {
  if (options_.temp.empty()) options_.temp = options_.output;
  exchange::check_agreement(
      bootstrap, fmt::format("sort: {} records of {} bytes, key {}:{}, {} partitions; {}, {} workers{}",
                             input_.records(), options.shape.bytes, options.shape.key_offset,
                             options.shape.key_bytes, options.partitions, seat_.link().name(),
                             options.seat.workers, options.seat.integrity ? "" : "; integrity off"));
  refuse_folders();
  check_open_files(options.inputs.size() + workers_.size() + parts_.size() + kOtherFiles);
  for (std::uint32_t p = 0; p < static_cast<std::uint32_t>(bootstrap.size()); ++p)
    owners_.resize(first_of(p + 1), p);
  if (bootstrap.size() > 1)
    stream_.emplace(bootstrap, seat_.link(), options.seat.workers, seat_.oversubscribed(),
                    options.shape.stride());
}

std::uint32_t SortJob::first_of(std::uint32_t process) const noexcept {
  return static_cast<std::uint32_t>(std::uint64_t{options_.partitions} * process /
                                    static_cast<std::uint64_t>(bootstrap_.size()));
}

void SortJob::refuse_folders() const {
  if (holds_parts(options_.output))
    throw Error(fmt::format("{}: it holds parts of an earlier sort: remove them, or name another folder",
                            options_.output));
  struct stat status {};
  if (options_.temp == options_.output) return;
  if (stat(options_.temp.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    throw Error(fmt::format("{}: no such folder (--temp)", options_.temp));
}

void SortJob::run() {
  auto paths = options_.inputs;
  paths.insert(paths.end(), {options_.temp, options_.output});
  const disk::BusyDevices disks(paths);
  const double cpu_before = cpu_seconds();
  auto start = std::chrono::steady_clock::now();
  splitters_.emplace(choose_splitters());
  figures_.seconds_sample = seconds_since(start);
  start = std::chrono::steady_clock::now();
  distribute();
  figures_.seconds_distribute = seconds_since(start);
  start = std::chrono::steady_clock::now();
  merge_all();
  figures_.seconds_merge = seconds_since(start);
  if (disks.known()) figures_.seconds_disk_busy = disks.seconds();
  figures_.seconds_cores_busy = (cpu_seconds() - cpu_before) / static_cast<double>(workers_.size());
}

/// The sample is the same for any number of processes; each of them reads a part of it.
Splitters SortJob::choose_splitters() {
  const std::size_t stride = options_.shape.stride();
  std::vector<std::uint64_t> places;
  const std::uint64_t records = input_.records();
  std::mt19937_64 random;  // NOLINT(cert-msc51-cpp): always the same
  for (std::uint64_t i = 0; i < plan_.sample_records; ++i) places.push_back(random() % records);
  std::ranges::sort(places);
  std::vector<std::byte> mine;
  const auto size = static_cast<std::size_t>(bootstrap_.size());
  for (auto i = static_cast<std::size_t>(bootstrap_.rank()); i < places.size(); i += size) {
    mine.resize(mine.size() + stride);
    input_.read(places[i], 1, &mine[mine.size() - stride]);
  }
  std::vector<std::byte> sample;
  for (const std::string& part : bootstrap_.allgather(launch::pack(mine))) {
    const auto bytes = std::as_bytes(std::span(part));
    sample.insert(sample.end(), bytes.begin(), bytes.end());
  }
  return {options_.shape, sample, options_.partitions};
}

void SortJob::distribute() {
  std::atomic<std::uint64_t> next{0};
  seat_.pool().run([&](int lane) {
    Worker& worker = workers_[static_cast<std::size_t>(lane)];
    worker.block.resize(RunFile::kBlockBytes + 3);  // a stride may end behind the last record
    worker.buffer.emplace(options_.shape, plan_.buffer_records, -1);
    worker.spilled.emplace(options_.shape, options_.temp, worker.queue, bootstrap_.health());
    read_and_send(lane, next);
  });
  settle_rest();
  figures_.runs = runs_;
  for (const Worker& worker : workers_) {
    figures_.records_read += worker.records;
    figures_.checksum += worker.checksum;
    figures_.bytes_spilled += worker.spilled->bytes_written();
  }
  if (!stream_) return;
  const auto counters = stream_->counters();
  figures_.record_bytes_sent = stream_->bytes_sent();
  figures_.payload_bytes_sent = counters.payload_bytes;
  figures_.wire_bytes_sent = counters.wire_bytes;
}

void SortJob::read_and_send(int lane, std::atomic<std::uint64_t>& next) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const RecordShape& shape = options_.shape;
  const auto rank = static_cast<std::uint64_t>(bootstrap_.rank());
  const auto size = static_cast<std::uint64_t>(bootstrap_.size());
  const std::uint64_t begin = input_.records() / size * rank + std::min(rank, input_.records() % size);
  const std::uint64_t end = begin + input_.records() / size + (rank < input_.records() % size ? 1 : 0);
  const std::uint64_t block = RunFile::kBlockBytes / shape.bytes;
  const auto take = [&](int, std::span<const std::byte> bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(shape.stride()))
      keep(worker, bytes.data(), shape.prefix(bytes.data()));
  };
  for (std::uint64_t at = begin + next.fetch_add(block); at < end; at = begin + next.fetch_add(block)) {
    const std::uint64_t count = std::min(block, end - at);
    input_.read(at, count, worker.block.data());
    worker.records += count;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::byte* const record = &worker.block[i * shape.bytes];
      worker.checksum += XXH3_64bits(record, shape.bytes);
      const std::uint64_t prefix = shape.prefix(record);
      const std::uint32_t owner = owners_[splitters_->partition(record, prefix)];
      if (owner == rank)
        keep(worker, record, prefix);
      else
        stream_->send(lane, static_cast<int>(owner), record, shape.stride(), take);
    }
  }
  if (stream_) stream_->finish(lane, take);
}

void SortJob::keep(Worker& worker, const std::byte* record, std::uint64_t prefix) {
  if (worker.buffer->full()) spill(worker);
  worker.buffer->add(record, prefix);
}

void SortJob::spill(Worker& worker) {
  if (worker.buffer->size() == 0) return;
  worker.buffer->sort();
  worker.spilled->append(*worker.buffer, worker.buffer->begins(*splitters_, first_, last_));
  worker.buffer->clear();
}

/// Where anything was spilled everything is, so that merging has the memory of the buffers.
void SortJob::settle_rest() {
  const bool spilled =
      std::ranges::any_of(workers_, [](const Worker& w) { return !w.spilled->runs().empty(); });
  seat_.pool().run([&](int w) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    if (spilled) {
      spill(worker);
      worker.buffer.reset();
      worker.merging = topology::NodeMemory(plan_.merge_bytes, -1, "runs that are merged");
      reduce_runs(worker);
    } else {
      worker.buffer->sort();
      worker.begins = worker.buffer->begins(*splitters_, first_, last_);
    }
  });
  for (const Worker& worker : workers_) runs_ += worker.spilled->runs().size();
}

/// Merges runs until those of all workers can be merged at once.
void SortJob::reduce_runs(Worker& worker) {
  const std::size_t most = plan_.fan_in / workers_.size();
  const auto& runs = worker.spilled->runs();
  while (runs.size() > most)
    worker.spilled->merge_first(std::min(plan_.fan_in, runs.size() - most + 1),
                                worker.merging.as<std::byte>());
}

void SortJob::merge_all() {
  seat_.pool().for_each(parts_.size(), [&](int worker, std::uint64_t part) {
    merge_partition(worker, static_cast<std::uint32_t>(part));
  });
  bootstrap_.allgather("merged");  // before a name appears
  commit_parts();
}

void SortJob::merge_partition(int worker, std::uint32_t part) {
  const RecordShape& shape = options_.shape;
  Worker& mine = workers_[static_cast<std::size_t>(worker)];
  const std::size_t chunk = runs_ == 0 ? 0 : Cursor::bytes_of_each(plan_.merge_bytes, runs_);
  std::deque<Cursor> cursors;
  std::uint64_t count = 0;
  for (const Worker& from : workers_) {
    if (from.buffer) {
      cursors.emplace_back(shape, *from.buffer, from.begins[part], from.begins[part + 1]);
      count += from.begins[part + 1] - from.begins[part];
    }
    for (const auto& run : from.spilled->runs()) {
      cursors.emplace_back(shape, *from.spilled, mine.queue, run[part], run[part + 1],
                           mine.merging.as<std::byte>().subspan(cursors.size() * chunk, chunk));
      count += run[part + 1] - run[part];
    }
  }
  counts_[part] = count;
  auto& file = parts_[part] = std::make_unique<graph::OutputFile>(
      partition_file(options_.output, first_ + part, options_.partitions));
  if (count > 0) file->reserve(count * shape.bytes);
  const std::size_t room = mine.block.size() / shape.bytes * shape.bytes;
  std::size_t filled = 0;
  std::uint64_t offset = 0;
  const auto flush = [&] {
    if (bootstrap_.health().failed()) throw Error(bootstrap_.health().message());
    file->write(mine.block.data(), filled, offset);
    offset += filled;
    filled = 0;
  };
  merge(shape, cursors, [&](const std::byte* record) {
    std::memcpy(&mine.block[filled], record, shape.bytes);
    filled += shape.bytes;
    if (filled == room) flush();
  });
  flush();
}

/// When a part of any process gets no name, those of this process lose theirs.
void SortJob::commit_parts() {
  std::size_t named = 0;
  try {
    for (; named < parts_.size(); ++named) parts_[named]->commit();
    bootstrap_.allgather("committed");
  } catch (...) {
    for (std::size_t part = 0; part < named; ++part) unlink(parts_[part]->path().c_str());
    throw;
  }
  folder_.keep();
}

}  // namespace edgewire::shuffle
