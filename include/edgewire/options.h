// How a job is to run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "edgewire/progress.h"

#pragma GCC visibility push(default)

namespace edgewire {

/// What carries bytes between the processes of a job.
enum class Transport {
  automatic,  ///< shm inside a host, and between hosts the fastest that all have
  shm,        ///< shared memory
  tcp,        ///< TCP
  shm_tcp,    ///< shm inside a host, tcp between hosts
  verbs,      ///< RDMA
  shm_verbs,  ///< shm inside a host, verbs between hosts
  dpdk        ///< Ethernet frames on a port of DPDK
};

/// The processes that read a row of the graph, where all rows are on the host of each process.
enum class RowReading {
  automatic,  ///< own on one host, and where the file is in the page cache of every host; else shares
  own,        ///< each process reads its own rows
  shares      ///< each row is read once in all, and sent to its owner; on one host as own
};

/// What a process sends for the edges that leave it, fewest values last.
enum class Strategy {
  automatic,  ///< slots, or cover where sending takes longer than computing
  edge,       ///< a value and an id for each edge
  worker,     ///< a value and an id for each destination of each worker
  process,    ///< a value and an id for each destination of the process
  slots,      ///< a value for each destination of the process
  cover       ///< the fewest values that suffice
};

/// How a value is written on the wire. f32, f64 and raw16 are messages of 4, 8 and 16 bytes as the program
/// computes them, whatever their type is; `bit` is for messages of 4 bytes that are 0 or 1, and sends one bit
/// of each; the others are floats rounded to 2 bytes.
enum class Wire { f32, f64, bf16, f16, u16, raw16, bit };

/// The order of a process's vertices in memory.
enum class Layout {
  automatic,  ///< the faster one, as a sample shows
  given,      ///< ascending ids
  degree      ///< those of high degree first
};

/// The order in which a worker sweeps its tiles.
enum class SweepOrder {
  automatic,  ///< the fastest one, as a sample shows
  strips,     ///< strip by strip in one column after the other
  hilbert,    ///< along the Hilbert curve over several columns
  bins        ///< as strips, but the values of thin tiles go through memory
};

/// How a job is to run; `man edgewire-options` explains the options. A call that takes them throws
/// UsageError where a number or a name makes no sense, and where an option was set that the job does not
/// have. All processes of a job have the same options, but for folders and devices, which each names as it
/// has them.
struct JobOptions {
  int workers = 0;  ///< threads of each process; 0: one for each core, shared out among those of a host
  Transport transport = Transport::automatic;
  double peer_timeout_s = 10;      ///< seconds after which a silent peer is given up
  bool integrity = true;           ///< tcp: check all that arrives by a CRC-32C
  std::string verbs_device{};      ///< NAME[:PORT[:GID_INDEX]]; empty: the nearest
  std::string dpdk_port{};         ///< PCI address or virtual device
  std::string dpdk_args{};         ///< more arguments for DPDK
  std::string ownership = "hash";  ///< who owns a vertex: hash, ranges, or the path of a partition file;
                                   ///< programs also auto, hilbert and grid
  RowReading rows = RowReading::automatic;
  bool weighted = false;             ///< programs and frontier jobs use the weights of edges; the graph has
                                     ///< some. Kernels decide by themselves, or have an option of their own
  std::vector<std::string> disks{};  ///< folders that exist, for edges that are not in memory; empty: all
                                     ///< are. Programs also need a plan_cache
  std::uint64_t memory_bytes = 0;    ///< of a process with edges on disks, from 2^20 on; 0: ample

  // Of programs, which are passes over all edges.
  Strategy strategy = Strategy::automatic;
  /// Kernels compute in messages of 8 bytes with f64, else of 4, and refuse bit. Messages of your own have 4
  /// bytes, or 8 (f64), or 16 (raw16), or they are 0 or 1 (bit).
  Wire wire = Wire::f32;
  Layout layout = Layout::automatic;
  SweepOrder order = SweepOrder::automatic;
  std::string plan_cache{};  ///< a folder that keeps the plan for the next run, where it can be
                             ///< written; empty: none

  // Of kernels (edgewire/kernels.h).
  bool verify = false;   ///< rank 0 checks the result, and throws Error where it is wrong
  bool bound = false;    ///< rank 0 counts what a kernel that follows a frontier had to send
  bool profile = false;  ///< the report says where the time went

  Progress progress{};  ///< told, by any thread, how far the job has come
};

}  // namespace edgewire

#pragma GCC visibility pop
