#include "topology/core_claim.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace edgewire::topology {
namespace {

/// Returns whether it is a folder, and no link to one, in which only this user can make and rename files.
bool is_private(const std::string& folder) {
  struct stat status {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool make_private(const std::string& folder) {
  return (mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST) && is_private(folder);
}

/// Opens a lock file, for this process and none that it starts; -1 when that fails.
int open_lock(const std::string& path) {
  return open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
}

enum class Attempt { locked, taken, failed };

/// Tries to get a lock on an open file (F_RDLCK or F_WRLCK), to change it, or to release it (F_UNLCK).
Attempt try_lock(int file, short type) {
  struct flock whole {};  // length 0: all of the file
  whole.l_type = type;
  whole.l_whence = SEEK_SET;
  if (file >= 0 && fcntl(file, F_OFD_SETLK, &whole) == 0) return Attempt::locked;
  return file >= 0 && (errno == EAGAIN || errno == EACCES) ? Attempt::taken : Attempt::failed;
}

std::string core_file(const std::string& folder, int cpu) { return fmt::format("{}/core-{}", folder, cpu); }

/// A guard that keeps other jobs of this user from choosing cores: two that start at the same time would each
/// find the cores locked that the other one tries, and is about to give up again.
class ChoosingTurn {
 public:
  explicit ChoosingTurn(const std::string& folder) : file_(open_lock(folder + "/choosing")) {
    // Choosing takes less than a millisecond. A process that takes longer was stopped, and nobody waits for
    // it: single cores are still locked.
    constexpr int kMostTries = 200;
    for (int i = 0; i < kMostTries && try_lock(file_, F_WRLCK) == Attempt::taken; ++i) poll(nullptr, 0, 1);
  }
  ~ChoosingTurn() {
    if (file_ >= 0) close(file_);
  }
  ChoosingTurn(const ChoosingTurn&) = delete;
  ChoosingTurn& operator=(const ChoosingTurn&) = delete;

 private:
  int file_;
};

std::vector<int> cpus_of(const Machine& machine) {
  std::vector<int> cpus;
  for (const Core& core : machine.cores) cpus.push_back(core.cpu);
  return cpus;
}

/// Places all processes, and their polling threads. Returns the cores that they need.
std::vector<int> place_all(const Machine& machine, int workers, bool polls, HostPlacement& host) {
  const auto processes = static_cast<int>(host.processes.size());
  std::vector<int> used;
  for (int rank = 0; rank < processes; ++rank) {
    auto& process = host.processes[rank];
    process = place(machine, rank, processes, workers);
    for (const WorkerPlace& worker : process.workers) used.push_back(worker.cpu);
  }
  if (!polls || processes * (workers + 1) > usable_cores(machine)) return used;
  const auto spare = spare_cpus(machine, processes, workers);
  if (spare.size() >= host.poll_cpus.size()) {
    host.poll_cpus.assign(spare.begin(), spare.begin() + processes);
    used.insert(used.end(), host.poll_cpus.begin(), host.poll_cpus.end());
  }
  return used;
}

}  // namespace

std::string lock_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/' && is_private(runtime)) {
    std::string folder = std::string(runtime) + "/edgewire";
    if (make_private(folder)) return folder;
  }
  std::string folder = fmt::format("/tmp/edgewire-{}", geteuid());
  return make_private(folder) ? folder : "";
}

CoreClaim::~CoreClaim() {
  for (const Core& core : cores_)
    if (core.file >= 0) close(core.file);
}

CoreClaim CoreClaim::of_free(const std::string& folder, const std::vector<int>& cpus) {
  CoreClaim claim;
  claim.cores_.reserve(cpus.size());
  for (const int cpu : cpus) {
    const int file = open_lock(core_file(folder, cpu));
    if (try_lock(file, F_WRLCK) == Attempt::taken)
      close(file);
    else
      claim.cores_.push_back({cpu, file});
  }
  return claim;
}

CoreClaim CoreClaim::shared(const std::string& folder, const std::vector<int>& cpus) {
  CoreClaim claim;
  claim.cores_.reserve(cpus.size());
  for (const int cpu : cpus) {
    claim.cores_.push_back({cpu, open_lock(core_file(folder, cpu))});
    try_lock(claim.cores_.back().file, F_RDLCK);
  }
  return claim;
}

std::vector<int> CoreClaim::cpus() const {
  std::vector<int> cpus;
  for (const Core& core : cores_) cpus.push_back(core.cpu);
  return cpus;
}

void CoreClaim::keep(const std::vector<int>& cpus) {
  std::erase_if(cores_, [&](const Core& core) {
    const bool kept = std::ranges::find(cpus, core.cpu) != cpus.end();
    if (kept)
      try_lock(core.file, F_RDLCK);  // this lock keeps away all who want the other one
    else if (core.file >= 0)
      close(core.file);
    return !kept;
  });
}

std::vector<int> claimed_cpus(const std::string& folder, const std::vector<int>& cpus) {
  std::vector<int> claimed;
  for (const int cpu : cpus) {
    const int file = open(core_file(folder, cpu).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) continue;
    struct flock whole {};  // length 0: all of the file
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (fcntl(file, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK) claimed.push_back(cpu);
    close(file);
  }
  return claimed;
}

HostPlacement claim_places(const Machine& machine, int processes, int workers, bool polls,
                           const std::string& folder) {
  HostPlacement host;
  host.processes.resize(processes);
  host.poll_cpus.assign(processes, -1);
  place_all(machine, workers, polls, host);
  if (folder.empty() || host.processes[0].oversubscribed) return host;

  const ChoosingTurn turn(folder);
  host.claim = CoreClaim::of_free(folder, cpus_of(machine));
  Machine free = machine;
  const auto cpus = host.claim.cpus();
  std::erase_if(free.cores,
                [&](const Core& core) { return std::ranges::find(cpus, core.cpu) == cpus.end(); });
  host.poll_cpus.assign(processes, -1);
  if (static_cast<std::size_t>(processes) * workers <= free.cores.size()) {
    host.claim.keep(place_all(free, workers, polls, host));
    return host;
  }
  host.taken = static_cast<int>(machine.cores.size() - free.cores.size());
  host.claim.keep({});
  for (int rank = 0; rank < processes; ++rank)
    host.processes[rank] = unpinned(machine, rank, processes, workers,
                                    taken_text(host.taken, static_cast<int>(machine.cores.size())));
  return host;
}

std::string taken_text(int taken, int cores) {
  return fmt::format("{} of {} core{} {} pinned by other jobs", taken, cores, cores == 1 ? "" : "s",
                     taken == 1 ? "is" : "are");
}

}  // namespace edgewire::topology
