#include "launch/launcher_watch.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace edgewire::launch {
namespace {

// Together well below the second after which Open MPI kills what SIGTERM has not ended.
constexpr int kHearMs = 300;  ///< for the loss of a peer to get around
constexpr int kSayMs = 300;   ///< for this process to report and end by itself
constexpr int kStepMs = 10;

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

LauncherWatch::LauncherWatch() : parent_(getppid()) {
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
    if (number == SIGTERM) return end("was ended by its launcher (SIGTERM)");
    if (getppid() != parent_) return end("has lost its launcher");
  }
}

bool LauncherWatch::stops_within(int milliseconds) const {
  for (int waited = 0; waited < milliseconds && !stopping_; waited += kStepMs)
    std::this_thread::sleep_for(std::chrono::milliseconds(kStepMs));
  return stopping_;
}

void LauncherWatch::end(const char* cause) {
  if (WireUp* wire = wire_.load(std::memory_order_acquire)) {  // pairs with store in guard()
    for (int waited = 0; waited < kHearMs && !wire->health().failed(); waited += kStepMs)
      if (stops_within(kStepMs)) return;
    wire->abort(cause);
    if (stops_within(kSayMs)) return;
    std::fprintf(stderr, "edgewire: rank %d: %s\n", wire->rank(), wire->health().message().c_str());
  } else {
    std::fprintf(stderr, "edgewire: %s before the job had started\n", cause);
  }
  _exit(1);  // the main thread is somewhere where it does not look
}

}  // namespace edgewire::launch
