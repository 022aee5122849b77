#include <doctest/doctest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>

#include "base/error.h"
#include "base/rooms.h"
#include "edgewire/detail/memory.h"
#include "edgewire/detail/page_vector.h"
#include "machines.h"
#include "topology/machine.h"
#include "topology/placement.h"

namespace edgewire::topology {
namespace {

/// A file of tests/data: below the folder that EDGEWIRE_TEST_DATA names, else below the working directory.
std::string data_file(const std::string& name) {
  const char* folder = std::getenv("EDGEWIRE_TEST_DATA");
  std::string path = std::string(folder == nullptr ? "tests/data" : folder) + "/" + name;
  INFO("EDGEWIRE_TEST_DATA names the folder tests/data of the sources; without it, run this there");
  REQUIRE_MESSAGE(std::ifstream(path).good(), path << " is missing");
  return path;
}

Machine two_nodes() { return from_xml(data_file("two_nodes.xml")); }

std::set<int> nodes_of(const Placement& placement) {
  std::set<int> nodes;
  for (const auto& worker : placement.workers) nodes.insert(worker.node);
  return nodes;
}

/// True when `work` ends with true in a process of its own, whose limits and places are then nobody else's.
bool in_child(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    bool ok = false;
    try {
      ok = work();
    } catch (...) {
    }
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

TEST_CASE("network cards are shared among the processes of a machine") {
  using V = std::vector<int>;
  const auto share = [](const V& cards, const V& processes) { return share_cards(cards, processes); };
  CHECK(share({0, 1}, {0, 1}) == V{0, 1});                       // each its near one
  CHECK(share({1, 0}, {0, 1, 0, 1}) == V{1, 0, 1, 0});           // whatever the order
  CHECK(share({0, 0, 1, 1}, {0, 1, 0, 1}) == V{0, 2, 1, 3});     // in turns among equals
  CHECK(share({0, 0}, {0, 0, 0}) == V{0, 1, 0});                 // more processes than cards
  CHECK(share({0}, {0, 1, 1}) == V{0, 0, 0});                    // far ones take what there is
  CHECK(share({0, 1, 0}, {2, 0, 3, 1, 3}) == V{2, 0, 0, 1, 1});  // and leave the near ones theirs
  CHECK(share({-1, -1}, {0, 1, 0, 1}) == V{0, 1, 0, 1});         // nothing is known
  CHECK(share({-1, -1}, {-1, -1}) == V{0, 1});
  CHECK(share({}, {0, 1}) == V{-1, -1});
  const Machine machine = with_cores({4, 4});  // as placed by place()
  V nodes;
  for (int rank = 0; rank < 4; ++rank) nodes.push_back(place(machine, rank, 4, 2).workers[0].node);
  CHECK(share({0, 1, 0, 1}, nodes) == V{0, 1, 2, 3});
}

TEST_CASE("this machine has cores, a node, caches and memory") {
  const Machine machine = discover();
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
  REQUIRE(!machine.nodes.empty());
  REQUIRE(!machine.cores.empty());
  CHECK(machine.cores.size() <= static_cast<std::size_t>(CPU_COUNT(&allowed)));
  for (const auto& core : machine.cores) {
    CHECK(CPU_ISSET(static_cast<std::size_t>(core.cpu), &allowed));
    CHECK(core.node < static_cast<int>(machine.nodes.size()));
  }
  CHECK(machine.memory_bytes > 1 << 20);
  CHECK(machine.l1_bytes >= 4096);
  CHECK(machine.l2_bytes >= machine.l1_bytes);
}

TEST_CASE("only the cores that this process may use count") {
#if defined(__SANITIZE_THREAD__)
  MESSAGE("skipped: the thread sanitizer has a thread of its own, which is not pinned");
  return;
#endif
  const int cpu = discover().cores.back().cpu;
  CHECK(in_child([&] {
    if (!pin_this_thread({cpu, 0})) return false;
    const Machine machine = discover();
    return machine.cores.size() == 1 && machine.cores[0].cpu == cpu && machine.nodes.size() == 1;
  }));
}

TEST_CASE("a pinned thread runs where it was told") {
  const int cpu = discover().cores.back().cpu;
  CHECK(in_child([&] { return pin_this_thread({cpu, 0}) && sched_getcpu() == cpu; }));
  CHECK(pin_this_thread({-1, 0}));
  CHECK_FALSE(pin_this_thread({1'000'000, 0}));
}

TEST_CASE("cards are found where they are asked for") {
  CHECK(discover().nics.empty());
  const Machine machine = discover(Cards::found);
  struct if_nameindex* const all = if_nameindex();
  REQUIRE(all != nullptr);
  for (const auto* one = all; one->if_name != nullptr; ++one)
    CHECK((one->if_name == std::string("lo") ||
           std::ranges::count(machine.nics, one->if_name, &Nic::name) == 1));
  if_freenameindex(all);
}

TEST_CASE("another machine is read from its XML") {
  const Machine machine = two_nodes();
  REQUIRE(machine.nodes.size() == 2);
  REQUIRE(machine.cores.size() == 16);
  CHECK(machine.nodes[1].os_index == 1);
  CHECK(machine.nodes[1].memory_bytes == 8ULL << 30);
  CHECK(machine.memory_bytes == 16ULL << 30);
  // Two hardware threads a core: the first one stands for it.
  CHECK(machine.cores[1].cpu == 2);
  CHECK(machine.cores[8].cpu == 16);
  CHECK(machine.cores[8].node == 1);
  CHECK(machine.cores[8].package == 1);
  CHECK(machine.l1_bytes == 32 << 10);
  CHECK(machine.l2_bytes == 1 << 20);
  CHECK(machine.l3_bytes == 32 << 20);
}

TEST_CASE("threads stand for cores where there are none, and caches have usual sizes") {
  const Machine machine = from_xml(data_file("bare.xml"));
  CHECK(machine.cores.size() == 3);
  CHECK(machine.nodes.size() == 1);
  CHECK(machine.l1_bytes == 32 << 10);
  CHECK(machine.l2_bytes == 1 << 20);
  CHECK(machine.l3_bytes == 0);
}

TEST_CASE("a file that is no whole hwloc XML is refused by name") {
  std::string folder = "/tmp/edgewire-XXXXXX";
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  const std::string path = folder + "/machine.xml";
  std::ifstream whole_file(data_file("two_nodes.xml"));
  const std::string whole(std::istreambuf_iterator<char>(whole_file), {});
  const std::string why = path + ": not a whole hwloc XML file (make one with: lstopo FILE.xml)";
  std::string odd_word = whole;  // hwloc 2.9 crashes on this one
  odd_word.replace(odd_word.find("complete_cpuset"), 15, "completm_cpuset");
  for (const std::string& text : {std::string{}, std::string("hello\n"), whole.substr(0, 3000), odd_word}) {
    std::ofstream(path) << text;
    CHECK_THROWS_WITH_AS(from_xml(path), why.c_str(), Error);
  }
  CHECK_THROWS_WITH_AS(from_xml(folder), (folder + ": cannot read: not a file").c_str(), Error);
  std::remove(path.c_str());
  CHECK_THROWS_WITH_AS(from_xml(path), (path + ": cannot read: No such file or directory").c_str(), Error);
  rmdir(folder.c_str());
}

TEST_CASE("processes spread over the nodes and stay within one") {
  const Machine machine = two_nodes();
  const Placement first = place(machine, 0, 2, 8);
  const Placement second = place(machine, 1, 2, 8);
  CHECK_FALSE(first.oversubscribed);
  CHECK(first.workers[0].cpu == 0);
  CHECK(first.workers[7].cpu == 14);
  CHECK(second.workers[0].cpu == 16);
  CHECK(nodes_of(first) == std::set{0});
  CHECK(nodes_of(second) == std::set{1});
  CHECK(nodes_of(place(machine, 0, 1, 8)).size() == 1);
  CHECK(nodes_of(place(machine, 0, 1, 9)).size() == 2);
}

TEST_CASE("no core is given twice, and only the processes that fit in no node span two") {
  for (const auto& cores : {std::vector{8, 8}, {2, 7}, {3, 3, 3, 3}, {5}, {1, 1, 1, 9}, {16, 16, 16, 16}}) {
    const Machine machine = with_cores(cores);
    const int all = static_cast<int>(machine.cores.size());
    for (int workers = 1; workers <= all; ++workers) {
      const int processes = all / workers;
      int fit = 0;
      for (const int of_node : cores) fit += of_node / workers;
      std::set<int> used;
      int within_one = 0;
      for (int rank = 0; rank < processes; ++rank) {
        const Placement placement = place(machine, rank, processes, workers);
        REQUIRE(placement.workers.size() == static_cast<std::size_t>(workers));
        for (const auto& worker : placement.workers) {
          REQUIRE(used.insert(worker.cpu).second);
          REQUIRE(machine.cores[static_cast<std::size_t>(worker.cpu)].node == worker.node);
        }
        within_one += nodes_of(placement).size() == 1 ? 1 : 0;
      }
      CHECK(within_one >= std::min(fit, processes));
    }
  }
}

TEST_CASE("more workers than cores are not pinned, and their memory is spread") {
  const Machine machine = with_cores({2, 2});
  const Placement placement = place(machine, 3, 4, 2);
  CHECK(placement.oversubscribed);
  REQUIRE(placement.workers.size() == 2);
  CHECK(placement.workers[0].cpu == -1);
  CHECK(placement.workers[0].node == 1);
  CHECK(place(machine, 0, 4, 2).workers[0].node == 0);
}

TEST_CASE("memory is zeroed, aligned and writable to the last byte") {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{4097}, std::size_t{2} << 20, (std::size_t{5} << 20) + 3}) {
    const NodeMemory memory(bytes, discover().nodes[0].os_index, "a test");
    const auto data = memory.as<unsigned char>();
    REQUIRE(data.size() == bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(data.data());
    CHECK(address % (bytes >= 2 << 20 ? 2 << 20 : 4096) == 0);
    for (const unsigned char byte : data) REQUIRE(byte == 0);
    data.back() = 1;
    CHECK(data.back() == 1);
  }
  CHECK(NodeMemory(0, -1, "nothing").as<int>().empty());
}

TEST_CASE("staggered arrays start at different cache lines of a page") {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{4} << 20}) {
    std::vector<NodeMemory> arrays;
    std::set<std::uintptr_t> starts;
    for (int i = 0; i < 64; ++i) {
      arrays.emplace_back(bytes, -1, "a test", Begin::staggered);
      const auto data = arrays.back().as<unsigned char>();
      REQUIRE(data.size() == bytes);
      starts.insert(reinterpret_cast<std::uintptr_t>(data.data()) % 4096);
      data.front() = data.back() = 1;
    }
    CHECK(starts.size() == 64);
    for (const std::uintptr_t start : starts) CHECK(start % 64 == 0);
  }
  PageVector<float> first(1 << 20), second(1 << 20);
  CHECK(reinterpret_cast<std::uintptr_t>(first.data()) % 4096 !=
        reinterpret_cast<std::uintptr_t>(second.data()) % 4096);
}

