#include "shuffle/sort_job.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <system_error>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "channel/record_stream.h"
#include "launch/agreement.h"
#include "launch/packing.h"
#include "options/files.h"
#include "process/barrier.h"
#include "process/job_folder.h"
#include "shuffle/blocked_time.h"
#include "topology/shell.h"

namespace edgewire::shuffle {

namespace {

constexpr std::uint64_t kOtherFiles = 100;  // number of files that are open beside inputs, runs and parts

/// Returns whether an earlier sort left parts there. Another process may have removed the folder again.
bool holds_parts(const std::string& folder) {
  std::error_code error;
  bool found = false;
  for (const auto& entry : entries_of(folder, error)) {
    const std::string name = entry.path().filename();
    found = found || (name.starts_with("part-") && name.find("-of-") != name.npos);
  }
  if (error && error != std::errc::no_such_file_or_directory)
    throw Error(fmt::format("{}: cannot read: {}", folder, reason(error.value())));
  return found;
}

}  // namespace

const SortOptions& check(const SortOptions& options) {
  process::check(options.process);
  check(options.shape);
  check_range(opt::partitions, options.partitions);
  if (options.inputs.empty()) throw UsageError("inputs: name at least one file");
  if (options.output.empty()) throw UsageError("output: it must name a folder");
  return options;
}

MemoryNeeds sort_needs(const RecordShape& shape, int workers, int processes, std::uint32_t partitions,
                       std::uint64_t records) {
  MemoryNeeds needs{shape, workers, partitions, records, 0};
  needs.ring_bytes = channel::RecordStream::memory_bytes(workers, processes, shape.stride());
  return needs;
}

SortFigures& SortFigures::operator+=(const SortFigures& other) {
  records_read += other.records_read;
  bytes_spilled += other.bytes_spilled;
  runs += other.runs;
  record_bytes_sent += other.record_bytes_sent;
  payload_bytes_sent += other.payload_bytes_sent;
  wire_bytes_sent += other.wire_bytes_sent;
  checksum += other.checksum;
  seconds_sample = std::max(seconds_sample, other.seconds_sample);
  seconds_distribute = std::max(seconds_distribute, other.seconds_distribute);
  seconds_merge = std::max(seconds_merge, other.seconds_merge);
  return *this;
}

std::string partition_file(const std::string& folder, std::uint32_t partition, std::uint32_t partitions) {
  return fmt::format("{}/part-{:05}-of-{:05}", folder, partition, partitions);
}

SortJob::SortJob(launch::Bootstrap& bootstrap, const SortOptions& options)
    : bootstrap_(bootstrap),
      options_(check(options)),
      input_(options.inputs, options.shape.bytes),
      plan_(plan_memory(sort_needs(options.shape, options.process.workers, bootstrap.size(),
                                   options.partitions, input_.records()),
                        options.memory_bytes)),
      folder_(process::make_folder(bootstrap, options.output)),
      process_(bootstrap, options.process),
      workers_(static_cast<std::size_t>(options.process.workers)) {
  if (options_.temp.empty()) options_.temp = options_.output;
  launch::check_agreement(
      bootstrap, {{"the input", fmt::format("{} records of {} bytes", input_.records(), options.shape.bytes)},
                  {"the key", fmt::format("{}:{}", options.shape.key_offset, options.shape.key_bytes)},
                  {"the number of partitions", std::to_string(options.partitions)},
                  {"the transport", std::string(process_.link().name())},
                  {"the number of workers", std::to_string(options.process.workers)},
                  {"the check of integrity", options.process.integrity ? "yes" : "no"}});
  refuse_folders();
  shuffle_.emplace(bootstrap, process_,
                   ShuffleOptions{options_.shape, options_.partitions, options_.temp, plan_, true});
  parts_.resize(last_partition() - first_partition());
  counts_.resize(parts_.size());
  const auto size = static_cast<std::uint64_t>(bootstrap.size());
  const std::uint64_t most_parts = (options.partitions + size - 1) / size;  // the same in all processes
  // All parts are open until the last one is written.
  topology::require_open_files(options.inputs.size() + workers_.size() + most_parts + kOtherFiles,
                               fmt::format(", or ask for fewer {}", opt::partitions));
}

void SortJob::refuse_folders() const {
  if (holds_parts(options_.output))
    throw Error(fmt::format("{}: it holds parts of an earlier sort: remove them, or name another folder",
                            options_.output));
  struct stat status {};
  if (options_.temp == options_.output) return;
  const int cause = stat(options_.temp.c_str(), &status) == 0 ? 0 : errno;
  if (cause != 0 && cause != ENOENT)
    throw Error(fmt::format("{}: cannot make files there ({}): {}", options_.temp, opt::temp, reason(cause)));
  if (cause != 0 || !S_ISDIR(status.st_mode))
    throw Error(fmt::format("{}: there is no such folder ({})", options_.temp, opt::temp));
}

void SortJob::run() {
  auto start = Clock::now();
  shuffle_->choose_splitters(sample());
  figures_.seconds_sample = end_step(kSample, start);
  distribute();
  input_.refuse_changed();
  figures_.seconds_distribute = end_step(kDistribute, start);
  merge_all();
  figures_.seconds_merge = end_step(kMerge, start);
}

/// Returns the seconds of the step, and begins the next one.
double SortJob::end_step(const char* step, Clock::time_point& start) const {
  if (options_.step_done) options_.step_done(step);
  const auto end = Clock::now();
  return seconds_between(std::exchange(start, end), end);
}

/// Reads records that follow each other, from a place in each of many stretches of the input: few reads, and
/// right for sorted input, too. Each process reads a part of the sample, which is the same for any number.
std::vector<std::byte> SortJob::sample() {
  constexpr std::uint64_t kAtOnce = 64;
  const std::size_t stride = options_.shape.stride(), bytes = options_.shape.bytes;
  const std::uint64_t records = input_.records();
  std::optional<process::WaitTold> wait(process_.pool());
  const std::uint64_t wanted = launch::allreduce(bootstrap_, plan_.sample_records, std::ranges::min);
  wait.reset();
  const std::uint64_t stretches = (wanted + kAtOnce - 1) / kAtOnce;
  const auto rank = static_cast<std::uint64_t>(bootstrap_.rank());
  const auto size = static_cast<std::uint64_t>(bootstrap_.size());
  std::mt19937_64 random;  // NOLINT(cert-msc51-cpp): the numbers are always the same
  std::vector<std::byte> mine, block(kAtOnce * bytes);
  for (std::uint64_t i = 0; i < stretches; ++i) {
    const std::uint64_t begin = records / stretches * i + std::min(i, records % stretches);
    const std::uint64_t length = records / stretches + (i < records % stretches ? 1 : 0);
    const std::uint64_t count = std::min(kAtOnce, length);
    const std::uint64_t at = begin + random() % (length - count + 1);
    if (i % size != rank) continue;
    input_.read(at, count, block.data());
    for (std::uint64_t r = 0; r < count; ++r) {
      mine.resize(mine.size() + stride);
      std::memcpy(&mine[mine.size() - stride], &block[r * bytes], bytes);
    }
  }
  return mine;
}

void SortJob::distribute() {
  std::atomic<std::uint64_t> next{0};
  process_.pool().run([&](int lane) {
    // A stride may end behind the last record.
    workers_[static_cast<std::size_t>(lane)].block.resize(RunFile::kBlockBytes + 3);
    read_and_send(lane, next);
    shuffle_->finish(lane);
  });
  shuffle_->settle();
  figures_.runs = shuffle_->runs();
  figures_.bytes_spilled = shuffle_->bytes_spilled();
  for (const Worker& worker : workers_) {
    figures_.records_read += worker.records;
    figures_.checksum += worker.checksum;
  }
  if (shuffle_->stream() == nullptr) return;
  const auto counters = shuffle_->stream()->counters();
  figures_.record_bytes_sent = shuffle_->stream()->bytes_sent();
  figures_.payload_bytes_sent = counters.payload_bytes;
  figures_.wire_bytes_sent = counters.wire_bytes;
}

/// Reports progress of the step.
void SortJob::tell(const char* step, std::uint64_t more, std::uint64_t total, const char* unit) {
  if (!options_.progress) return;
  const std::uint64_t done = told_.fetch_add(more, std::memory_order_relaxed) + more;
  options_.progress({step, done, total, unit});
}

void SortJob::read_and_send(int lane, std::atomic<std::uint64_t>& next) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const RecordShape& shape = options_.shape;
  const auto rank = static_cast<std::uint64_t>(bootstrap_.rank());
  const auto size = static_cast<std::uint64_t>(bootstrap_.size());
  const std::uint64_t begin = input_.records() / size * rank + std::min(rank, input_.records() % size);
  const std::uint64_t end = begin + input_.records() / size + (rank < input_.records() % size ? 1 : 0);
  const std::uint64_t block = RunFile::kBlockBytes / shape.bytes;
  for (std::uint64_t at = begin + next.fetch_add(block); at < end; at = begin + next.fetch_add(block)) {
    const std::uint64_t count = std::min(block, end - at);
    const BlockedTime reading(process_.pool().observer(), lane);
    input_.read(at, count, worker.block.data());
    reading.tell();
    worker.records += count;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::byte* const record = &worker.block[i * shape.bytes];
      worker.checksum += checksum(record, shape.bytes);
      shuffle_->add(lane, record);
    }
    tell("reading", count * shape.bytes, (end - begin) * shape.bytes, "bytes");
  }
}

