#include "profile/core_watch.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace edgewire::profile {
namespace {

TEST_CASE("cores that worked for others are lost, those that worked for the runs are not") {
  CoreWatch watch;
  CHECK(watch.lost().all() == 0);
  // Two seconds: programs had 3 core seconds, 2 of them the run's; the hypervisor took 1.
  watch.begin({10, 5, 1}, 100);
  watch.end({13, 6, 3}, 102);
  CHECK(watch.lost().to_programs == doctest::Approx(0.5));
  CHECK(watch.lost().to_hypervisor == doctest::Approx(0.5));
  // Between runs nothing counts. Two more seconds, only the run's.
  watch.begin({50, 60, 3}, 200);
  watch.end({54, 60, 7}, 202);
  CHECK(watch.lost().to_programs == doctest::Approx(0.25));
  CHECK(watch.lost().to_hypervisor == doctest::Approx(0.25));
}

TEST_CASE("ticks that come late make nothing negative") {
  CoreWatch watch;
  watch.begin({10, 0, 0}, 0);
  watch.end({10.5, 0, 0.6}, 1);
  CHECK(watch.lost().to_programs == 0);
}

TEST_CASE("the times of cores come from /proc/stat, without interrupts and waiting") {
  const auto root =
      std::filesystem::temp_directory_path() / ("edgewire-core-watch-" + std::to_string(getpid()));
  std::filesystem::create_directories(root / "proc");
  std::ofstream(root / "proc/stat") << "cpu  100 20 3 4000 500 60 70 800 9 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
  const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto times = core_times(root);
  CHECK(times.busy_s == doctest::Approx(123 * tick_s));
  CHECK(times.stolen_s == doctest::Approx(800 * tick_s));
  std::filesystem::remove_all(root);
  CHECK(core_times(root).busy_s == 0);
  CHECK(core_times(root).stolen_s == 0);
}

}  // namespace
}  // namespace edgewire::profile
