#include "graph/available_memory.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <limits>
#include <string>

#include "graph_test.h"

namespace edgewire::graph {

namespace {

/// Folders that look like those of control groups.
class Groups {
 public:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    write_file(folder_ / name, text);
  }
  std::uint64_t free(const std::string& membership) const {
    write("membership", membership);
    return free_in_groups(folder_ / "membership", folder_ / "mounts");
  }

 private:
  TemporaryDirectory folder_;
};

constexpr auto kUnlimited = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("the tightest of the groups above a process counts, without the page cache") {
  const Groups groups;
  CHECK(groups.free("") == kUnlimited);
  CHECK(groups.free("0::/a/b\n") == kUnlimited);
  groups.write("mounts/a/b/memory.max", "max\n");
  groups.write("mounts/a/b/memory.current", "300\n");
  CHECK(groups.free("0::/a/b\n") == kUnlimited);
  groups.write("mounts/a/memory.max", "1000\n");
  groups.write("mounts/a/memory.current", "700\n");
  CHECK(groups.free("0::/a/b\n") == 300);
  groups.write("mounts/a/memory.stat", "anon 100\ninactive_file 150\nactive_file 50\ntotal_active_file 9\n");
  CHECK(groups.free("0::/a/b\n") == 500);
  groups.write("mounts/a/b/memory.max", "200\n");
  CHECK(groups.free("0::/a/b\n") == 0);
  CHECK(groups.free("0::/a\n") == 500);
}

TEST_CASE("groups of version 1, also in a container that sees its own as the root") {
  const Groups groups;
  const std::string membership = "9:cpu,cpuacct:/x\n4:memory:/docker/1\n0::/\n";
  CHECK(groups.free(membership) == kUnlimited);
  groups.write("mounts/memory/memory.limit_in_bytes", "4000\n");
  groups.write("mounts/memory/memory.usage_in_bytes", "3500\n");
  groups.write("mounts/memory/memory.stat",
               "total_inactive_file 1000\ntotal_active_file 500\nactive_file 9\n");
  CHECK(groups.free(membership) == 2000);
  groups.write("mounts/memory/docker/1/memory.limit_in_bytes", "1000\n");
  groups.write("mounts/memory/docker/1/memory.usage_in_bytes", "100\n");
  CHECK(groups.free("5:hugetlb,memory:/docker/1\n") == 900);
  groups.write("mounts/x/memory.limit_in_bytes", "1\n");
  CHECK(groups.free("9:cpu,cpuacct:/x\n") == kUnlimited);
}

}  // namespace edgewire::graph
