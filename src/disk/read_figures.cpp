#include "disk/read_figures.h"

#include <algorithm>

#include "disk/read_probe.h"
#include "error.h"

namespace edgewire::disk {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kReadAhead = 16 * kBlockBytes;

}  // namespace

std::size_t read_ahead_bytes(std::uint64_t memory_bytes, std::size_t workers) noexcept {
  return memory_bytes == 0 ? kReadAhead
                           : std::clamp<std::size_t>(memory_bytes / 16 / workers, kBlockBytes, kReadAhead);
}

void ReadFigures::measure_limit(const SegmentFiles& files, std::size_t workers) try {
  constexpr double kSeconds = 0.2;
  constexpr int kTimes = 3;  // other programs may disturb one; the best counts
  auto probe = ReadProbe::of_files(files);
  block_bytes = std::min<std::uint64_t>(kBlockBytes, probe.bytes() / kAlignment * kAlignment);
  depth = std::clamp<std::uint64_t>(workers * kReadAhead / kBlockBytes, 1, 64);
  for (int i = 0; i < kTimes; ++i) {
    const ReadPattern pattern{block_bytes, static_cast<int>(depth), false};
    limit_bytes_per_s = std::max(limit_bytes_per_s, probe.measure(pattern, kSeconds).bytes_per_s());
  }
} catch (const Error&) {
  limit_bytes_per_s = 0;  // the run has its result all the same
}

}  // namespace edgewire::disk
