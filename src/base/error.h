// The base folder has what any room may use: the ways to give up, files of arrays, output files that are
// whole or not there, parallel loops, checksums and small helpers. Of ours it includes the public headers
// alone. This file has the ways in which Edgewire gives up.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <new>
#include <string>
#include <system_error>

#include "edgewire/error.h"

namespace edgewire {

/// A file changed while it was used, so that nothing is right any more. Where a run fails, this is the cause,
/// whatever else was noticed of it, such as a lost peer.
class FileChanged : public Error {
 public:
  FileChanged(const std::string& line, bool told) : Error(line), told_(told) {}
  /// Returns whether another process of the job has said it, or is about to.
  bool told() const noexcept { return told_; }

 private:
  bool told_;
};

/// Nobody reads stdout any more, as behind `| head`. The program says nothing and exits with 141, as if
/// SIGPIPE had ended it. Processes of a job that hear this message from another end in the same way.
class OutputClosed : public Error {
 public:
  static constexpr const char* kMessage = "nobody reads its output any more";
  OutputClosed() : Error(kMessage) {}
};
inline constexpr int kOutputClosedStatus = 141;  ///< as shells say of what SIGPIPE has ended

/// Returns the limit of the shell that may be the cause of an errno, and a limit that would do. The text is "
/// (`ulimit -n` allows 8: raise it with `ulimit -n 1024`)", for example, or "" where no limit may be the
/// cause.
inline std::string limit_to_raise(int cause) {
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

/// Returns what the system says of an errno, and the limit to raise.
inline std::string reason(int cause) {
  return std::generic_category().message(cause) + limit_to_raise(cause);
}

/// Returns the line for a failure of any kind.
inline std::string line_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return "not enough memory" + limit_to_raise(ENOMEM);
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
    return "cannot start a thread: " + reason(EAGAIN);
  return error.what();
}

/// Writes text to stderr, in one call. What cannot be written (stderr is closed, nobody reads it, its disk is
/// full) is lost and costs nothing else: this neither throws nor ends the process.
inline void say(const std::string& text) noexcept {
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

/// Says a line in the program's name on stderr, see say().
inline void note(const std::string& line) { say("edgewire: " + line + "\n"); }

}  // namespace edgewire
