#include "process/interrupt.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <set>
#include <string>
#include <thread>

namespace edgewire::cli {
namespace {

/// What a process says that tells of two steps in turns, in two threads, until a signal ends it.
std::string last_line() {
  std::array<int, 2> pipe_ends{};
  REQUIRE(pipe(pipe_ends.data()) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], STDERR_FILENO);
    const process::InterruptLine line;
    const Progress progress = process::InterruptLine::listen({});
    const auto tell = [&] {
      for (;;) {
        progress({"reading", 500, 1000, "bytes"});
        progress({"merging", 7, 9, "records"});
      }
    };
    std::thread other(tell);
    std::raise(SIGSTOP);  // both are ready
    tell();
  }
  close(pipe_ends[1]);
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  kill(child, SIGINT);  // waits until the process goes on
  kill(child, SIGCONT);
  std::string text;
  std::array<char, 256> part{};
  for (ssize_t bytes = 0; (bytes = read(pipe_ends[0], part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(bytes));
  close(pipe_ends[0]);
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  return text;
}

}  // namespace

TEST_CASE("what is said of a step is of one step, however often it changes") {
  const std::set<std::string> possible{"edgewire: interrupted before the result was whole\n",
                                       "edgewire: interrupted while reading, after 500 of 1000 bytes\n",
                                       "edgewire: interrupted while merging, after 7 of 9 records\n"};
  for (int turn = 0; turn < 300; ++turn) {
    const std::string said = last_line();
    CHECK_MESSAGE(possible.contains(said), said);
  }
}

}  // namespace edgewire::cli
