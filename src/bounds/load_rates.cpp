#include "bounds/load_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <random>
#include <string_view>

#include "base/checksum.h"
#include "base/output_file.h"
#include "base/seconds.h"
#include "base/usage.h"
#include "disk/read_probe.h"
#include "graph/convert.h"
#include "launch/bootstrap.h"
#include "process/local_process.h"
#include "shuffle/load_job.h"
#include "shuffle/record_input.h"
#include "shuffle/shuffle.h"
#include "shuffle/sort_job.h"

namespace edgewire::bounds {

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kProbeBytes = 256 * kMiB;
constexpr double kProbeSeconds = 0.5;
constexpr std::uint64_t kSampleBytes = 64 * kMiB;
constexpr std::uint64_t kRoomy = 1024 * kMiB;         // --memory in which the sample stays
constexpr std::uint64_t kLittleForSort = 24 * kMiB;   // and in which it becomes a few runs
constexpr std::uint64_t kLittleForEdges = 80 * kMiB;  // with the program and a bit for each id in it
constexpr double kSampleIds = 1e8;                    // which have room for their bits in that

/// Writes front to back through a buffer.
class Appender {
 public:
  explicit Appender(OutputFile& file) : file_(file) { buffer_.reserve(kMiB + 4096); }
  void add(const void* data, std::size_t bytes) {
    const char* const from = static_cast<const char*>(data);
    buffer_.insert(buffer_.end(), from, from + bytes);
    if (buffer_.size() >= kMiB) flush();
  }
  void flush() {
    file_.write(buffer_.data(), buffer_.size(), offset_);
    offset_ += buffer_.size();
    buffer_.clear();
  }

