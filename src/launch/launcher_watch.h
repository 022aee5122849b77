#pragma once

#include <sys/types.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "launch/bootstrap.h"

namespace edgewire::launch {

/// Ends this process in good order when its launcher ends the job or is gone itself. Launchers end a job
/// with SIGTERM as soon as one process dies: the survivors first take a moment to learn, and to say, which.
/// A shell or another wrapper may stand between: all are watched up to the launcher's own process on this
/// host, where its name is known. Make it before any other thread.
class LauncherWatch {
 public:
  LauncherWatch();
  ~LauncherWatch();
  LauncherWatch(const LauncherWatch&) = delete;
  LauncherWatch& operator=(const LauncherWatch&) = delete;

  /// From now on the job fails first, so that the others hear of it; `bootstrap` outlives the watch.
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
  sigset_t before_{};
  std::thread thread_;
};

}  // namespace edgewire::launch
