// The topology folder knows the machine: NUMA nodes, cores, caches, network cards. It says where workers and
// memory go, and binds memory to a node. It alone includes hwloc, and nothing of ours but error.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace edgewire::topology {

/// A core that this process may use.
struct Core {
  int cpu = 0;   ///< operating-system number of its first hardware thread
  int node = 0;  ///< index into Machine::nodes
  int package = 0;
};

struct Node {
  int os_index = 0;
  std::uint64_t memory_bytes = 0;
};

struct Nic {
  std::string name;  ///< name such as eth0, mlx5_0
  int node = -1;     ///< index into Machine::nodes, -1 when unknown
};

struct Machine {
  std::string model;        ///< processor name, empty when unknown
  std::vector<Node> nodes;  ///< NUMA nodes, at least one
  std::vector<Core> cores;  ///< cores, at least one, ordered by node
  std::vector<Nic> nics;
  std::uint64_t l1_bytes = 0;  ///< data cache of one core; a usual size if the machine does not tell it
  std::uint64_t l2_bytes = 0;  ///< level-2 cache of one core
  std::uint64_t l3_bytes = 0;  ///< level-3 cache shared by the cores of one group; 0 when there is none
  std::uint64_t memory_bytes = 0;
  double cpu_quota = 0;     ///< quota of the control groups, in CPUs; 0 when there is none
  bool huge_pages = false;  ///< whether transparent huge pages are allowed, or hugetlbfs pages are free
};

/// Returns how many workers may run at the same time: one on each core, within the CPU quota; at least 1.
int usable_cores(const Machine& machine) noexcept;

/// The choice whether to look for network cards. To find them, hwloc reads the configuration of all PCI
/// devices, which takes about 2 ms for each device of a virtual machine.
enum class Cards { left_out, found };

/// Describes this machine, within the limits of the container or cpuset. Without cards it has no `nics`, and
/// hwloc reads the machine, for some milliseconds, once for each set of processors that this process may use.
Machine discover(Cards cards = Cards::left_out);
/// Describes another machine, from the XML that lstopo writes. Throws Error with the path.
Machine from_xml(const std::string& path);

/// Returns the node (operating-system number) of a network interface or RDMA device here; -1 when unknown.
int node_of_card(const std::string& name);

}  // namespace edgewire::topology
