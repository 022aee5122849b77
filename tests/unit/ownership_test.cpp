#include "partition/ownership.h"

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/error.h"

using edgewire::partition::Ownership;

namespace {

/// Every vertex has one place, every place one vertex, and the local numbers ascend with the ids.
void check_bijection(const Ownership& ownership) {
  std::vector<std::uint32_t> next(static_cast<std::size_t>(ownership.processes()));
  for (edgewire::VertexId v{}; v < ownership.vertices(); ++v) {
    const auto home = ownership.home(v);
    REQUIRE(home.owner < next.size());
    REQUIRE(home.local == next[home.owner]++);
    REQUIRE(ownership.vertex(home.owner, home.local) == v);
  }
  for (std::uint32_t p = 0; p < next.size(); ++p) CHECK(ownership.count(p) == next[p]);
}

}  // namespace

TEST_CASE("hash ownership is a balanced bijection for any number of processes") {
  for (const std::uint64_t vertices : {0, 1, 2, 7, 1000, 65537}) {
    for (const int processes : {1, 2, 3, 5, 8, 13, 64, 4096}) {
      const auto ownership = Ownership::hash(vertices, processes);
      check_bijection(ownership);
      for (int p = 0; p < processes; ++p) {
        const auto count = ownership.count(static_cast<std::uint32_t>(p));
        CHECK(count >= vertices / processes);
        CHECK(count <= vertices / processes + 1);
      }
    }
  }
}

TEST_CASE("hash ownership divides exactly up to the largest ids") {
  for (const std::uint32_t processes : {2U, 3U, 7U, 4095U, 4096U}) {
    const edgewire::partition::HashOwnership scheme(0xFFFFFFFEULL, processes);
    for (edgewire::VertexId v(0xFFFFFFFDU - 20000); v < 0xFFFFFFFEU; ++v) {
      const auto home = scheme.home(v);
      REQUIRE(home.local == v / processes);
      REQUIRE(scheme.vertex(home.owner, home.local) == v);
    }
  }
}

TEST_CASE("hash ownership spreads every stride of ids") {
  const int processes = 4;
  const auto ownership = Ownership::hash(1 << 16, processes);
  for (const std::uint32_t stride : {2U, 4U, 8U, 64U, 1024U}) {
    std::vector<int> seen(processes);
    for (edgewire::VertexId v{}; v < ownership.vertices(); v += stride) ++seen[ownership.home(v).owner];
    for (const int count : seen) CHECK(count >= static_cast<int>((1 << 16) / stride / processes) / 3);
  }
}

TEST_CASE("ranges are balanced by edges") {
  std::vector<std::uint64_t> offsets{0};
  for (std::uint64_t v = 0; v < 10000; ++v) offsets.push_back(offsets.back() + (v < 100 ? 900 : 1));
  for (const int processes : {1, 2, 3, 8}) {
    const auto ownership = Ownership::ranges(offsets, processes);
    check_bijection(ownership);
    std::uint32_t v = 0;
    for (int p = 0; p < processes; ++p) {
      const std::uint32_t end = v + ownership.count(static_cast<std::uint32_t>(p));
      const auto edges = static_cast<double>(offsets[end] - offsets[v]);
      CHECK(std::abs(edges - static_cast<double>(offsets.back()) / processes) <= 900);  // one vertex
      v = end;
    }
  }
}

TEST_CASE("ranges of graphs smaller than the number of processes, or with no edges") {
  const std::vector<std::uint64_t> one_edge{0, 0, 1}, none{0}, no_edges(101);
  check_bijection(Ownership::ranges(one_edge, 8));
  check_bijection(Ownership::ranges(none, 3));
  const auto even = Ownership::ranges(no_edges, 4);
  check_bijection(even);
  for (std::uint32_t p = 0; p < 4; ++p) CHECK(even.count(p) == 25);
}

