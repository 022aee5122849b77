#include "report/progress.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
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

/// What `work`, in a process of its own, writes to a stderr that is a terminal with these many columns.
std::string on_terminal(unsigned short columns, const std::function<void()>& work) {
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
    work();
    _exit(0);
  }
  close(slave);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t bytes = 0; (bytes = read(master, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(bytes));
  close(master);
  waitpid(child, nullptr, 0);
  return text;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST_CASE("a long step draws at most ten bars a second and erases the last one") {
  if (!terminals()) return;
  const std::string text = on_terminal(80, [] {
    Progress progress("load", 1000, "edges");
    for (std::uint64_t done = 0; done < 350; ++done) {
      progress.set(done);
      std::this_thread::sleep_for(1ms);
    }
  });
  CHECK(text.find("load [") != std::string::npos);
  CHECK(text.find(" of 1000 edges") != std::string::npos);
  CHECK(count(text, "load") >= 1);
  CHECK(text.ends_with("\r\033[K"));
  CHECK(text.find('\n') == std::string::npos);
}

TEST_CASE("bars keep to the rate and the width, whoever reports") {
  if (!terminals()) return;
  const auto start = std::chrono::steady_clock::now();
  const std::string text = on_terminal(20, [] {
    Progress progress("iterate", 4'000'000'000'000, "iterations");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        const auto end = std::chrono::steady_clock::now() + 350ms;
        while (std::chrono::steady_clock::now() < end) progress.set(5'000'000'000'000);
      });
    for (auto& thread : threads) thread.join();
  });
  const auto tenths = static_cast<std::size_t>((std::chrono::steady_clock::now() - start) / 100ms);
  const std::size_t bars = count(text, "iterate");
  CHECK(bars >= 1);
  CHECK(bars <= tenths + 1);
  CHECK(text.size() <= bars * (4 + 19) + 4);
}

TEST_CASE("a step whose end nobody knows draws a line, which is made only when it is due") {
  if (!terminals()) return;
  const std::string text = on_terminal(30, [] {
    Progress progress("running", 0, "");
    int made = 0;
    const auto line = [&] { return "line " + std::to_string(++made) + " and more than fits the terminal"; };
    progress.say(line);  // mostly too early
    std::this_thread::sleep_for(150ms);
    for (int i = 0; i < 100; ++i) progress.say(line);
  });
  CHECK(text.starts_with("\r\033[Krunning: line 1 and more "));
  CHECK(text.ends_with("\r\033[K"));
  CHECK(text.find("terminal") == std::string::npos);
  const std::string last = "line " + std::to_string(count(text, "running")) + " ";
  CHECK(text.find(last) != std::string::npos);  // none was made that was not drawn
}

TEST_CASE("a short step, a disabled bar and a file stay silent") {
  if (!terminals()) return;
  CHECK(on_terminal(80, [] { Progress("load", 10, "edges").set(10); }).empty());
  CHECK(on_terminal(80, [] {
          Progress progress("load", 10, "edges", false);
          std::this_thread::sleep_for(120ms);
          progress.set(5);
        }).empty());
  std::array<int, 2> ends{};
  REQUIRE(pipe2(ends.data(), O_NONBLOCK) == 0);
  const int before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  {
    Progress progress("load", 10, "edges");
    std::this_thread::sleep_for(120ms);
    progress.set(5);
  }
  dup2(before, STDERR_FILENO);
  char byte = 0;
  CHECK(read(ends[0], &byte, 1) == -1);
  for (const int descriptor : {before, ends[0], ends[1]}) close(descriptor);
}

}  // namespace
}  // namespace edgewire::report
