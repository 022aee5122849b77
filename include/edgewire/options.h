// How a job is to run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "edgewire/progress.h"

namespace edgewire {

/// How a job is to run, in the words of the command line: `edgewire help options` explains them. A call that
/// takes them throws UsageError where a word or a number makes no sense, and where an option was set that the
/// job does not have. All processes of a job have the same options, but for folders and devices, which each
/// names as it has them.
struct JobOptions {
  int workers = 0;  ///< threads of each process; 0: one for each core, shared out among those of a host
  /// auto, shm, tcp, shm+tcp, verbs, shm+verbs or dpdk. auto: shm inside a host, and between hosts the
  /// fastest that all have.
  std::string transport = "auto";
  double peer_timeout_s = 10;        ///< seconds after which a silent peer is given up
  bool integrity = true;             ///< tcp: check all that arrives by a CRC-32C
  std::string verbs_device{};        ///< NAME[:PORT[:GID_INDEX]]; empty: the nearest
  std::string dpdk_port{};           ///< PCI address or virtual device
  std::string dpdk_args{};           ///< more arguments for DPDK
  std::string ownership = "hash";    ///< who owns a vertex: hash, ranges, or the path of a partition file;
                                     ///< programs also auto, hilbert and grid
  std::string rows = "auto";         ///< who reads the rows of the file: auto, own or shares
  bool weighted = false;             ///< programs and frontier jobs use the weights of edges; the graph has
                                     ///< some. Kernels decide by themselves, or have an option of their own
  std::vector<std::string> disks{};  ///< folders that exist, for edges that are not in memory; empty: all
                                     ///< are. Programs also need a plan_cache
  std::uint64_t memory_bytes = 0;    ///< of a process with edges on disks, from 2^20 on; 0: ample

  // Of programs, which are passes over all edges.
  std::string strategy = "auto";  ///< what is sent: auto, edge, worker, process, slots or cover
  std::string wire = "f32";       ///< how values travel: f32, f64, bf16, f16, u16, raw16 or bit.
                                  ///< Kernels compute in messages of 8 bytes with f64, else of 4, and
                                  ///< refuse bit; messages of your own have 4 bytes, or 8 (f64), 16
                                  ///< (raw16), or are 0 or 1 (bit)
  std::string layout = "auto";    ///< the order of a process's vertices: auto, given or degree
  std::string order = "auto";     ///< the order of tiles: auto, strips, hilbert or bins
  std::string plan_cache{};       ///< a folder that keeps the plan for the next run, where it can be
                                  ///< written; empty: none

  // Of kernels (edgewire/kernels.h).
  bool verify = false;   ///< rank 0 checks the result, and throws Error where it is wrong
  bool bound = false;    ///< rank 0 counts what a kernel that follows a frontier had to send
  bool profile = false;  ///< the report says where the time went

  Progress progress{};  ///< told, by any thread, how far the job has come
};

}  // namespace edgewire