 private:
  OutputFile& file_;
  std::vector<char> buffer_;
  std::uint64_t offset_ = 0;
};

/// Writes records from all over the input, a MiB at each place, or random ones.
void write_records(const LoadTask& task, OutputFile& file) {
  const std::size_t bytes = task.shape.bytes;
  const std::uint64_t records = kMiB / bytes;
  const std::uint64_t places = std::min(kSampleBytes / kMiB, task.records / records);
  std::vector<std::byte> block(records * bytes + sizeof(std::uint64_t));
  std::optional<shuffle::RecordInput> input;
  if (!task.inputs.empty() && places > 0) input.emplace(task.inputs, bytes);
  std::mt19937_64 random(1);
  for (std::uint64_t place = 0; place < kSampleBytes / kMiB; ++place) {
    if (input) {
      input->read(place % places * (task.records / places), records, block.data());
    } else {
      for (std::size_t at = 0; at < records * bytes; at += sizeof(std::uint64_t)) {
        const std::uint64_t bits = random();
        std::memcpy(&block[at], &bits, sizeof bits);
      }
    }
    file.write(block.data(), records * bytes, place * records * bytes);
  }
}

/// The core seconds of a byte or an edge of the sample.
struct CoreTime {
  double sending_s = 0, all_s = 0;
};

/// Measures the time of a byte: reads it, sorts it and writes it to one part, as SortJob does.
CoreTime seconds_of_byte(const LoadTask& task, bool spills, const std::string& folder) {
  const shuffle::RecordShape& shape = task.shape;
  const auto sample = OutputFile::nameless(folder), output = OutputFile::nameless(folder);
  write_records(task, *sample);
  const shuffle::RecordInput input({sample->path_for_others()}, shape.bytes);
  const auto plan = shuffle::plan_memory(shuffle::sort_needs(shape, 1, 1, 1, input.records()),
                                         spills ? kLittleForSort : kRoomy);
  const double before = process_cpu_seconds();
  const auto bootstrap = launch::alone();
  process::LocalProcess process(*bootstrap, process::ProcessOptions{});
  shuffle::Shuffle shuffle(*bootstrap, process, {shape, 1, folder, plan});
  shuffle.choose_splitters({});
  process.pool().run([&](int lane) {
    const std::uint64_t records = std::max<std::uint64_t>(1, kMiB / shape.bytes);
    std::vector<std::byte> block(records * shape.bytes + shape.stride());
    std::uint64_t checksum = 0;
    for (std::uint64_t at = 0; at < input.records(); at += records) {
      const std::uint64_t count = std::min(records, input.records() - at);
      input.read(at, count, block.data());
      for (std::uint64_t i = 0; i < count; ++i) {
        checksum += edgewire::checksum(&block[i * shape.bytes], shape.bytes);
        shuffle.add(lane, &block[i * shape.bytes]);
      }
    }
    [[maybe_unused]] volatile std::uint64_t used = checksum;
    shuffle.finish(lane);
  });
  shuffle.settle();
  const double sent = process_cpu_seconds();
  process.pool().run([&](int lane) {
    Appender appender(*output);
    shuffle.merge_partition(lane, 0, [&](const std::byte* record) { appender.add(record, shape.bytes); });
    appender.flush();
  });
  const auto bytes = static_cast<double>(input.records() * shape.bytes);
  return {(sent - before) / bytes, (process_cpu_seconds() - before) / bytes};
}

/// Writes edges with random ids that take about as many bytes as those of the task, and have as many
/// vertices for each edge. Returns how many there are.
std::uint64_t write_edges(const LoadTask& task, OutputFile& file) {
  constexpr double kUsualDegree = 16;  // where it is not known
  const bool weighted = task.shape.bytes > shuffle::RecordShape::kPairBytes;
  const auto all = static_cast<double>(task.edges);
  const double bytes = static_cast<double>(task.input_bytes) / all;
  const double digits = std::clamp((bytes - (weighted ? 4 : 2)) / 2, 1.0, 8.0);
  const double ids = task.binary ? kSampleIds : std::min(kSampleIds, std::pow(10, digits));
  const double share = static_cast<double>(kSampleBytes) / std::max(bytes, 4.0) / all;
  const double vertices =
      share * (task.vertices > 0 ? static_cast<double>(task.vertices) : all / kUsualDegree);
  const auto different = static_cast<std::uint32_t>(std::clamp(vertices, 1.0, ids));
  const std::uint32_t step =
      task.renumbers ? static_cast<std::uint32_t>(ids) / different : 1;  // 1: not sparse
  std::uniform_int_distribution<std::uint32_t> random_vertex(0, different - 1);
  std::mt19937_64 random(1);
  Appender appender(file);
  fmt::memory_buffer line;
  std::uint64_t edges = 0;
  for (std::uint64_t written = 0; written < kSampleBytes; ++edges) {
    const std::array<std::uint32_t, 2> edge = {random_vertex(random) * step, random_vertex(random) * step};
    line.clear();
    if (task.binary)
      line.append(reinterpret_cast<const char*>(edge.data()),
                  reinterpret_cast<const char*>(edge.data() + edge.size()));
    else
      fmt::format_to(std::back_inserter(line), "{} {}{}\n", edge[0], edge[1], weighted ? " 1" : "");
    appender.add(line.data(), line.size());
    written += line.size();
  }
  appender.flush();
  return edges;
}

CoreTime seconds_of_edge(const LoadTask& task, bool spills, const std::string& folder) {
  const auto sample = OutputFile::nameless(folder);
  const std::uint64_t edges = write_edges(task, *sample);
  const double before = process_cpu_seconds();
  const auto bootstrap = launch::alone();
  shuffle::LoadOptions options;
  options.temp = folder;
  options.memory_bytes = spills ? kLittleForEdges : kRoomy;
  double sent = before;
  options.step_done = [&sent](std::string_view step) {
    if (step == shuffle::kDistribute) sent = process_cpu_seconds();
  };
  shuffle::LoadJob job(*bootstrap, options);
  graph::ConvertOptions reading;
  reading.format = task.binary            ? graph::Format::u32_pairs
                   : task.renumbers       ? graph::Format::snap
                   : task.shape.bytes > 8 ? graph::Format::wel
                                          : graph::Format::el;
  reading.weights = task.shape.bytes > 8;
  reading.undirected = task.records > task.edges;
  reading.workers = 1;
  graph::convert_to(job, sample->path_for_others(), "", reading);
  const auto count = static_cast<double>(edges);
  return {(sent - before) / count, (process_cpu_seconds() - before) / count};
}

}  // namespace

DiskRates measure_disk(const std::string& folder) {
  disk::ReadProbe probe({folder}, kProbeBytes);
  DiskRates rates;
  rates.write_bytes_per_s = probe.write_again();
  rates.read_bytes_per_s = probe.measure({kMiB, 4, false}, kProbeSeconds).bytes_per_s();
  return rates;
}

CoreRate measure_core(const LoadTask& task, bool spills, const std::string& folder) {
  const CoreTime time =
      task.sorts ? seconds_of_byte(task, spills, folder) : seconds_of_edge(task, spills, folder);
  const double bytes =
      task.sorts ? 1 : static_cast<double>(task.input_bytes) / static_cast<double>(task.edges);
  return {bytes / time.all_s, time.sending_s / time.all_s};
}

}  // namespace edgewire::bounds
