#include "topology/machine.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <hwloc.h>
#include <net/if.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/control_group.h"
#include "base/error.h"
#include "base/needed_calls.h"

namespace edgewire::topology {
namespace {

constexpr std::uint64_t kUsualL1Bytes = 32 << 10;
constexpr std::uint64_t kUsualL2Bytes = 1 << 20;

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

Topology prepare(Cards cards) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw Error("hwloc: cannot start: no memory");
  Topology topology(raw, hwloc_topology_destroy);
  hwloc_topology_set_io_types_filter(
      raw, cards == Cards::found ? HWLOC_TYPE_FILTER_KEEP_IMPORTANT : HWLOC_TYPE_FILTER_KEEP_NONE);
  // Cards are found through sysfs without "pci", which reads a list of all the world's cards, and leaks it.
  // The others start drivers of GPUs, and "gl" tries ten X11 displays. An hwloc that lacks one is no fault.
  for (const char* unused : {"pci", "gl", "opencl", "cuda", "nvml", "rsmi", "levelzero"})
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, unused);
  return topology;
}

/// Calls `visit` for every object of a type.
template <class Visit>
void for_type(hwloc_topology_t topology, hwloc_obj_type_t type, Visit visit) {
  for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology, type, nullptr); object != nullptr;
       object = hwloc_get_next_obj_by_type(topology, type, object))
    visit(object);
}

/// Returns the node that holds a thread's memory: the largest, where fast and large memory are apart.
hwloc_obj_t node_of(hwloc_topology_t topology, hwloc_const_cpuset_t cpus) {
  hwloc_obj_t best = nullptr;
  for_type(topology, HWLOC_OBJ_NUMANODE, [&](hwloc_obj_t node) {
    if (hwloc_bitmap_intersects(node->cpuset, cpus) &&
        (best == nullptr || node->attr->numanode.local_memory > best->attr->numanode.local_memory))
      best = node;
  });
  return best;
}

/// Returns the index of a node in machine.nodes, which it joins when it is new.
int index_of(Machine& machine, hwloc_obj_t node) {
  const int os_index = node == nullptr ? 0 : static_cast<int>(node->os_index);
  const auto found = std::ranges::find(machine.nodes, os_index, &Node::os_index);
  const int index = static_cast<int>(found - machine.nodes.begin());
  if (found == machine.nodes.end())
    machine.nodes.push_back({os_index, node == nullptr ? 0 : node->attr->numanode.local_memory});
  return index;
}

void add_cores(hwloc_topology_t topology, Machine& machine) {
  std::set<hwloc_obj_t> seen;
  for_type(topology, HWLOC_OBJ_PU, [&](hwloc_obj_t thread) {
    // Some virtual machines show threads and no cores: then each thread is one.
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, thread);
    if (core != nullptr && !seen.insert(core).second) return;
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, thread);
    machine.cores.push_back({static_cast<int>(thread->os_index),
                             index_of(machine, node_of(topology, thread->cpuset)),
                             package == nullptr ? 0 : static_cast<int>(package->logical_index)});
  });
  std::ranges::stable_sort(machine.cores, {}, &Core::node);
}

/// Returns the smallest cache of a kind, so that what fits there fits for every core; 0 when there is none.
std::uint64_t smallest_cache(hwloc_topology_t topology, hwloc_obj_type_t type) {
  std::uint64_t bytes = 0;
  for_type(topology, type, [&](hwloc_obj_t cache) {
    const std::uint64_t size = cache->attr->cache.size;
    if (size != 0 && (bytes == 0 || size < bytes)) bytes = size;
  });
  return bytes;
}

void add_nics(hwloc_topology_t topology, Machine& machine) {
  for_type(topology, HWLOC_OBJ_OS_DEVICE, [&](hwloc_obj_t device) {
    if (device->attr->osdev.type != HWLOC_OBJ_OSDEV_NETWORK &&
        device->attr->osdev.type != HWLOC_OBJ_OSDEV_OPENFABRICS)
      return;
    const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, device);
    const bool somewhere =
        machine.nodes.size() == 1 || hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE) == 1 ||
        (near != nullptr && near->cpuset != nullptr && hwloc_bitmap_weight(near->nodeset) == 1);
    const hwloc_obj_t node = somewhere && near != nullptr ? node_of(topology, near->cpuset) : nullptr;
    const auto found =
        node == nullptr ? machine.nodes.end()
                        : std::ranges::find(machine.nodes, static_cast<int>(node->os_index), &Node::os_index);
    machine.nics.push_back(
        {device->name == nullptr ? "unnamed" : device->name,
         found == machine.nodes.end() ? -1 : static_cast<int>(found - machine.nodes.begin())});
  });
}

Machine describe(hwloc_topology_t topology) {
  Machine machine;
  add_cores(topology, machine);
  if (machine.cores.empty()) throw Error("hwloc: no processor found");
  add_nics(topology, machine);
  for_type(topology, HWLOC_OBJ_PACKAGE, [&](hwloc_obj_t package) {
    const char* model = hwloc_obj_get_info_by_name(package, "CPUModel");
    if (model != nullptr && machine.model.empty()) machine.model = model;
  });
  machine.l1_bytes = smallest_cache(topology, HWLOC_OBJ_L1CACHE);
  machine.l2_bytes = smallest_cache(topology, HWLOC_OBJ_L2CACHE);
  machine.l3_bytes = smallest_cache(topology, HWLOC_OBJ_L3CACHE);
  if (machine.l1_bytes == 0) machine.l1_bytes = kUsualL1Bytes;
  if (machine.l2_bytes == 0) machine.l2_bytes = kUsualL2Bytes;
  machine.memory_bytes = hwloc_get_root_obj(topology)->total_memory;
  return machine;
}

