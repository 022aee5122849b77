#include "disk/read_probe.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <functional>
#include <limits>
#include <random>

#include "base/error.h"
#include "base/file_calls.h"
#include "base/median.h"
#include "base/rooms.h"
#include "base/seconds.h"
#include "base/usage.h"
#include "edgewire/detail/memory.h"

namespace edgewire::disk {

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

class Blocks {
 public:
  Blocks(std::size_t count, std::size_t bytes)
      : bytes_(bytes), memory_(count * bytes, -1, "blocks to measure with") {}
  std::span<std::byte> operator[](std::size_t block) const noexcept {
    return memory_.as<std::byte>().subspan(block * bytes_, bytes_);
  }

 private:
  std::size_t bytes_;
  topology::NodeMemory memory_;
};

void fill_at_random(std::span<std::byte> block, std::mt19937_64& random) {
  auto* const words = reinterpret_cast<std::uint64_t*>(block.data());
  std::generate_n(words, block.size() / sizeof *words, std::ref(random));
}

/// The places of the next blocks: the files take turns.
class Places {
 public:
  struct Place {
    std::size_t file;
    std::uint64_t offset;
  };
  Places(const ReadPattern& pattern, std::size_t files, std::uint64_t bytes)
      : pattern_(pattern), files_(files), blocks_(bytes / pattern.block_bytes) {}
  Place next() {
    const std::uint64_t number = next_++;
    const std::uint64_t block = pattern_.random ? random_() % blocks_ : number / files_ % blocks_;
    return {number % files_, block * pattern_.block_bytes};
  }

 private:
  ReadPattern pattern_;
  std::size_t files_;
  std::uint64_t blocks_, next_ = 0;
  std::mt19937_64 random_{1};
};

struct Read {
  explicit Read(Queue& queue) : transfer(queue) {}
  Transfer transfer;
  Places::Place place{};
  Clock::time_point start{};
};

}  // namespace

ReadProbe::ReadProbe(const std::vector<std::string>& folders, std::uint64_t bytes)
    : folders_(folders), bytes_((std::max<std::uint64_t>(bytes, 1) + kMiB - 1) / kMiB * kMiB) {
  for (const auto& folder : folders_) fill(folder);
}

ReadProbe::ReadProbe(const SegmentFiles& files)
    : folders_(files.paths()), bytes_(std::numeric_limits<std::uint64_t>::max()) {
  for (std::size_t f = 0; f < folders_.size(); ++f) {
    const OpenFile& file = files_.emplace_back(fcntl(files.descriptor(f), F_DUPFD_CLOEXEC, 0));
    if (file.descriptor() < 0) throw Error(fmt::format("{}: cannot read: {}", folders_[f], reason(errno)));
    bytes_ = std::min(bytes_, files.bytes(f));
    direct_ = bypass_page_cache(file) && direct_;
  }
}

/// Writes the file past the page cache where that can be done, so that nothing of the file is in there.
void ReadProbe::fill(const std::string& folder) {
  const auto check = [&](int cause) {
    if (cause != 0)
      throw Error(
          fmt::format("{}: cannot write {} MiB to measure with: {}", folder, bytes_ / kMiB, reason(cause)));
  };
  const OpenFile& file = files_.emplace_back(unnamed_file(folder));
  check(file.descriptor() < 0 ? errno : 0);
  // A disk without the room fails now, not when it is full.
  const auto room = static_cast<off_t>(bytes_);
  if (uninterrupted([&] { return fallocate(file.descriptor(), 0, 0, room); }) != 0 && errno != EOPNOTSUPP)
    check(errno);
  direct_ = bypass_page_cache(file) && direct_;
  const Blocks blocks(2, kMiB);
  std::deque<Transfer> transfers;
  for (int i = 0; i < 2; ++i) transfers.emplace_back(queue_);
  std::mt19937_64 random(files_.size());
  for (std::uint64_t offset = 0; offset < bytes_; offset += kMiB) {
    const std::size_t half = offset / kMiB % 2;
    check(transfers[half].wait());
    const auto block = blocks[half];
    fill_at_random(block, random);
    transfers[half].write(file.descriptor(), block, offset);
  }
  for (auto& transfer : transfers) check(transfer.wait());
  check(uninterrupted([&] { return fdatasync(file.descriptor()); }) != 0 ? errno : 0);
}

