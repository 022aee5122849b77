// This file judges what limited a run, what would limit it next, and what a faster link would bring.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace edgewire::profile {

/// The names of a job's steps and items.
struct Words {
  std::string step = "iteration";
  std::string items = "edges";
  std::string a_step() const;  ///< returns "an iteration", for example
  std::string item() const { return items.substr(0, items.size() - 1); }
};

/// The means of one process, and the bytes that it moves in an iteration.
struct ProcessWork {
  int workers = 1;
  int cores = 1;     ///< number of cores that the process may use; with fewer than workers, these take turns
  double items = 0;  ///< number of items that it worked on: edges, see Words
  std::uint64_t memory_bytes = 0;  ///< bytes read and written in memory; in a ProcessLoad 0: all is cached
  std::uint64_t disk_bytes = 0;    ///< bytes read and written on disks
  double disk_s = 0;               ///< time in which the busiest of its disks had requests of any process
};

/// The load of one process in an iteration. Seconds are means of its workers, then of the iterations.
struct ProcessLoad : ProcessWork {
  double work_s = 0;            ///< time of compute, apply, and send without stalls
  double slowest_worker_s = 0;  ///< the same time of the worker with most of it
  double waited_s = 0;          ///< time of waiting for peers, with stalls
  double core_wait_s = 0;       ///< time of being ready to run, without a core
  double lost_s = 0;            ///< part of that in which waiting for others was interrupted, not work
  double awaited_s = 0;         ///< time in which all other processes waited for peers
  double cpu_share = 1;         ///< part of the time in which its workers had a core, when they wanted one
  std::uint64_t wire_bytes_sent = 0;
  std::uint64_t wire_bytes_received = 0;
};

struct RunLoad {
  Words words{};
  double seconds = 0;  ///< time of an iteration
  std::vector<ProcessLoad> processes;
  double line_bits_per_s = 0;     ///< line rate measured in one direction; 0: nothing crosses a link
  double given_bits_per_s = 0;    ///< line rate that the user gave to the link (--rate); 0: none
  double memory_bytes_per_s = 0;  ///< measured rate of a process; 0: unknown
};

/// The cause of a limit. latency means that neither bytes nor work explain most of the time.
enum class Cause : std::uint8_t { wire, memory, cores, imbalance, slow_peer, latency, disk };
std::string_view to_name(Cause cause) noexcept;

/// A lower bound of the time of an iteration.
struct Limiter {
  Cause cause = Cause::cores;
  double seconds = 0;
  double share = 0;  ///< part of the iteration
  int rank = -1;     ///< process that it is about; -1: all
  std::string why;   ///< reason, with figures
};

struct Verdict {
  Words words{};
  std::vector<Limiter> limiters;  ///< limit of the run, then the next limit and so on
  double seconds = 0;             ///< time of an iteration
  double seconds_10x = 0;         ///< time with a link ten times as fast
  std::string to_text() const;    ///< returns lines, ending with a newline
};

/// Judges a run. Work, memory, disks and the wire overlap, so the longest of them is the limit, as in
/// model.h. The time of work is that of the slowest process, including the time that it waited for a core. If
/// that process has more edges than the mean, the cause is imbalance. If it takes longer for an edge, it is a
/// slow peer. A process that often waits for a core while others wait for it is a slow peer, too: it may lose
/// its core in only a few iterations, which the means do not show. `measured` has at least one process.
Verdict judge(const RunLoad& measured);

}  // namespace edgewire::profile
