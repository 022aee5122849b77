#include "launch/launcher_watch.h"

#include <pthread.h>
#include <unistd.h>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/error.h"
#include "topology/shell.h"

namespace edgewire::launch {
namespace {

// Together well below one second: then Open MPI kills processes that SIGTERM has not ended.
constexpr int kHearMs = 300;  ///< until all processes know of a lost peer
constexpr int kSayMs = 300;   ///< for this process to report and end by itself
constexpr int kStepMs = 10;

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  return set;
}

/// What /proc/PID/stat says of a process; parent 0 when there is none.
struct Process {
  std::string name;
  pid_t parent = 0;
};

Process look_at(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  const std::size_t open = line.find('('), close = line.rfind(')');  // a name may hold any character
  Process process;
  if (close == line.npos || open > close || line.size() < close + 4) return process;
  process.name = line.substr(open + 1, close - open - 1);
  std::from_chars(line.data() + close + 4, line.data() + line.size(), process.parent);
  return process;
}

/// The parent, and what is above it up to a process that launches; without one only the parent.
std::vector<pid_t> launching_ancestors() {
  constexpr std::array kLaunchers{"orted", "mpirun", "mpiexec", "orterun", "prted", "prterun", "slurmstepd"};
  constexpr std::size_t kMost = 32;
  std::vector<pid_t> found{getppid()};
  while (found.size() < kMost && found.back() > 1) {
    const Process process = look_at(found.back());
    if (std::ranges::find(kLaunchers, process.name) != kLaunchers.end()) return found;
    found.push_back(process.parent);
  }
  found.resize(1);
  return found;
}

}  // namespace

LauncherWatch::LauncherWatch() : ancestors_(launching_ancestors()), ignored_(topology::is_ignored(SIGTERM)) {
  const sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, &before_);  // all threads to come inherit it
  thread_ = std::thread([this] { watch(); });
}

LauncherWatch::~LauncherWatch() {
  stopping_ = true;
  // The thread waits for this signal, it does not end by it.
  pthread_kill(thread_.native_handle(), SIGTERM);  // NOLINT(bugprone-bad-signal-to-kill-thread)
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void LauncherWatch::watch() {
  const sigset_t set = watched();
  const timespec pause{0, 200'000'000};
  while (true) {
    const int number = sigtimedwait(&set, nullptr, &pause);
    if (stopping_) return;
    if (number == SIGTERM && !ignored_) return end("was ended by its launcher (SIGTERM)");
    if (!launcher_lives()) return end("has lost its launcher");
  }
}

/// An orphan gets another parent.
bool LauncherWatch::launcher_lives() const {
  if (getppid() != ancestors_.front()) return false;
  for (std::size_t i = 1; i < ancestors_.size(); ++i)
    if (look_at(ancestors_[i - 1]).parent != ancestors_[i]) return false;
  return true;
}

bool LauncherWatch::stops_within(int milliseconds) const {
  for (int waited = 0; waited < milliseconds && !stopping_; waited += kStepMs)
    std::this_thread::sleep_for(std::chrono::milliseconds(kStepMs));
  return stopping_;
}

void LauncherWatch::end(const char* cause) {
  if (Bootstrap* bootstrap = bootstrap_.load(std::memory_order_acquire)) {  // pairs with store in guard()
    for (int waited = 0; waited < kHearMs && !bootstrap->health().failed(); waited += kStepMs)
      if (stops_within(kStepMs)) return;
    bootstrap->abort(cause);
    if (stops_within(kSayMs)) return;
    note(fmt::format("rank {}: {}", bootstrap->rank(), bootstrap->health().message()));
  } else {
    note(fmt::format("{} before the job had started", cause));
  }
  std::quick_exit(1);  // the main thread is somewhere where it does not look
}

}  // namespace edgewire::launch
