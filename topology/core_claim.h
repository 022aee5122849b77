// Cores that a job has for itself: no two jobs of a user pin their workers to the same core of a machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "topology/placement.h"

namespace edgewire::topology {

/// Returns the folder where this user's jobs lock their cores, and makes it: $XDG_RUNTIME_DIR/edgewire, or
/// /tmp/edgewire-UID. Returns an empty string where others can write to both.
std::string lock_folder();

/// Cores that no other job of this user takes as long as this object lives. Each has a lock file, whose lock
/// the kernel releases when the process ends, however it ends. A core whose lock cannot be had for another
/// reason than that somebody has it counts as claimed: without locks, jobs pin as if they were alone.
class CoreClaim {
 public:
  CoreClaim() = default;  ///< a claim of no cores
  CoreClaim(CoreClaim&& other) noexcept : cores_(std::exchange(other.cores_, {})) {}
  CoreClaim& operator=(CoreClaim&& other) noexcept {
    std::swap(cores_, other.cores_);
    return *this;
  }
  ~CoreClaim();

  /// Claims those of `cpus` (numbers of the operating system) that nobody has.
  static CoreClaim of_free(const std::string& folder, const std::vector<int>& cpus);
  /// Makes the claim of the other processes of a job, one of which has claimed these cores: they stay claimed
  /// while any process lives.
  static CoreClaim shared(const std::string& folder, const std::vector<int>& cpus);

  std::vector<int> cpus() const;
  /// Gives up all but these, which the other processes of the job may share from now on.
  void keep(const std::vector<int>& cpus);

 private:
  struct Core {
    int cpu;
    int file;  ///< descriptor of the lock file; -1: there is no lock
  };
  std::vector<Core> cores_;
};

/// Returns those of `cpus` that jobs have claimed now. It claims and makes nothing in `folder`.
std::vector<int> claimed_cpus(const std::string& folder, const std::vector<int>& cpus);

/// The places where the equal processes of a job on a machine run.
struct HostPlacement {
  std::vector<Placement> processes;  ///< places of the processes, by local rank
  /// Core of each process's polling thread that no worker has, by local rank; -1: none.
  std::vector<int> poll_cpus;
  int taken = 0;  ///< number of cores that other jobs have, when these are why workers are not pinned
  CoreClaim claim;
};

/// Places processes as place() does, on cores that no other job has, and claims these cores. If there are too
/// few, workers are not pinned. `polls`: each process has a thread that polls, which gets a core if there are
/// enough. Jobs that start at the same time choose one after the other. `folder`: of locks; empty: none.
HostPlacement claim_places(const Machine& machine, int processes, int workers, bool polls,
                           const std::string& folder = lock_folder());

/// Returns a text as "2 of 2 cores are pinned by other jobs".
std::string taken_text(int taken, int cores);

}  // namespace edgewire::topology