bool huge_pages_allowed() {
  std::string choices;  // the chosen one is in brackets
  std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), choices);
  if (choices.find("[always]") != choices.npos || choices.find("[madvise]") != choices.npos) return true;
  std::error_code none;
  for (const auto& size : std::filesystem::directory_iterator("/sys/kernel/mm/hugepages", none))
    if (std::uint64_t free = 0; std::ifstream(size.path() / "free_hugepages") >> free && free > 0)
      return true;
  return false;
}

/// Adds the network interfaces that no card stands behind: those of virtual machines and containers.
void add_interfaces(Machine& machine) {
  struct if_nameindex* all = if_nameindex();
  if (all == nullptr) return;
  for (const auto* one = all; one->if_name != nullptr; ++one) {
    const std::string name = one->if_name;
    if (name != "lo" && std::ranges::find(machine.nics, name, &Nic::name) == machine.nics.end())
      machine.nics.push_back({name, machine.nodes.size() == 1 ? 0 : -1});
  }
  if_freenameindex(all);
}

/// Reads what hwloc knows of this machine.
Machine read_machine(Cards cards) {
  // Hwloc asks it without end where it is refused.
  require_calls({{"sched_getaffinity", [] { return allowed_cpus().empty() ? -1L : 0L; }},
                 {"getdents64", [] { return syscall(SYS_getdents64, -1, nullptr, 0); }}});
  const Topology topology = prepare(cards);
  hwloc_topology_set_flags(topology.get(),
                           HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
  if (hwloc_topology_load(topology.get()) != 0)
    throw Error(fmt::format("hwloc: cannot read this machine: {}", reason(errno)));
  return describe(topology.get());
}

/// Adds the limits of the container, and whether there are huge pages.
Machine within_limits(Machine machine) {
  const ControlGroups groups;
  machine.memory_bytes = std::min(std::max(machine.memory_bytes, installed_memory()), groups.memory_limit());
  machine.cpu_quota = groups.cpu_quota();
  machine.huge_pages = huge_pages_allowed();
  return machine;
}

bool load_xml(hwloc_topology_t topology, const std::string& path) {
  return hwloc_topology_set_xml(topology, path.c_str()) == 0 && hwloc_topology_load(topology) == 0;
}

/// Returns whether hwloc can load the file, by a process of its own: hwloc 2.9 crashes on some damaged files,
/// and complains on stderr in several lines. One that takes too long, or is stopped, is killed.
bool loads(const std::string& path) {
  constexpr int kMostSeconds = 30;
  const pid_t child = fork();
  if (child == 0) {
    for (const int crash : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM}) std::signal(crash, SIG_DFL);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDERR_FILENO);
    alarm(kMostSeconds);
    hwloc_topology_t topology = nullptr;
    _exit(hwloc_topology_init(&topology) == 0 && load_xml(topology, path) ? 0 : 1);
  }
  if (child < 0) return false;
  int status = -1;
  for (int waited_ms = 0; waitpid(child, &status, WNOHANG) == 0; ++waited_ms) {
    if (waited_ms == 1000 * kMostSeconds) kill(child, SIGKILL);
    poll(nullptr, 0, 1);
  }
  return status == 0;
}

}  // namespace

int usable_cores(const Machine& machine) noexcept {
  return within_quota(static_cast<int>(machine.cores.size()), machine.cpu_quota);
}

Machine discover(Cards cards) {
  static std::mutex one_at_a_time;  // libudev, which hwloc asks, keeps a number without a lock
  // The CPUs of this process, and what was read then.
  static std::optional<std::pair<std::string, Machine>> known;
  const std::scoped_lock lock(one_at_a_time);
  if (cards == Cards::found) {
    Machine machine = within_limits(read_machine(cards));
    add_interfaces(machine);
    return machine;
  }
  const std::string cpus = allowed_cpus();
  if (!known || known->first != cpus) known = {cpus, read_machine(cards)};
  return within_limits(known->second);
}

int node_of_card(const std::string& name) {
  const std::string rdma = "/sys/class/infiniband/" + name;
  std::vector<std::string> devices{fmt::format("/sys/class/net/{}/device", name), rdma + "/device"};
  // Soft-RoCE has no card of its own but an interface's.
  if (std::string interface; std::ifstream(rdma + "/ports/1/gid_attrs/ndevs/0") >> interface)
    devices.push_back(fmt::format("/sys/class/net/{}/device", interface));
  for (const std::string& device : devices) {
    std::error_code none;
    // A virtual machine's card is a device on top of the one that has a place.
    for (auto at = std::filesystem::canonical(device, none); at.has_relative_path(); at = at.parent_path())
      if (int node = -1; std::ifstream(at / "numa_node") >> node) return node;
  }
  return -1;
}

Machine from_xml(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error) throw Error(fmt::format("{}: cannot read: {}", path, reason(error.value())));
  if (!std::filesystem::is_regular_file(status))
    throw Error(fmt::format("{}: cannot read: not a file", path));
  if (access(path.c_str(), R_OK) != 0) throw Error(fmt::format("{}: cannot read: {}", path, reason(errno)));
  const Topology topology = prepare(Cards::found);
  if (!loads(path) || !load_xml(topology.get(), path))
    throw Error(fmt::format("{}: not a whole hwloc XML file (make one with: lstopo FILE.xml)", path));
  return describe(topology.get());
}

}  // namespace edgewire::topology
