#include "profile/core_watch.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/seconds.h"
#include "base/usage.h"

namespace edgewire::profile {

CoreTimes core_times(const std::string& root) {
  constexpr std::size_t kUser = 0, kNice = 1, kSystem = 2, kSteal = 7;
  std::array<double, kSteal + 1> ticks{};
  std::ifstream stat(root + "/proc/stat");
  std::string word;
  stat >> word;  // "cpu": the sum of all cores
  for (double& one : ticks) stat >> one;
  if (word != "cpu" || !stat) ticks = {};
  const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  return {(ticks[kUser] + ticks[kNice] + ticks[kSystem]) * tick_s, ticks[kSteal] * tick_s,
          cpu_seconds(usage_of(RUSAGE_CHILDREN))};
}

double CoreWatch::now_s() { return seconds_between({}, Clock::now()); }

void CoreWatch::begin(const CoreTimes& times, double at_s) {
  start_ = times;
  start_s_ = at_s;
}

void CoreWatch::end(const CoreTimes& times, double at_s) {
  seconds_ += at_s - start_s_;
  stolen_s_ += times.stolen_s - start_.stolen_s;
  others_s_ += times.busy_s - start_.busy_s - (times.children_s - start_.children_s);
}

LostCores CoreWatch::lost() const {
  if (seconds_ <= 0) return {};
  // The kernel counts in ticks, so that a small time can seem to be negative.
  return {std::max(0.0, stolen_s_ / seconds_), std::max(0.0, others_s_ / seconds_)};
}

}  // namespace edgewire::profile
