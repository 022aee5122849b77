#include "topology/shell.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "base/error.h"

namespace edgewire::topology {
namespace {

/// A descriptor leads elsewhere while it lives, or nowhere.
class Led {
 public:
  explicit Led(int descriptor) : descriptor_(descriptor), saved_(fcntl(descriptor, F_DUPFD_CLOEXEC, 100)) {
    close(descriptor);
  }
  ~Led() {
    dup2(saved_, descriptor_);
    close(saved_);
  }
  Led(const Led&) = delete;
  Led& operator=(const Led&) = delete;

 private:
  int descriptor_, saved_;
};

std::string error_of(std::uint64_t files) {
  try {
    require_open_files(files, ", or ask for less");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a standard stream that is closed is taken by no other file") {
  int next = -1;
  bool read_fails = false, write_fails = false, loses = false;
  {
    const Led in(STDIN_FILENO), out(STDOUT_FILENO), error(STDERR_FILENO);
    settle_in_shell();
    next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    char byte = 'x';
    read_fails = read(STDIN_FILENO, &byte, 1) < 0;
    write_fails = write(STDOUT_FILENO, &byte, 1) < 0;
    loses = write(STDERR_FILENO, &byte, 1) == 1;
    close(next);
  }
  CHECK(next > STDERR_FILENO);
  CHECK(read_fails);
  CHECK(write_fails);
  CHECK(loses);
}

TEST_CASE("a note that nobody reads neither ends the process nor changes its signals") {
  const Led error(STDERR_FILENO);
  const bool was_ignored = is_ignored(SIGPIPE);
  int ends[2];
  REQUIRE(pipe(ends) == 0);  // one of them is stderr's number
  const int other = ends[0] == STDERR_FILENO ? ends[1] : ends[0];
  dup2(ends[1], STDERR_FILENO);
  close(other);
  note("lost");
  sigset_t pending;
  sigpending(&pending);
  close(STDERR_FILENO);
  CHECK(sigismember(&pending, SIGPIPE) == 0);
  CHECK(is_ignored(SIGPIPE) == was_ignored);
}

TEST_CASE("too few open files are named with what would do") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{50, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  CHECK(error_of(50).empty());
  CHECK(
      error_of(51) ==
      "up to 51 files must be open at a time, and `ulimit -n` allows 50: raise it with `ulimit -n 1024`, or "
      "ask for less");
  CHECK(error_of(5000).find("`ulimit -n 5000`") != std::string::npos);
  CHECK(reason(EMFILE) == "Too many open files (`ulimit -n` allows 50: raise it with `ulimit -n 1024`)");
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("signals that are ignored are known") {
  CHECK(!is_ignored(SIGUSR1));
  std::signal(SIGUSR1, SIG_IGN);
  CHECK(is_ignored(SIGUSR1));
  std::signal(SIGUSR1, SIG_DFL);
}

}  // namespace
}  // namespace edgewire::topology
