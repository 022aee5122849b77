#include "report/progress.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace edgewire::report {
namespace {

using namespace std::chrono_literals;

/// False, and the test a skipped one, in containers that have no terminals to give.
bool terminals() {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master >= 0) return close(master) == 0;
  MESSAGE("skipped: no pseudo terminals here (/dev/pts is not mounted)");
  return false;
}

/// How often a line of a terminal was begun, as far as the test has read: for the process that writes there.
class Drawn {
 public:
  Drawn()
      : count_(new (mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                   Count(0)) {}
  ~Drawn() { munmap(count_, sizeof(Count)); }
  Drawn(const Drawn&) = delete;
  Drawn& operator=(const Drawn&) = delete;

  void add(std::string_view text) const {
    *count_ += static_cast<std::size_t>(std::ranges::count(text, '\r'));
  }
  /// Does this again and again until so many lines were begun.
  void until(std::size_t lines, const std::function<void()>& draw) const {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (*count_ < lines && std::chrono::steady_clock::now() < end) draw();
  }

 private:
  using Count = std::atomic<std::size_t>;  // guards nothing
  Count* count_;
};

/// What `work`, in a process of its own, writes to a stderr that is a terminal with these many columns.
std::string on_terminal(unsigned short columns, const std::function<void(const Drawn&)>& work) {
  const Drawn drawn;
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(master >= 0);
  REQUIRE(grantpt(master) == 0);
  REQUIRE(unlockpt(master) == 0);
  const int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
  REQUIRE(slave >= 0);
  const winsize size{24, columns, 0, 0};
  ioctl(slave, TIOCSWINSZ, &size);
  const pid_t child = fork();
  if (child == 0) {
    setenv("TERM", "xterm", 1);
    dup2(slave, STDERR_FILENO);
    work(drawn);
    _exit(0);
  }
  close(slave);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t bytes = 0; (bytes = read(master, part.data(), part.size())) > 0;) {
    const std::string_view piece(part.data(), static_cast<std::size_t>(bytes));
    text += piece;
    drawn.add(piece);
  }
  close(master);
  waitpid(child, nullptr, 0);
  return text;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST_CASE("a long step draws bars and erases the last one") {
  if (!terminals()) return;
  const std::string text = on_terminal(80, [](const Drawn& drawn) {
    Progress progress("load", 1000, "edges");
    std::uint64_t done = 0;
    drawn.until(3, [&] { progress.set(++done); });
  });
  CHECK(text.find("load [") != std::string::npos);
  CHECK(text.find(" of 1000 edges") != std::string::npos);
  CHECK(count(text, "load") >= 3);
  CHECK(text.ends_with("\r\033[K"));
  CHECK(text.find('\n') == std::string::npos);
}

TEST_CASE("bars keep to the rate and the width, whoever reports") {
  if (!terminals()) return;
  const auto start = std::chrono::steady_clock::now();
  const std::string text = on_terminal(20, [](const Drawn& drawn) {
    Progress progress("iterate", 4'000'000'000'000, "iterations");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] { drawn.until(4, [&] { progress.set(5'000'000'000'000); }); });
    for (auto& thread : threads) thread.join();
  });
  // All bars were drawn in this time, however slow the machine is: the rate lets no more of them through.
  const auto tenths = static_cast<std::size_t>((std::chrono::steady_clock::now() - start) / 100ms);
  const std::size_t bars = count(text, "iterate");
  CHECK(bars >= 4);
  CHECK(bars <= tenths + 1);
  CHECK(text.size() <= bars * (4 + 19) + 4);
}

TEST_CASE("a step whose end nobody knows draws a line, which is made only when it is due") {
  if (!terminals()) return;
  const std::string text = on_terminal(30, [](const Drawn& drawn) {
    Progress progress("running", 0, "");
    int made = 0;
    const auto line = [&] { return "line " + std::to_string(++made) + " and more than fits the terminal"; };
    drawn.until(2, [&] { progress.say(line); });
    for (int i = 0; i < 100; ++i) progress.say(line);  // mostly too early
  });
  CHECK(text.starts_with("\r\033[Krunning: line 1 and more "));
  CHECK(text.ends_with("\r\033[K"));
  CHECK(text.find("terminal") == std::string::npos);
  const std::string last = "line " + std::to_string(count(text, "running")) + " ";
  CHECK(text.find(last) != std::string::npos);  // none was made that was not drawn
}

void say(std::string_view text) { CHECK(write(STDERR_FILENO, text.data(), text.size()) > 0); }

TEST_CASE("a short step stays silent") {
  if (!terminals()) return;
  std::string text = "late";
  for (int turn = 0; turn < 100 && text.ends_with("late"); ++turn)
    text = on_terminal(80, [](const Drawn&) {
      const auto start = std::chrono::steady_clock::now();
      Progress("load", 10, "edges").set(10);
      if (std::chrono::steady_clock::now() - start > 90ms) say("late");  // it was not short
    });
  CHECK(text.empty());
}

TEST_CASE("a disabled bar and a file stay silent, when a bar on a terminal is due") {
  if (!terminals()) return;
  const std::string text = on_terminal(80, [](const Drawn& drawn) {
    std::array<int, 2> ends{};
    CHECK(pipe2(ends.data(), O_NONBLOCK) == 0);
    const int terminal = dup(STDERR_FILENO);
    Progress disabled("disabled", 10, "edges", false);
    dup2(ends[1], STDERR_FILENO);
    Progress file("file", 10, "edges");
    dup2(terminal, STDERR_FILENO);
    Progress shown("shown", 10, "edges");
    drawn.until(1, [&] { shown.set(5); });
    disabled.set(5);
    dup2(ends[1], STDERR_FILENO);
    file.set(5);
    dup2(terminal, STDERR_FILENO);
    char byte = 0;
    say(read(ends[0], &byte, 1) == -1 ? "nothing there" : "something there");
  });
  CHECK(text.find("shown [") != std::string::npos);
  CHECK(text.find("disabled") == std::string::npos);
  CHECK(text.find("nothing there") != std::string::npos);
}

}  // namespace
}  // namespace edgewire::report
