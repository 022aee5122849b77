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
    const Progress progress = progress_on_terminal();
    std::uint64_t done = 0;
    drawn.until(3, [&] { progress({"load", ++done, ~std::uint64_t{0}, "edges"}); });
  });
  CHECK(text.find("load [") != std::string::npos);
  CHECK(text.find(" of 18446744073709551615 edges, ") != std::string::npos);
  CHECK(count(text, "load") >= 3);
  CHECK(text.ends_with("\r\033[K"));
  CHECK(text.find('\n') == std::string::npos);
}

TEST_CASE("bars keep to the rate and the width, whoever reports") {
  if (!terminals()) return;
  const auto start = std::chrono::steady_clock::now();
  const std::string text = on_terminal(20, [](const Drawn& drawn) {
    const Progress progress = progress_on_terminal();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        drawn.until(4, [&] { progress({"iterate", 5'000'000'000'000, 4'000'000'000'000, "iterations"}); });
      });
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
    const Progress progress = progress_on_terminal();
    int made = 0;
    const auto line = [&] { return "line " + std::to_string(++made) + " and more than fits the terminal"; };
    drawn.until(2, [&] { progress({"running", 1, 0, "supersteps", line}); });
    for (int i = 0; i < 100; ++i) progress({"running", 1, 0, "supersteps", line});  // mostly too early
  });
  CHECK(text.starts_with("\r\033[Krunning: line 1 and more "));
  CHECK(text.ends_with("\r\033[K"));
  CHECK(text.find("terminal") == std::string::npos);
  const std::string last = "line " + std::to_string(count(text, "running")) + " ";
  CHECK(text.find(last) != std::string::npos);  // none was made that was not drawn
}

void say(std::string_view text) { CHECK(write(STDERR_FILENO, text.data(), text.size()) > 0); }

TEST_CASE("the end of all steps is shown, also when another thread is drawing a line just then") {
  if (!terminals()) return;
  const std::string text = on_terminal(80, [](const Drawn& drawn) {
    auto& line = *new ProgressLine;  // never destroyed, which would erase it, too
    std::thread other;
    const auto while_drawn = [&] {
      std::atomic<bool> starts{false};
      if (!other.joinable())
        other = std::thread([&] {
          starts = true;
          line.show({});
        });
      while (!starts) std::this_thread::yield();
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      return std::string("a line");
    };
    drawn.until(1, [&] {
      if (!other.joinable()) line.show({"running", 1, 0, "supersteps", while_drawn});
    });
    other.join();
  });
  CHECK(text.starts_with("\r\033[Krunning: a line, "));
  CHECK(text.ends_with("\r\033[K"));
}

TEST_CASE("a short step stays silent") {
  if (!terminals()) return;
  std::string text = "late";
  for (int turn = 0; turn < 100 && text.ends_with("late"); ++turn)
    text = on_terminal(80, [](const Drawn&) {
      const auto start = std::chrono::steady_clock::now();
      const Progress progress = progress_on_terminal();
      progress({"load", 5, 10, "edges"});
      progress({"load", 10, 10, "edges"});
      if (std::chrono::steady_clock::now() - start > 90ms) say("late");  // it was not short
    });
  CHECK(text.empty());
}

TEST_CASE("nobody is told without a terminal, and a file stays silent, when a bar on a terminal is due") {
  if (!terminals()) return;
  const std::string text = on_terminal(80, [](const Drawn& drawn) {
    std::array<int, 2> ends{};
    CHECK(pipe2(ends.data(), O_NONBLOCK) == 0);
    const int terminal = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    CHECK(!progress_on_terminal());
    ProgressLine file;
    dup2(terminal, STDERR_FILENO);
    const Progress shown = progress_on_terminal();
    const auto draw = [&] {
      shown({"shown", 5, 10, "edges"});
      dup2(ends[1], STDERR_FILENO);
      file.show({"file", 5, 10, "edges"});
      dup2(terminal, STDERR_FILENO);
    };
    drawn.until(2, draw);
    char byte = 0;
    say(read(ends[0], &byte, 1) == -1 ? "nothing there" : "something there");
  });
  CHECK(text.find("shown [") != std::string::npos);
  CHECK(text.find("file") == std::string::npos);
  CHECK(text.find("nothing there") != std::string::npos);
}

TEST_CASE("one line shows step after step, and goes when nothing is under way") {
  if (!terminals()) return;
  const std::string text = on_terminal(80, [](const Drawn& drawn) {
    const Progress progress = progress_on_terminal();
    drawn.until(1, [&] { progress({"reading", 3'000'000, 12'000'000, "bytes"}); });
    drawn.until(2, [&] { progress({"merging", 1, 4, "parts"}); });
    progress({});
    say("row\n");
    progress({});
  });
  const auto reading = text.find("\r\033[Kreading [######------------------]  25 %  3 MB of 12 MB");
  const auto merging = text.find("\r\033[Kmerging [######------------------]  25 %  1 of 4 parts");
  CHECK(reading != std::string::npos);
  CHECK(merging != std::string::npos);
  CHECK(reading < merging);
  CHECK(text.ends_with("\r\033[Krow\r\n"));  // and nothing was erased again
}

TEST_CASE("work that is silent is shown by a ticker") {
  if (!terminals()) return;
  const std::string text = on_terminal(80, [](const Drawn& drawn) {
    std::atomic<int> asked{0};
    Ticker ticker(progress_on_terminal(), [&] { return std::to_string(++asked) + " tasks"; });
    ticker.tell({"running", 1, 4, "runs"});
    drawn.until(2, [] { std::this_thread::yield(); });
    ticker.tell({"measuring", 3, 0, "levels"});
    drawn.until(4, [] { std::this_thread::yield(); });
    ticker.tell({});
  });
  CHECK(text.find("running [######------------------]  25 %  1 of 4 runs, 1 tasks") != std::string::npos);
  CHECK(text.find("measuring: ") != std::string::npos);
  CHECK(text.ends_with("\r\033[K"));
}

TEST_CASE("a ticker that nobody looks at asks for nothing") {
  bool asked = false;
  {
    Ticker ticker({}, [&] {
      asked = true;
      return std::string();
    });
    ticker.tell({"running", 1, 4, "runs"});
  }
  CHECK(!asked);
}

TEST_CASE("a forecast is for steps that take another minute") {
  CHECK(forecast({"searching", 25, 4005, "sources"}, 5, 5.2) ==
        "searching: 25 of 4005 sources after 5 s; the rest will take about 17 min 15 s");
  CHECK(forecast({"reading", 2'000'000, 100'000'000, "bytes"}, 0, 3) ==
        "reading: 2 MB of 100 MB after 3 s; the rest will take about 2 min 27 s");
  CHECK(!forecast({"iterate", 20, 100, "iterations"}, 0, 15).empty());
  CHECK(forecast({"iterate", 20, 100, "iterations"}, 0, 14).empty());   // 56 s
  CHECK(forecast({"iterate", 5, 100, "iterations"}, 5, 1000).empty());  // its rate is not known
  CHECK(forecast({"iterate", 100, 100, "iterations"}, 0, 1000).empty());
  CHECK(forecast({"running", 5, 0, "supersteps"}, 0, 1000).empty());  // nobody knows
}

TEST_CASE("times in words") {
  CHECK(to_words(0.2) == "0 s");
  CHECK(to_words(59.4) == "59 s");
  CHECK(to_words(59.6) == "1 min 0 s");
  CHECK(to_words(3599) == "59 min 59 s");
  CHECK(to_words(7530) == "2 h 5 min");
}

}  // namespace
}  // namespace edgewire::report
