#include "python/apart.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "edgewire/error.h"
#include "edgewire/launch.h"

namespace edgewire::python {

namespace {

constexpr int kPauseMs = 50;                      // between two calls of `wait`
constexpr std::chrono::milliseconds kGrace{300};  // for a process that was asked to end

[[noreturn]] void fail(const char* what) { throw Error(std::string(what) + ": " + std::strerror(errno)); }

/// The step that is under way. Its parts are told one by one: a reader may see those of two steps.
struct Told {
  std::atomic<const char*> name{nullptr}, unit{""};
  std::atomic<std::uint64_t> done{0}, total{0};
};

constexpr char kNote = '\x1E';  // begins a line that is no error

/// A process that was started here. It has ended when this is gone.
class Child {
 public:
  Child(pid_t pid, int lines) : pid_(pid), lines_(lines) {}
  ~Child() {
    if (pid_ > 0) {
      end(SIGTERM);
      const auto deadline = std::chrono::steady_clock::now() + kGrace;
      while (pid_ > 0 && std::chrono::steady_clock::now() < deadline) {
        reap(WNOHANG);
        if (pid_ > 0) usleep(1000);
      }
      end(SIGKILL);
      reap(0);
    }
    close(lines_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Reads what the process and those that it has started write, for a while. Returns false once it has ended
  /// or all have closed it. (Processes that other threads have started meanwhile may hold it open.)
  bool listen() {
    pollfd ready{lines_, POLLIN, 0};
    if (poll(&ready, 1, kPauseMs) > 0) return read_some();
    reap(WNOHANG);
    if (pid_ > 0) return true;
    while (poll(&ready, 1, 0) > 0 && read_some()) continue;
    return false;
  }
  /// Waits for its end, and throws what it says. Returns its notes.
  std::vector<std::string> finish() {
    reap(0);
    if (status_ == 0) return lines(true);
    const std::string line = first_line();
    if (WIFEXITED(status_) && WEXITSTATUS(status_) == 2) throw UsageError(line);
    throw Error(line);
  }

 private:
  static constexpr std::size_t kMostText = 1 << 16;

  bool read_some() {
    std::array<char, 4096> text;
    const ssize_t got = read(lines_, text.data(), text.size());
    if (got > 0 && text_.size() < kMostText) text_.append(text.data(), static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EINTR);
  }
  void end(int number) const {
    if (pid_ > 0) kill(-pid_, number);
  }
  void reap(int flags) {
    if (pid_ <= 0) return;
    pid_t ended = 0;
    while ((ended = waitpid(pid_, &status_, flags)) < 0 && errno == EINTR) continue;
    if (ended < 0) status_ = 1 << 8;  // somebody else has waited for it, and knows its status
    if (ended != 0) pid_ = 0;
  }
  /// Returns the lines that are notes, or the others.
  std::vector<std::string> lines(bool notes) const {
    std::vector<std::string> found;
    for (std::string_view rest = text_; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      if (line.starts_with(kNote) == notes) found.emplace_back(line.substr(notes ? 1 : 0));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    return found;
  }
  /// Returns the first line of errors without what a program puts before it.
  std::string first_line() const {
    const auto errors = lines(false);
    std::string line = errors.empty() ? "" : errors[0];
    constexpr std::string_view kProgram = "edgewire: ";
    if (line.starts_with(kProgram)) line.erase(0, kProgram.size());
    if (!line.empty()) return line;
    if (WIFSIGNALED(status_))
      return std::string("the process of the call was ended by signal ") + strsignal(WTERMSIG(status_));
    return "the process of the call ended without a word";
  }

  pid_t pid_;
  int lines_, status_ = 0;
  std::string text_;
};

/// Makes a new process what it must be: ended with its parent, with signals, input and output of its own.
void settle(pid_t parent, int lines) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  launch::leave_out_parents_memory();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE}) std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(lines, STDERR_FILENO);
}

int run_in_child(const std::function<void(const Progress&)>& work, Told& told) {
  try {
    work([&told](const Step& step) {
      told.done = step.done;
      told.total = step.total;
      told.unit = step.unit;
      told.name = step.name;
    });
    return 0;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fputs("there is not enough memory for this call\n", stderr);
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace

void note_apart(const std::string& line) { std::fprintf(stderr, "%c%s\n", kNote, line.c_str()); }

SharedMemory::SharedMemory(std::size_t bytes)
    : data_(mmap(nullptr, bytes + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                 0)),
      bytes_(bytes) {
  if (data_ == MAP_FAILED) fail("no memory for the result");
}

SharedMemory::~SharedMemory() { munmap(data_, bytes_ + 1); }

std::vector<std::string> run_apart(const std::function<void(const Progress&)>& work, const Wait& wait) {
  const SharedMemory memory(sizeof(Told));
  Told& told = *new (memory.as<std::byte>().data()) Told;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("cannot start a process");
  std::fflush(nullptr);  // else the child would write it again
  const pid_t parent = getpid(), pid = fork();
  if (pid == 0) {
    close(ends[0]);
    settle(parent, ends[1]);
    const int status = run_in_child(work, told);
    std::fflush(nullptr);
    _exit(status);
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    fail("cannot start a process");
  }
  setpgid(pid, pid);  // here, too: whoever comes first
  Child child(pid, ends[0]);
  while (child.listen()) wait({told.name, told.done, told.total, told.unit});
  return child.finish();
}

}  // namespace edgewire::python
