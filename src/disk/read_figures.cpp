#include "disk/read_figures.h"

#include <algorithm>

#include "base/error.h"
#include "disk/read_probe.h"

namespace edgewire::disk {

void ReadFigures::measure_limit(const SegmentFiles& files, std::uint64_t bytes_under_way) try {
  constexpr double kSeconds = 0.2, kWarmUpSeconds = 0.2;  // a disk with a quota has saved some before
  constexpr std::uint64_t kBlockBytes[] = {1 << 20, 1 << 18, 1 << 16}, kLeast = 16 << 20, kMost = 64 << 20;
  constexpr std::uint64_t kMostUnderWay = 256;  // blocks
  auto probe = ReadProbe::of_files(files);
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
  limit_bytes_per_s = 0;  // the run has its result all the same
}

}  // namespace edgewire::disk
