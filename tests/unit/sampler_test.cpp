#include "profile/sampler.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <utility>

#include "base/seconds.h"
#include "profile/balance.h"
#include "profile/timeline.h"

namespace edgewire::profile {
namespace {

namespace fs = std::filesystem;

/// A made-up system below a fresh folder.
class System {
 public:
  System() : root_(fs::temp_directory_path() / "edgewire-sampler-XXXXXX") {
    std::string name = root_.string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root_ = name;
  }
  ~System() { fs::remove_all(root_); }
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::string root() const { return root_.string(); }

 private:
  fs::path root_;
};

/// [name]: what the gauge says, in its unit.
std::map<std::string, double> read(const std::vector<Gauge>& gauges) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // within one, what was read before stays
  std::map<std::string, double> values;
  for (const auto& gauge : gauges) values[gauge.name + ", " + gauge.unit] = gauge.read() * gauge.scale;
  return values;
}

void fill(const System& system, int times) {
  const auto count = [times](long long one) { return std::to_string(one * times); };
  system.write("proc/stat",
               "cpu  " + count(100) + " 0 " + count(50) + " 999 888 0 0 " + count(7) + " 0 0\ncpu0 1 2 3\n");
  system.write("proc/self/statm", "1000 " + count(250) + " 3 4 5 6 7\n");
  system.write("proc/self/net/dev",
               "Inter-|   Receive                                                |  Transmit\n"
               " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
               "    lo: 7 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n"
               "  eth0: " +
                   count(125'000'000) + " 9 0 0 0 0 0 0 " + count(250'000'000) + " 8 0 0 0 0 0 0\n");
  system.write("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", count(31'250'000) + "\n");
  system.write("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", count(62'500'000) + "\n");
  system.write("sys/class/infiniband/mlx5_0/ports/2/counters/port_rcv_data", "5\n");
  system.write("sys/class/infiniband/mlx5_0/ports/2/counters/port_xmit_data", "6\n");
  system.write("sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts", count(70) + "\n");
  system.write("sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts", count(80) + "\n");
  system.write("sys/block/nvme0n1/stat", "  11 12 " + count(2000) + " 14 15 16 " + count(4000) + " 18 19\n");
  system.write("sys/block/loop0/stat", "1 2 3 4 5 6 7 8 9\n");
}

TEST_CASE("cores, memory, interfaces, RDMA ports and disks are read from where the system tells them") {
  const System system;
  fill(system, 1);
  const auto gauges = system_gauges(system.root());
  auto values = read(gauges);
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  CHECK(values["system, cores"] == doctest::Approx(150 / ticks));
  CHECK(values["stolen, cores"] == doctest::Approx(7 / ticks));
  CHECK(values["resident memory, MB"] ==
        doctest::Approx(250e-6 * static_cast<double>(sysconf(_SC_PAGESIZE))));
  CHECK(values["eth0 received, Gbit/s"] == doctest::Approx(1));
  CHECK(values["eth0 sent, Gbit/s"] == doctest::Approx(2));
  CHECK(values["lo sent, Gbit/s"] == doctest::Approx(56e-9));
  CHECK(values["mlx5_0 port 1 received, Gbit/s"] == doctest::Approx(1));  // counted in words of 4 bytes
  CHECK(values["mlx5_0 port 1 sent, Gbit/s"] == doctest::Approx(2));
  CHECK(values["mlx5_0 port 2 received, Gbit/s"] == doctest::Approx(160e-9));
  CHECK(values["rxe0 port 1 received, packets/s"] == 70);
  CHECK(values["rxe0 port 1 sent, packets/s"] == 80);
  CHECK(values["nvme0n1 read, MB/s"] == doctest::Approx(1.024));
  CHECK(values["nvme0n1 written, MB/s"] == doctest::Approx(2.048));
  CHECK(values.count("loop0 read, MB/s") == 0);
  CHECK(gauges.size() == 15);

  fill(system, 3);  // all have moved on
  values = read(gauges);
  CHECK(values["system, cores"] == doctest::Approx(450 / ticks));
  CHECK(values["mlx5_0 port 1 sent, Gbit/s"] == doctest::Approx(6));
  CHECK(values["nvme0n1 read, MB/s"] == doctest::Approx(3 * 1.024));
}

TEST_CASE("a system that tells nothing gives gauges without values") {
  const System system;
  for (const auto& gauge : system_gauges(system.root())) CHECK(gauge.read() <= 0);
}

TEST_CASE("counts become rates, levels stay, and time goes on") {
  double count = 0;
  std::atomic<int> reads{0};  // guards nothing
  std::vector<Gauge> gauges;
  gauges.push_back({"count", "things/s", 1, true, [&] { return ++reads, count += 10; }});
  gauges.push_back({"level", "things", 2, false, [] { return 21.0; }});
  Sampler sampler(std::chrono::milliseconds(5), std::move(gauges));
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
       reads < 6 && std::chrono::steady_clock::now() < end;)
    std::this_thread::yield();
  const auto samples = sampler.stop();
  REQUIRE(samples.at_ns.size() > 2);
  REQUIRE(samples.series.size() == 2);
  for (std::size_t i = 1; i + 1 < samples.at_ns.size(); ++i) {  // the last one may be two
    const double seconds = static_cast<double>(samples.at_ns[i] - samples.at_ns[i - 1]) * 1e-9;
    CHECK(static_cast<double>(samples.series[0].values[i]) == doctest::Approx(10 / seconds).epsilon(0.001));
    CHECK(samples.series[1].values[i] == 42);
  }
}