double ReadProbe::write_again() {
  constexpr std::size_t kUnderWay = 4;
  // More blocks than are under way, so that disks cannot keep one for all.
  const Blocks blocks(4 * kUnderWay, kMiB);
  std::mt19937_64 random(bytes_);
  for (std::size_t b = 0; b < 4 * kUnderWay; ++b) fill_at_random(blocks[b], random);
  std::deque<Transfer> transfers;
  for (std::size_t i = 0; i < kUnderWay; ++i) transfers.emplace_back(queue_);
  const auto check = [&](std::size_t file, int cause) {
    if (cause != 0)
      throw Error(fmt::format("{}: cannot write a file to measure with: {}", folders_[file], reason(cause)));
  };
  const auto begin = Clock::now();
  for (std::size_t f = 0; f < files_.size(); ++f) {
    for (std::uint64_t block = 0; block < bytes_ / kMiB; ++block) {
      auto& transfer = transfers[block % kUnderWay];
      check(f, transfer.wait());
      transfer.write(files_[f].descriptor(), blocks[block % (4 * kUnderWay)], block * kMiB);
    }
    for (auto& transfer : transfers) check(f, transfer.wait());
    check(f, uninterrupted([&] { return fdatasync(files_[f].descriptor()); }) != 0 ? errno : 0);
  }
  return static_cast<double>(bytes_ * files_.size()) / seconds_between(begin, Clock::now());
}

ReadRate ReadProbe::measure(const ReadPattern& pattern, double seconds) {
  const Blocks blocks(static_cast<std::size_t>(pattern.depth), pattern.block_bytes);
  Places places(pattern, files_.size(), bytes_);
  std::vector<double> latencies;
  std::deque<Read> reads;
  const double cpu = process_cpu_seconds();
  const auto begin = Clock::now();
  const auto start = [&](std::size_t r) {
    Read& read = reads[r];
    read.place = places.next();
    read.start = Clock::now();
    read.transfer.read(files_[read.place.file].descriptor(), blocks[r], read.place.offset);
  };
  const auto finish = [&](Read& read) {
    if (const int cause = read.transfer.wait(); cause != 0)
      throw Error(fmt::format("{}: byte {} of a file to measure with: cannot read: {}",
                              folders_[read.place.file], read.place.offset, reason(cause)));
    latencies.push_back(seconds_between(read.start, Clock::now()));
  };
  for (int r = 0; r < pattern.depth; ++r) reads.emplace_back(queue_);
  for (std::size_t r = 0; r < reads.size(); ++r) start(r);
  while (seconds_between(begin, Clock::now()) < seconds) {
    bool any = false;
    for (std::size_t r = 0; r < reads.size(); ++r) {
      if (reads[r].transfer.under_way()) continue;
      any = true;
      finish(reads[r]);
      start(r);
    }
    if (!any) queue_.wait_for_one();
  }
  for (Read& read : reads) finish(read);
  ReadRate rate{pattern, latencies.size(), seconds_between(begin, Clock::now())};
  rate.cores = (process_cpu_seconds() - cpu) / rate.seconds;
  std::ranges::sort(latencies);
  rate.median_s = median_of_sorted(latencies);
  rate.p99_s = latencies[latencies.size() * 99 / 100];
  return rate;
}

const ReadRate& cheapest(std::span<const ReadRate> rates, double share) {
  const auto rate_of = [](const ReadRate& rate) { return rate.bytes_per_s(); };
  const auto under_way = [](const ReadRate& rate) {
    return rate.pattern.block_bytes * static_cast<std::size_t>(rate.pattern.depth);
  };
  auto best = std::ranges::max_element(rates, {}, rate_of);
  const double enough = share * best->bytes_per_s();
  for (auto rate = rates.begin(); rate != rates.end(); ++rate) {
    if (rate->bytes_per_s() < enough || under_way(*rate) > under_way(*best)) continue;
    if (under_way(*rate) < under_way(*best) || rate->pattern.block_bytes > best->pattern.block_bytes)
      best = rate;
  }
  return *best;
}

void ReadFigures::measure_limit(const SegmentFiles& files, std::uint64_t bytes_under_way) try {
  constexpr double kSeconds = 0.2, kWarmUpSeconds = 0.2;  // a disk with a quota has saved some beforehand
  constexpr std::uint64_t kBlockBytes[] = {1 << 20, 1 << 18, 1 << 16}, kLeast = 16 << 20, kMost = 64 << 20;
  constexpr std::uint64_t kMostUnderWay = 256;  // number of blocks
  ReadProbe probe(files);
  bytes_under_way = std::clamp(bytes_under_way, kLeast, kMost);
  const auto pattern_of = [&](std::uint64_t bytes) {
    return ReadPattern{std::min(bytes, probe.bytes() / kAlignment * kAlignment),
                       static_cast<int>(std::min(bytes_under_way / bytes, kMostUnderWay)), false};
  };
  probe.measure(pattern_of(kBlockBytes[0]), kWarmUpSeconds);
  for (const std::uint64_t bytes : kBlockBytes) {
    const ReadPattern pattern = pattern_of(bytes);
    const double rate = probe.measure(pattern, kSeconds).bytes_per_s();
    if (rate <= limit_bytes_per_s) continue;
    limit_bytes_per_s = rate;
    block_bytes = pattern.block_bytes;
    depth = static_cast<std::uint64_t>(pattern.depth);
  }
} catch (const Error&) {
  limit_bytes_per_s = 0;  // the result of the run does not depend on it
}

}  // namespace edgewire::disk
