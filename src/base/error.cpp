#include "base/error.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <new>
#include <system_error>

namespace edgewire {

namespace {
std::atomic<bool> quiet = false;
}

std::string limit_to_raise(int cause) {
  constexpr rlim_t kEnoughFiles = 1024, kKibibyte = 1024;
  rlimit limit{};
  const auto is_limited = [&](auto resource) {
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  };
  const auto line = [](char option, const std::string& allowed, const std::string& enough) {
    const std::string name = std::string("`ulimit -") + option;
    return " (" + name + "` allows " + allowed + ": raise it with " + name + " " + enough + "`)";
  };
  const auto bytes = [&] {
    return limit.rlim_cur % kKibibyte == 0 ? std::to_string(limit.rlim_cur / kKibibyte) + " KiB"
                                           : std::to_string(limit.rlim_cur) + " bytes";
  };
  const bool memory = cause == ENOMEM || cause == EAGAIN;
  if (memory && is_limited(RLIMIT_AS)) return line('v', bytes(), "unlimited");
  if (memory && is_limited(RLIMIT_DATA)) return line('d', bytes(), "unlimited");
  if (cause == EMFILE && is_limited(RLIMIT_NOFILE))
    return line('n', std::to_string(limit.rlim_cur),
                std::to_string(std::max(kEnoughFiles, 2 * limit.rlim_cur)));
  if (cause == EAGAIN && geteuid() != 0 && is_limited(RLIMIT_NPROC))
    return line('u', std::to_string(limit.rlim_cur), "unlimited");
  if (cause == EFBIG && is_limited(RLIMIT_FSIZE)) return line('f', bytes(), "unlimited");
  return "";
}

std::string reason(int cause) {
  std::string text = std::generic_category().message(cause) + limit_to_raise(cause);
  const bool refused = cause == EPERM || cause == ENOSYS;
  if (refused && prctl(PR_GET_SECCOMP) != 0)  // the filter may refuse prctl(), too
    text += " (perhaps a container's filter of system calls refuses it: allow it in its seccomp profile)";
  else if (cause == ENOSYS)
    text += " (this kernel, or the container's, does not have it)";
  return text;
}

std::string line_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return "not enough memory" + limit_to_raise(ENOMEM);
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system == nullptr) return error.what();
  const int cause = system->code().value();
  const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  if (file == nullptr) return "cannot start a thread: " + reason(cause);  // std::thread throws no other kind
  return file->path1().string() + ": " + reason(cause);
}

void say(const std::string& text) noexcept {
  sigset_t broken_pipe, before, pending;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  std::fputs(text.c_str(), stderr);
  const timespec at_once{};  // this thread's own SIGPIPE is taken away before it is let through
  if (sigismember(&pending, SIGPIPE) == 0) sigtimedwait(&broken_pipe, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void be_quiet(bool is_quiet) noexcept { quiet.store(is_quiet, std::memory_order_relaxed); }
bool is_quiet() noexcept { return quiet.load(std::memory_order_relaxed); }

void say_failure(const std::string& line) { say("edgewire: " + line + "\n"); }

void note(const std::string& line) {
  if (!is_quiet()) say_failure(line);
}

}  // namespace edgewire
