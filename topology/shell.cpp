#include "topology/shell.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "base/error.h"

namespace edgewire::topology {
namespace {

constexpr std::uint64_t kFilesOfAnyCommand = 16;
constexpr rlim_t kUsualStackBytes = rlim_t{8} << 20;

void open_standard_streams() {
  // The wrong way round, so that whoever reads or writes hears of it. Only stderr may lose what it gets.
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    if (errno != EBADF) throw Error(fmt::format("cannot call fcntl(): {}", reason(errno)));
    if (open("/dev/null", kModes[stream]) != stream)  // the lowest number that is free
      throw Error(
          fmt::format("cannot open /dev/null in place of a closed standard stream: {}", reason(errno)));
  }
}

void raise_soft_limits() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return;
  if (limit.rlim_cur < kUsualStackBytes) {
    limit.rlim_cur = std::min(limit.rlim_max, kUsualStackBytes);
    setrlimit(RLIMIT_STACK, &limit);
  }
}

/// Gives threads stacks of a usual size. Otherwise they have stacks as large as the soft limit was when the
/// program began: too small to run on, or too large to get.
void set_stacks_of_threads() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
  if (pthread_attr_getstacksize(&attributes, &bytes) == 0 &&
      (bytes < kLeastBytes || bytes > kUsualStackBytes) &&
      pthread_attr_setstacksize(&attributes, kUsualStackBytes) == 0)
    pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace

void settle_in_shell() {
  open_standard_streams();
  raise_soft_limits();
  set_stacks_of_threads();
  struct sigaction action {};
  if (sigaction(SIGXFSZ, nullptr, &action) == 0 && action.sa_handler == SIG_DFL)
    std::signal(SIGXFSZ, SIG_IGN);
  require_open_files(kFilesOfAnyCommand);
}

void require_open_files(std::uint64_t files, std::string_view otherwise) {
  constexpr std::uint64_t kUsualLimit = 1024;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= files) return;
  throw Error(fmt::format(
      "up to {} files must be open at a time, and `ulimit -n` allows {}: raise it with `ulimit -n {}`{}",
      files, limit.rlim_cur, std::max(kUsualLimit, files), otherwise));
}

bool is_ignored(int signal_number) noexcept {
  struct sigaction action {};
  return sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void write_stdout(std::string_view text) {
  const bool ignored = is_ignored(SIGPIPE);
  const auto before = std::signal(SIGPIPE, SIG_IGN);  // the other processes of a job must be told first
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  int cause = errno;
  const bool flushed = std::fflush(stdout) == 0;
  if (written) cause = flushed ? 0 : errno;
  if (written && flushed && std::ferror(stdout) == 0) {
    if (before != SIG_ERR) std::signal(SIGPIPE, before);
    return;
  }
  if (cause == EPIPE && !ignored) throw OutputClosed();
  throw Error(fmt::format("stdout: cannot write: {}", cause == 0 ? "a part is lost" : reason(cause)));
}

}  // namespace edgewire::topology