TEST_CASE("a run that ends before the first sample is due has one, up to its end") {
  double count = 5;
  std::vector<Gauge> gauges;
  gauges.push_back({"count", "things/s", 1, true, [&] { return std::exchange(count, 25); }});
  const auto start_ns = now_ns();
  Sampler sampler(std::chrono::hours(1), std::move(gauges));
  const auto samples = sampler.stop();
  REQUIRE(samples.at_ns.size() == 1);
  REQUIRE(samples.series[0].values.size() == 1);
  const double seconds = static_cast<double>(samples.at_ns[0] - start_ns) * 1e-9;
  CHECK(static_cast<double>(samples.series[0].values[0]) >= 20 / seconds);
}

TEST_CASE("a short end becomes a part of the last sample") {
  Samples samples;
  samples.at_ns = {100, 200, 225};
  samples.series = {{"count", "things/s", {1, 10, 20}}, {"level", "things", {7, 4, 8}}};
  join_last(samples, 0.25);
  CHECK(samples.at_ns == std::vector<std::uint64_t>{100, 225});
  CHECK(samples.series[0].values == std::vector<float>{1, 12.5});
  CHECK(samples.series[1].values == std::vector<float>{7, 5});
}

TEST_CASE("samples of any length become intervals of equal length that hold the same in all") {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  // 0 to 1 s: 1; 1 to 1.5 s: 0; 1.5 to 4 s: 0.4.
  const std::vector<std::uint64_t> ends{10 * kSecond + kSecond, 10 * kSecond + kSecond * 3 / 2, 14 * kSecond};
  const auto two = in_intervals(ends, {1, 0, 0.4}, 10 * kSecond, 2, 2);
  REQUIRE(two.size() == 2);
  CHECK(two[0] == doctest::Approx((1 + 0.5 * 0.4) / 2));
  CHECK(two[1] == doctest::Approx(0.4));
  const auto eight = in_intervals(ends, {1, 0, 0.4}, 10 * kSecond, 0.5, 8);
  const std::vector<double> expected{1, 1, 0, 0.4, 0.4, 0.4, 0.4, 0.4};
  for (std::size_t i = 0; i < eight.size(); ++i) CHECK(eight[i] == doctest::Approx(expected[i]));
  CHECK(in_intervals({}, {}, 0, 1, 2) == std::vector<double>{0, 0});
}

}  // namespace
}  // namespace edgewire::profile
