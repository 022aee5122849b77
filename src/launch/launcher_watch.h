#pragma once

#include <sys/types.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "launch/bootstrap.h"

namespace edgewire::launch {

/// Ends this process in good order when its launcher ends the job, or is gone. A launcher ends a job with
/// SIGTERM as soon as one process dies. The surviving processes then take a moment to learn which one it was,
/// and to say so. There may be a shell or another wrapper between launcher and process. All of them are
/// watched, up to the launcher's process on this host if its name is known. Make this object before any other
/// thread.
class LauncherWatch {
 public:
  LauncherWatch();
  ~LauncherWatch();
  LauncherWatch(const LauncherWatch&) = delete;
  LauncherWatch& operator=(const LauncherWatch&) = delete;

  /// From now on it fails the job before it ends the process, so the others are told. `bootstrap` outlives
  /// the watch.
  void guard(Bootstrap& bootstrap) {
    bootstrap_.store(&bootstrap, std::memory_order_release);
  }  // pairs with load in end()

 private:
  void watch();
  bool launcher_lives() const;
  void end(const char* cause);
  bool stops_within(int milliseconds) const;

  std::atomic<bool> stopping_{false};  ///< set by the destructor, read by the thread; single value
  std::atomic<Bootstrap*> bootstrap_{nullptr};
  std::vector<pid_t> ancestors_;  ///< the parent first, the launcher's process last
  bool ignored_;                  ///< SIGTERM, since the start: it ends nothing
  sigset_t before_{};
  std::thread thread_;
};

}  // namespace edgewire::launch