TEST_CASE("moved memory has one owner") {
  NodeMemory first(1 << 20, -1, "a test");
  first.as<int>()[7] = 42;
  NodeMemory second(std::move(first));
  NodeMemory third(4096, -1, "another");
  third = std::move(second);
  CHECK(third.as<int>()[7] == 42);
}

TEST_CASE("no memory is an error in words") {
  const std::size_t huge = std::size_t{1} << 62;
  CHECK_THROWS_WITH_AS(NodeMemory(huge, -1, "the tiles"),
                       "cannot get 4611686018427387904 bytes of memory for the tiles", Error);
  CHECK_THROWS_AS(NodeMemory(SIZE_MAX, -1, "the tiles"), Error);
  // A limit of the process, as batch systems set it. (The address space holds more under a sanitizer.)
  CHECK(in_child([] {
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = 1 << 20;
    if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
    try {
      const NodeMemory memory(64 << 20, -1, "the inbox");
      return false;
    } catch (const Error& error) {
      return std::string(error.what()) ==
             "cannot get 67108864 bytes of memory for the inbox (`ulimit -v` allows 1024 KiB: raise it with "
             "`ulimit -v unlimited`)";
    }
  }));
}

TEST_CASE("asking for pages never harms what is there") {
  NodeMemory memory(6 << 20, -1, "a test");
  const auto data = memory.as<unsigned char>();
  for (std::size_t i = 0; i < data.size(); i += 4096) data[i] = static_cast<unsigned char>(i >> 12);
  for (const int node : {-1, 0, 1023, 1'000'000}) prepare_pages(data.data() + 1, data.size() - 2, node);
  prepare_pages(nullptr, 0, 0);
  for (std::size_t i = 0; i < data.size(); i += 4096) REQUIRE(data[i] == static_cast<unsigned char>(i >> 12));
}

}  // namespace
}  // namespace edgewire::topology
