#include "launch/program.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "base/needed_calls.h"
#include "base/seconds.h"
#include "topology/shell.h"
#include "transport/file_descriptor.h"

namespace edgewire::launch {
namespace {

using transport::FileDescriptor;

constexpr int kRoundMs = 50;  ///< milliseconds between two looks whether a program is stopped
constexpr std::array kForwarded{SIGINT, SIGTERM, SIGHUP};
volatile pid_t running = 0;  ///< running program, or 0; written with the forwarded signals blocked
volatile std::sig_atomic_t caught = 0;

void forward(int number) {
  caught = number;
  if (running <= 0) return;
  kill(running, number);
  kill(running, SIGCONT);  // so that a stopped program hears it, too
}

/// Passes the signals on while it lives; when it ends, this process gets those that came, too. Children start
/// with the former handlers.
class Forwarding {
 public:
  Forwarding() {
    sigemptyset(&set_);
    for (const int number : kForwarded) sigaddset(&set_, number);
    sigprocmask(SIG_BLOCK, &set_, &mask_);
    struct sigaction action {};
    action.sa_handler = forward;
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kForwarded.size(); ++i) {
      sigaction(kForwarded[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(kForwarded[i], &action, nullptr);
    }
    action.sa_handler = SIG_IGN;  // a program that does not read its input shows by its end
    sigaction(SIGPIPE, &action, &pipe_before_);
  }
  ~Forwarding() {
    sigprocmask(SIG_BLOCK, &set_, nullptr);
    running = 0;
    restore();
    const int number = caught;
    caught = 0;
    if (number != 0) std::raise(number);
  }
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;

  void start(pid_t child) {
    running = child;
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  void restore() const {
    for (std::size_t i = 0; i < kForwarded.size(); ++i) sigaction(kForwarded[i], &before_[i], nullptr);
    sigaction(SIGPIPE, &pipe_before_, nullptr);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  sigset_t set_{}, mask_{};
  std::array<struct sigaction, kForwarded.size()> before_{};
  struct sigaction pipe_before_ {};
};

struct Pipe {
  FileDescriptor read, write;
};

Pipe make_pipe(const std::string& program) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(fmt::format("cannot start {}: {}", program, reason(errno)));
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// Runs the program in the child, with only calls that are safe after fork. Returns errno when no such
/// program can be started.
int execute(char* const* words) {
  execvp(words[0], words);
  if (errno != ENOENT || std::strchr(words[0], '/') != nullptr) return errno;
  for (const char* folder : {"/usr/sbin/", "/sbin/"}) {
    char path[256];
    const std::size_t start = std::strlen(folder), length = std::strlen(words[0]);
    if (start + length >= sizeof path) return ENAMETOOLONG;
    std::copy_n(words[0], length + 1, std::copy_n(folder, start, path));
    execv(path, words);
  }
  return errno;
}

/// A child, as long as it has not been waited for.
class Child {
 public:
  Child(pid_t pid, double stop_timeout_s) : pid_(pid), stop_timeout_s_(stop_timeout_s) {}

  /// Returns whether it has ended, without waiting. Throws ProgramStopped.
  bool ended(const std::string& program) {
    int news = 0;
    while (!ended_ && waitpid(pid_, &news, WNOHANG | WUNTRACED | WCONTINUED) == pid_) {
      stopped_ = WIFSTOPPED(news);
      stopped_s_ = 0;
      ended_ = WIFEXITED(news) || WIFSIGNALED(news);
      state_ = news;
    }
    if (ended_) running = 0;  // another process may get its number soon
    const Clock::time_point now = Clock::now();
    // Both may have been stopped together, from a terminal: then this process counts one round only.
    if (stopped_) stopped_s_ += std::min(seconds_between(last_look_, now), 4e-3 * kRoundMs);
    last_look_ = now;
    if (stopped_s_ > stop_timeout_s_) {
      kill(pid_, SIGKILL);
      while (waitpid(pid_, &news, 0) < 0 && errno == EINTR) continue;
      throw ProgramStopped(fmt::format("{} (process {}) was stopped for {:.3g} s, so it is killed", program,
                                       pid_, stopped_s_));
    }
    return ended_;
  }
  int status() const { return WIFSIGNALED(state_) ? 128 + WTERMSIG(state_) : WEXITSTATUS(state_); }

 private:
  pid_t pid_;
  double stop_timeout_s_;
  int state_ = 0;
  bool ended_ = false;
  bool stopped_ = false;
  double stopped_s_ = 0;  ///< seconds since it was stopped
  Clock::time_point last_look_ = Clock::now();
};

/// Feeds `input` and collects both outputs until the program closes them. Calls `look` each round.
void talk(FileDescriptor input_end, std::string_view input, FileDescriptor& output_end,
          FileDescriptor& diagnostics_end, ProgramEnd& result, const std::function<void()>& look) {
  std::array<char, 1 << 16> buffer;
  std::array<std::string*, 2> texts{&result.output, &result.diagnostics};
  std::array<FileDescriptor*, 2> ends{&output_end, &diagnostics_end};
  fcntl(input_end.get(), F_SETFL, O_NONBLOCK);
  while (output_end || diagnostics_end) {
    if (input.empty()) input_end.close();
    std::array<pollfd, 3> events{
        {{output_end.get(), POLLIN, 0}, {diagnostics_end.get(), POLLIN, 0}, {input_end.get(), POLLOUT, 0}}};
    const int ready = poll(events.data(), events.size(), kRoundMs);
    look();
    if (ready < 0) continue;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (events[i].revents == 0) continue;
      const ssize_t got = read(ends[i]->get(), buffer.data(), buffer.size());
      if (got > 0) texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      if (got == 0) ends[i]->close();
    }
    if (events[2].revents == 0) continue;
    const ssize_t put = write(input_end.get(), input.data(), input.size());
    if (put > 0) input.remove_prefix(static_cast<std::size_t>(put));
    if (put < 0 && errno != EAGAIN && errno != EINTR) input = {};  // the program wants no more input
  }
}

/// Tells the parent why a child cannot begin. Returns the status of its end.
int tell(const FileDescriptor& trouble, int cause) {
  [[maybe_unused]] const ssize_t told = write(trouble.get(), &cause, sizeof cause);
  return 127;
}

/// Forks as run_in_child() does. `body` may write why it failed, an errno, to its argument; then this throws
/// Error.
ProgramEnd run_forked(const std::string& name, const std::function<int(FileDescriptor& trouble)>& body,
                      std::string_view input, double stop_timeout_s) {
  require_process_calls();
  Pipe in = make_pipe(name), out = make_pipe(name), err = make_pipe(name), trouble = make_pipe(name);
  Forwarding forwarding;
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw Error(fmt::format("cannot start {}: {}", name, reason(errno)));
  if (pid == 0) {
    const bool connected = dup2(in.read.get(), STDIN_FILENO) >= 0 &&
                           dup2(out.write.get(), STDOUT_FILENO) >= 0 &&
                           dup2(err.write.get(), STDERR_FILENO) >= 0;
    if (!connected) _exit(tell(trouble.write, errno));
    for (Pipe* pipe : {&in, &out, &err}) *pipe = {};
    forwarding.restore();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    _exit(body(trouble.write));
  }
  forwarding.start(pid);
  for (Pipe* pipe : {&out, &err, &trouble}) pipe->write.close();
  in.read.close();
  ProgramEnd result;
  Child child(pid, stop_timeout_s);
  talk(std::move(in.write), input, out.read, err.read, result, [&] { child.ended(name); });
  while (!child.ended(name)) poll(nullptr, 0, 1);  // it ends soon: its files are closed
  int cause = 0;
  if (read(trouble.read.get(), &cause, sizeof cause) == sizeof cause)
    throw Error(fmt::format("cannot start {}: {}", name, reason(cause)));
  result.status = child.status();
  return result;
}

}  // namespace

void require_process_calls() {
  require_calls({{"getpid", [] { return syscall(SYS_getpid); }},  // the C library's has no errors
                 {"getppid", [] { return syscall(SYS_getppid); }},
                 {"poll", [] { return long{::poll(nullptr, 0, 0)}; }},
                 {"wait4", [] { return long{waitpid(getpid(), nullptr, WNOHANG)}; }}});
}

std::string ProgramEnd::last_words() const {
  std::string_view text = diagnostics;
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (const auto last = text.rfind('\n'); last != std::string_view::npos) text.remove_prefix(last + 1);
  if (!text.empty()) return std::string(text);
  return status > 128 ? fmt::format("ended by signal {} ({})", status - 128, strsignal(status - 128))
                      : fmt::format("exit status {}", status);
}

ProgramEnd run_program(const std::vector<std::string>& words, std::string_view input, double stop_timeout_s) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const auto body = [&](FileDescriptor& trouble) { return tell(trouble, execute(arguments.data())); };
  return run_forked(words[0], body, input, stop_timeout_s);
}

ProgramEnd run_in_child(const std::string& name, const std::function<int()>& body) {
  const auto alone = [&](FileDescriptor& trouble) {
    trouble.close();  // or else those that the child starts would hold it
    return body();
  };
  std::fflush(nullptr);  // or else the child would print it, too
  return run_forked(name, alone, {}, kStopTimeoutS);
}

}  // namespace edgewire::launch
