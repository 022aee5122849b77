#include "disk/read_figures.h"

#include <algorithm>

#include "disk/read_probe.h"
#include "error.h"

namespace edgewire::disk {

void ReadFigures::measure_limit(const SegmentFiles& files, std::uint64_t bytes_under_way) try {
  constexpr double kSeconds = 0.2;
  constexpr int kTimes = 3;  // other programs may disturb one; the best counts
  auto probe = ReadProbe::of_files(files);
  constexpr std::uint64_t kBlockBytes = 1 << 20;
  block_bytes = std::min(kBlockBytes, probe.bytes() / kAlignment * kAlignment);
  depth = std::clamp<std::uint64_t>(bytes_under_way / kBlockBytes, 16, 64);
  for (int i = 0; i < kTimes; ++i) {
    const ReadPattern pattern{block_bytes, static_cast<int>(depth), false};
    limit_bytes_per_s = std::max(limit_bytes_per_s, probe.measure(pattern, kSeconds).bytes_per_s());
  }
} catch (const Error&) {
  limit_bytes_per_s = 0;  // the run has its result all the same
}

}  // namespace edgewire::disk
