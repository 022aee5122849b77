#include "base/temporary_name.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <limits.h>
#include <unistd.h>

namespace edgewire {

namespace {

// Read by the signal handler, in whatever thread it runs.
struct Place {
  std::atomic<pid_t> owner{0};  ///< 0: free; -1: being written. A child of fork owns none
  std::array<char, PATH_MAX> path{};
};
std::array<Place, 64> places;
static_assert(std::atomic<pid_t>::is_always_lock_free);

/// Whether there was something to remove.
bool remove(const char* path) { return unlink(path) == 0 || rmdir(path) == 0; }

void remove_and_end(int number) {
  TemporaryName::remove_all();
  std::signal(number, SIG_DFL);
  std::raise(number);  // ends the process when the handler returns
}

/// Where a signal would end the process.
void install_handler() {
  for (const int number : TemporaryName::kSignals) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = remove_and_end;
    sigaction(number, &action, nullptr);
  }
  static std::once_flag once;
  std::call_once(once, [] { std::at_quick_exit([] { TemporaryName::remove_all(); }); });
}

int claim_place(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  for (std::size_t p = 0; p < places.size(); ++p) {
    pid_t nobody = 0;
    if (!places[p].owner.compare_exchange_strong(nobody, -1)) continue;
    std::ranges::copy(path, places[p].path.begin());
    places[p].path[path.size()] = '\0';
    places[p].owner = getpid();
    return static_cast<int>(p);
  }
  return -1;
}

}  // namespace

TemporaryName::TemporaryName(std::string path)
    : path_(std::move(path)), maker_(getpid()), place_(claim_place(path_)) {
  install_handler();
}

TemporaryName::~TemporaryName() {
  if (maker_ != getpid()) return;
  if (!forgotten_) remove(path_.c_str());
  forget();
}

void TemporaryName::forget() noexcept {
  forgotten_ = true;
  if (const int place = std::exchange(place_, -1); place >= 0)
    places[static_cast<std::size_t>(place)].owner = 0;
}

void TemporaryName::remove_all() noexcept {
  const int error = errno;
  const pid_t self = getpid();
  for (bool removed = true; removed;) {  // a folder is empty when what is in it has gone
    removed = false;
    for (Place& place : places)
      if (place.owner == self && remove(place.path.data())) removed = true;
  }
  errno = error;
}

}  // namespace edgewire
