#include "base/control_group.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace edgewire::topology {
namespace {

/// Folders that look like those of control groups.
class Groups {
 public:
  Groups() {
    std::string name = std::filesystem::temp_directory_path() / "edgewire-groups-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~Groups() { std::filesystem::remove_all(folder_); }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  /// Those of a process with this file /proc/PID/cgroup.
  ControlGroups of(const std::string& membership) const {
    write("membership", membership);
    return {folder_ / "membership", folder_ / "mounts"};
  }

 private:
  std::filesystem::path folder_;
};

constexpr auto kUnlimited = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("the tightest of the groups above a process counts, without the page cache") {
  const Groups groups;
  CHECK(groups.of("").free_memory() == kUnlimited);
  CHECK(groups.of("0::/a/b\n").free_memory() == kUnlimited);
  groups.write("mounts/a/b/memory.max", "max\n");
  groups.write("mounts/a/b/memory.current", "300\n");
  CHECK(groups.of("0::/a/b\n").free_memory() == kUnlimited);
  groups.write("mounts/a/memory.max", "1000\n");
  groups.write("mounts/a/memory.current", "700\n");
  CHECK(groups.of("0::/a/b\n").free_memory() == 300);
  groups.write("mounts/a/memory.stat", "anon 100\ninactive_file 150\nactive_file 50\ntotal_active_file 9\n");
  CHECK(groups.of("0::/a/b\n").free_memory() == 500);
  groups.write("mounts/a/b/memory.max", "200\n");
  CHECK(groups.of("0::/a/b\n").free_memory() == 0);
  CHECK(groups.of("0::/a\n").free_memory() == 500);
}

TEST_CASE("groups of version 1, also in a container that sees its own as the root") {
  const Groups groups;
  const std::string membership = "9:cpu,cpuacct:/x\n4:memory:/docker/1\n0::/\n";
  CHECK(groups.of(membership).free_memory() == kUnlimited);
  groups.write("mounts/memory/memory.limit_in_bytes", "4000\n");
  groups.write("mounts/memory/memory.usage_in_bytes", "3500\n");
  groups.write("mounts/memory/memory.stat",
               "total_inactive_file 1000\ntotal_active_file 500\nactive_file 9\n");
  CHECK(groups.of(membership).free_memory() == 2000);
  groups.write("mounts/memory/docker/1/memory.limit_in_bytes", "1000\n");
  groups.write("mounts/memory/docker/1/memory.usage_in_bytes", "100\n");
  CHECK(groups.of("5:hugetlb,memory:/docker/1\n").free_memory() == 900);
  groups.write("mounts/x/memory.limit_in_bytes", "1\n");
  CHECK(groups.of("9:cpu,cpuacct:/x\n").free_memory() == kUnlimited);
}

TEST_CASE("the least limit of memory of all groups above a process, whatever is used") {
  const Groups groups;
  CHECK(groups.of("0::/a/b\n").memory_limit() == kUnlimited);
  groups.write("mounts/a/b/memory.max", "max\n");
  groups.write("mounts/a/memory.max", "1000\n");
  CHECK(groups.of("0::/a/b\n").memory_limit() == 1000);
  groups.write("mounts/a/b/memory.max", "800\n");
  CHECK(groups.of("0::/a/b\n").memory_limit() == 800);
  groups.write("mounts/memory/memory.limit_in_bytes", "500\n");
  CHECK(groups.of("4:memory:/gone\n0::/a/b\n").memory_limit() == 500);
}

TEST_CASE("kills for want of memory are counted in the nearest group that counts them") {
  const Groups groups;
  CHECK(!groups.of("0::/a/b\n").memory_kills());
  groups.write("mounts/a/memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n");
  CHECK(groups.of("0::/a/b\n").memory_kills() == 2);
  groups.write("mounts/a/b/memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 0\n");
  CHECK(groups.of("0::/a/b\n").memory_kills() == 0);
  groups.write("mounts/memory/x/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n");
  CHECK(groups.of("4:memory:/x\n").memory_kills() == 7);
  groups.write("mounts/memory/x/memory.oom_control",
               "oom_kill_disable 0\nunder_oom 0\n");  // before Linux 4.13
  CHECK(!groups.of("4:memory:/x\n").memory_kills());
}

TEST_CASE("the least CPU quota of all groups above a process") {
  const Groups groups;
  CHECK(groups.of("0::/a/b\n").cpu_quota() == 0);
  groups.write("mounts/cpu.max", "max 100000\n");
  groups.write("mounts/a/b/cpu.max", "max 100000\n");
  CHECK(groups.of("0::/a/b\n").cpu_quota() == 0);
  groups.write("mounts/a/cpu.max", "150000 100000\n");
  CHECK(groups.of("0::/a/b\n").cpu_quota() == 1.5);
  groups.write("mounts/a/b/cpu.max", "5000 10000\n");
  CHECK(groups.of("0::/a/b\n").cpu_quota() == 0.5);
  CHECK(groups.of("0::/a\n").cpu_quota() == 1.5);
  groups.write("mounts/a/b/cpu.max", "torn");
  CHECK(groups.of("0::/a/b\n").cpu_quota() == 1.5);
}

TEST_CASE("CPU quotas of version 1, under either name of the folder") {
  const Groups groups;
  groups.write("mounts/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
  groups.write("mounts/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  CHECK(groups.of("9:cpu,cpuacct:/x\n0::/\n").cpu_quota() == 0);
  groups.write("mounts/cpu,cpuacct/x/cpu.cfs_quota_us", "250000\n");
  CHECK(groups.of("9:cpu,cpuacct:/x\n0::/\n").cpu_quota() == 2.5);
  groups.write("mounts/cpu/cpu.cfs_quota_us", "75000\n");
  groups.write("mounts/cpu/cpu.cfs_period_us", "50000\n");
  CHECK(groups.of("9:cpu,cpuacct:/x\n0::/\n").cpu_quota() == 1.5);
  CHECK(groups.of("9:cpuacct:/x\n").cpu_quota() == 0);  // what another controller counts is no limit
}

TEST_CASE("a quota is rounded down to whole cores, and one is always there") {
  CHECK(within_quota(8, 0) == 8);
  CHECK(within_quota(8, 8) == 8);
  CHECK(within_quota(8, 64.5) == 8);
  CHECK(within_quota(8, 7.99) == 7);
  CHECK(within_quota(8, 1.5) == 1);
  CHECK(within_quota(8, 0.1) == 1);
}

TEST_CASE("threads are counted within what this process may use") {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
  CHECK(usable_threads() == within_quota(CPU_COUNT(&allowed), ControlGroups{}.cpu_quota()));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &one);
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  CHECK(usable_threads() == 1);
  REQUIRE(sched_setaffinity(0, sizeof(allowed), &allowed) == 0);
}

}  // namespace
}  // namespace edgewire::topology