TEST_CASE("partition files") {
  char path[] = "/tmp/edgewire-partition-XXXXXX";
  const int fd = mkstemp(path);
  REQUIRE(fd >= 0);
  close(fd);
  const auto write = [&path](const char* text) { std::ofstream(path) << text; };
  const auto read = [&path](std::uint64_t vertices) { return Ownership::from_file(path, vertices, 3); };
  write("2\n0\r\n2\n1\n");
  const auto ownership = read(4);
  check_bijection(ownership);
  CHECK(ownership.home(2).owner == 2);
  CHECK(ownership.count(2) == 2);
  CHECK_THROWS_AS(read(3), edgewire::Error);
  CHECK_THROWS_AS(read(5), edgewire::Error);
  for (const char* bad : {"0\n4096\n", "0\n-1\n", "0\n1 2\n", "0\n\n", "0\nx\n", "0\n99999999999\n"}) {
    write(bad);
    try {
      read(2);
      FAIL("accepted: ", bad);
    } catch (const edgewire::Error& error) {
      CHECK(std::string(error.what()).find("line 2") != std::string::npos);
    }
  }
  const auto cause = [&read](std::uint64_t vertices) {
    try {
      read(vertices);
    } catch (const edgewire::Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  write("0\n1\n1\n");
  CHECK(cause(3).find("2 parts for 3 processes: start as many") != std::string::npos);
  write("0\n1\n2\n3\n");
  CHECK(cause(4).find("4 parts for 3 processes: start as many") != std::string::npos);
  write("0\n2\n2\n0\n");
  CHECK(cause(4).find("no vertex is in part 1 of 3") != std::string::npos);
  write("");
  CHECK(cause(0) == "accepted");  // a graph without vertices
  std::remove(path);
  CHECK_THROWS_AS(read(2), edgewire::Error);
}

TEST_CASE("a word that names neither an ownership nor a file is refused, and what was meant is said") {
  const std::vector<std::uint64_t> offsets{0, 1, 2};
  const auto refused = [&](const std::string& how) {
    std::string said;
    const auto note = [&](const auto& work) {
      try {
        work();
        said += "accepted;";
      } catch (const edgewire::UsageError& error) {
        said += std::string(error.what()) + ";";
      }
    };
    note([&] { edgewire::partition::check_ownership_name(how); });
    note([&] { Ownership::create(how, offsets, 2); });
    return said;
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(refused("hilbrt"), "did you mean hilbert?"));
  CHECK(has(refused("HASH"),
            "none of hash, ranges, hilbert, grid, auto, and no file here; did you mean hash?"));
  CHECK(has(refused("rang"), "none of hash, ranges, and no file here; did you mean ranges?"));
  CHECK(has(refused("parts.txt"), "as ./parts.txt"));
  CHECK(has(refused("auto,parts.txt"), "there is no file parts.txt here"));
  for (const char* how : {"hilbrt", "parts.txt", "auto,parts.txt", "auto,", "auto,hilbert", ""})
    CHECK_FALSE(has(refused(how), "accepted"));
  CHECK(refused("auto") ==
        "accepted;--ownership auto: nothing is chosen here: name hash, ranges, hilbert, grid or a partition "
        "file;");
  for (const char* how : {"hash", "ranges", "range", "hilbert", "grid"})
    CHECK(refused(how) == "accepted;accepted;");
}

TEST_CASE("a path, and what is there, is a partition file, whatever it is called") {
  using edgewire::partition::check_ownership_name;
  char folder[] = "/tmp/edgewire-names-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  const std::vector<std::uint64_t> offsets{0, 1, 2};
  for (const char* name : {"hilbert", "auto", "parts"}) std::ofstream(name) << "1\n0\n";
  for (const char* how : {"parts", "./parts", "./hilbert", "./auto"})
    CHECK(Ownership::create(how, offsets, 2).home(edgewire::VertexId{}).owner == 1);
  check_ownership_name("auto,parts");
  check_ownership_name("auto,./hilbert");
  check_ownership_name("./nowhere");  // only reading says that it is not there
  const auto cause = [&](const char* how) {
    try {
      Ownership::create(how, offsets, 2);
    } catch (const edgewire::UsageError&) {
      return std::string("usage");
    } catch (const edgewire::Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(cause("./nowhere") == "./nowhere: cannot read the partition file: No such file or directory");
  std::filesystem::create_directory("folder");
  CHECK(cause("folder") == "folder: cannot read the partition file: it is a folder");
  CHECK(cause("/dev/null") == "/dev/null: cannot read the partition file: it is not a regular file");
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}
