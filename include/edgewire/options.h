// How a job is to run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "edgewire/progress.h"

namespace edgewire {

/// How a job is to run, in the words of the command line: `edgewire help options` explains them. Whoever
/// reads them throws UsageError where a word or a number makes no sense.
struct JobOptions {
  int workers = 1;                   ///< threads of each process; the same number in all
  std::string transport = "shm";     ///< shm, tcp, shm+tcp, verbs or dpdk; the same in all processes
  double peer_timeout_s = 10;        ///< a peer that is silent for so long is given up
  bool integrity = true;             ///< tcp: check all that arrives by a CRC-32C
  std::string verbs_device{};        ///< NAME[:PORT[:GID_INDEX]]; empty: the nearest
  std::string dpdk_port{};           ///< PCI address or virtual device
  std::string dpdk_args{};           ///< more arguments for DPDK
  std::string ownership = "hash";    ///< who owns a vertex: hash, ranges, or the path of a partition file;
                                     ///< programs also auto, hilbert and grid
  std::string rows = "auto";         ///< who reads the rows of the file: auto, own or shares
  bool weighted = false;             ///< programs, pagerank, ppr and spmv use the weights of edges
  std::vector<std::string> disks{};  ///< folders for edges that are not in memory; empty: all are
  std::uint64_t memory_bytes = 0;    ///< memory of a process with edges on disks; 0: ample

  // Of programs, which are passes over all edges.
  std::string strategy = "auto";  ///< what is sent: auto, edge, worker, process, slots or cover
  std::string wire = "f32";       ///< how values travel: f32, f64, bf16, f16, u16, raw16 or bit
  std::string layout = "degree";  ///< the order of a process's vertices: auto, given or degree
  std::string order = "strips";   ///< the order of tiles: auto, strips, hilbert or bins
  std::string plan_cache{};       ///< a folder that keeps the plan for the next run; empty: none

  // Of kernels (edgewire/kernels.h).
  bool verify = false;   ///< rank 0 checks the result, and the run fails where it is wrong
  bool bound = false;    ///< rank 0 counts what a kernel that follows a frontier had to send
  bool profile = false;  ///< the report says where the time went

  Progress progress{};  ///< told, by any thread, how far the job has come
};

}  // namespace edgewire