void SortJob::merge_all() {
  told_ = 0;
  std::uint64_t total = 0;
  for (std::uint32_t p = first_partition(); p < last_partition(); ++p) total += shuffle_->records(p);
  process_.pool().for_each(parts_.size(), [&](int worker, std::uint64_t part) {
    merge_partition(worker, static_cast<std::uint32_t>(part), total);
  });
  const process::WaitTold wait(process_.pool());
  bootstrap_.allgather("written");
}

void SortJob::commit() { commit_parts(bootstrap_, parts_, *folder_); }

/// Merges a partition. `total`: number of records of all partitions here.
void SortJob::merge_partition(int worker, std::uint32_t part, std::uint64_t total) {
  const RecordShape& shape = options_.shape;
  Worker& mine = workers_[static_cast<std::size_t>(worker)];
  const std::uint64_t count = shuffle_->records(first_partition() + part);
  counts_[part] = count;
  auto& file = parts_[part] = std::make_unique<OutputFile>(
      partition_file(options_.output, first_partition() + part, options_.partitions));
  if (count > 0) file->reserve(count * shape.bytes);
  const std::size_t room = mine.block.size() / shape.bytes * shape.bytes;
  std::size_t filled = 0;
  std::uint64_t offset = 0;
  const auto flush = [&] {
    if (bootstrap_.health().failed()) throw Error(bootstrap_.health().message());
    const BlockedTime writing(process_.pool().observer(), worker);
    file->write(mine.block.data(), filled, offset);
    writing.tell();
    offset += filled;
    tell("merging", filled / shape.bytes, total, "records");
    filled = 0;
  };
  shuffle_->merge_partition(worker, first_partition() + part, [&](const std::byte* record) {
    std::memcpy(&mine.block[filled], record, shape.bytes);
    filled += shape.bytes;
    if (filled == room) flush();
  });
  flush();
}

}  // namespace edgewire::shuffle
