#include "edgewire/launch.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <new>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "growing_timeout.h"
#include "launch/bootstrap.h"
#include "launch/launcher.h"
#include "launch/packing.h"
#include "launch/start.h"
#include "stderr_capture.h"

namespace edgewire::launch {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// With a timeout that expires for no live process, however busy the machine is.
StartOptions local(int processes, double peer_timeout_s = 60) {
  StartOptions options;
  options.processes = processes;
  options.peer_timeout_s = peer_timeout_s;
  return options;
}

void expect(bool condition, const char* what) {
  if (!condition) throw Error(what);
}
#define EXPECT(condition) expect(condition, #condition)

TEST_CASE("collective steps of forked processes give everyone the right messages") {
  for (const int size : {1, 2, 5}) {
    CAPTURE(size);
    const int status = start(local(size), [&](Bootstrap& bootstrap) {
      EXPECT(bootstrap.size() == size);
      EXPECT(bootstrap.local_rank() == bootstrap.rank() && bootstrap.local_size() == size);
      EXPECT(bootstrap.secret().size() == 32);
      for (int round = 0; round < 20; ++round) {
        const std::string mine = fmt::format("{} in round {}", bootstrap.rank(), round);
        const auto all = bootstrap.allgather(mine);
        for (int p = 0; p < size; ++p)
          EXPECT(all.at(static_cast<std::size_t>(p)) == fmt::format("{} in round {}", p, round));

        std::vector<std::string> to;
        for (int p = 0; p < size; ++p)
          to.push_back(std::string(static_cast<std::size_t>(p * 1000), 'a') + mine);
        const auto from = bootstrap.alltoall(to);
        for (int p = 0; p < size; ++p)
          EXPECT(from.at(static_cast<std::size_t>(p)) ==
                 std::string(static_cast<std::size_t>(bootstrap.rank() * 1000), 'a') +
                     fmt::format("{} in round {}", p, round));

        const auto gathered = bootstrap.gather(mine);
        EXPECT(gathered.size() == (bootstrap.rank() == 0 ? static_cast<std::size_t>(size) : 0U));
      }
      const auto secrets = bootstrap.allgather(bootstrap.secret());
      for (const auto& secret : secrets) EXPECT(secret == bootstrap.secret());
    });
    CHECK(status == 0);
  }
}

TEST_CASE("what all processes have is joined value by value, in the order of their ranks") {
  for (const int size : {1, 2, 5}) {
    CAPTURE(size);
    const int status = start(local(size), [&](Bootstrap& bootstrap) {
      const int rank = bootstrap.rank();
      const std::vector<int> mine{rank, 100 * rank}, sums{size * (size - 1) / 2, 50 * size * (size - 1)};
      EXPECT(allreduce(bootstrap, mine, std::plus<>()) == sums);
      EXPECT(allreduce(bootstrap, 10 - rank, std::ranges::min) == 11 - size);
      EXPECT(allreduce(bootstrap, 10 - rank, std::ranges::max) == 10);
      const auto behind = [](int before, int next) { return 10 * before + next; };
      EXPECT(allreduce(bootstrap, rank, behind) == (size == 1 ? 0 : size == 2 ? 1 : 1234));
    });
    CHECK(status == 0);
  }
}

TEST_CASE("a message of many megabytes arrives whole") {
  const int status = start(local(3), [](Bootstrap& bootstrap) {
    std::string mine(20'000'003, static_cast<char>('a' + bootstrap.rank()));
    const auto all = bootstrap.allgather(mine);
    for (std::size_t p = 0; p < 3; ++p)
      EXPECT(all.at(p) == std::string(20'000'003, static_cast<char>('a' + p)));
  });
  CHECK(status == 0);
}

TEST_CASE("a failure of one process ends all, and its cause is said once") {
  StderrCapture capture;
  const int status = start(local(3), [](Bootstrap& bootstrap) {
    bootstrap.allgather("");
    if (bootstrap.rank() == 1) throw Error("disk full");
    bootstrap.allgather("");
  });
  const std::string text = capture.text();
  CAPTURE(text);
  CHECK(status == 1);
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK(contains(text, "rank 1"));
  CHECK(contains(text, ": disk full\n"));
}

TEST_CASE("refused arguments give status 2, also when another process hears of it and ends first") {
  StderrCapture capture;
  const int status = start(local(2), [](Bootstrap& bootstrap) {
    const auto processes = bootstrap.allgather(std::to_string(getpid()));
    if (bootstrap.rank() == 1) throw Error("rank 0 gave up");
    const transport::FileDescriptor other(
        static_cast<int>(syscall(SYS_pidfd_open, std::stoi(processes.at(1)), 0)));
    pollfd end{other.get(), POLLIN, 0};
    if (other) poll(&end, 1, 60'000);  // without it: the other one has ended already
    throw UsageError("no such port");
  });
  CHECK(status == 2);
}

TEST_CASE("a cut between two others than rank 0 is named from both sides") {
  StderrCapture capture;
  const int status = start(local(3), [](Bootstrap& bootstrap) {
    bootstrap.allgather("");
    if (bootstrap.rank() == 2) bootstrap.health().fail(1, "rank 1 was lost: no route");
    bootstrap.allgather("");
  });
  const std::string text = capture.text();
  CAPTURE(text);
  CHECK(status == 1);
  CHECK(contains(text, "edgewire: rank 0: rank 1 was lost: no route\n"));
  CHECK(contains(text, "edgewire: rank 1: rank 2 gave up: rank 1 was lost: no route\n"));
  CHECK(contains(text, "edgewire: rank 2: rank 1 was lost: no route\n"));
}

TEST_CASE("a usage error exits with 2, a single process is not numbered") {
  StderrCapture capture;
  CHECK(start(local(1), [](Bootstrap&) { throw UsageError("bad option"); }) == 2);
  CHECK(capture.text() == "edgewire: bad option\n");
  CHECK_THROWS_AS(start(local(0), [](Bootstrap&) {}), UsageError);
  CHECK_THROWS_AS(start(local(1, 0), [](Bootstrap&) {}), UsageError);
}

TEST_CASE("a killed process is noticed at once and named by all others") {
  for (const int victim : {0, 1, 2}) {
    CAPTURE(victim);
    StderrCapture capture;
    const int status = start(local(3), [&](Bootstrap& bootstrap) {
      bootstrap.allgather("");
      if (bootstrap.rank() == victim) raise(SIGKILL);
      bootstrap.allgather("");
    });
    const std::string text = capture.text();
    CAPTURE(text);
    CHECK(status == 1);
    for (int p = 0; p < 3; ++p)
      if (p != victim) CHECK(contains(text, fmt::format("edgewire: rank {}: rank {} was lost", p, victim)));
  }
}

TEST_CASE("a stopped process is noticed at the timeout and not left behind") {
  for (const int victim : {0, 2}) {
    CAPTURE(victim);
    int status = 0;
    double timeout_s = 0;
    std::string text;
    REQUIRE(with_growing_timeout(1, [&](double limit_s) {
      StderrCapture capture;
      timeout_s = limit_s;
      status = start(local(3, limit_s), [&](Bootstrap& bootstrap) {
        bootstrap.allgather("");
        if (bootstrap.rank() == victim) raise(SIGSTOP);
        bootstrap.allgather("");
      });
      text = capture.text();
      return !accuses_live(text, 3, victim);
    }));
    CAPTURE(text);
    CHECK(status == 1);
    for (int p = 0; p < 3; ++p) {
      if (p == victim) continue;
      const std::string words = fmt::format("edgewire: rank {}: rank {} has been silent for ", p, victim);
      const std::size_t at = text.find(words);
      REQUIRE(at != text.npos);
      CHECK(std::stod(text.substr(at + words.size())) > 0.8 * timeout_s);
    }
  }
}

StartOptions tolerant(int processes, double peer_timeout_s = 60) {
  StartOptions options = local(processes, peer_timeout_s);
  options.tolerates_losses = true;
  return options;
}

/// Runs a job of four that loses rank 2 and goes on. Returns its status, and what it says in `text`.
int go_on_without(std::string_view how, double peer_timeout_s, std::string& text) {
  StderrCapture capture;
  const int status = start(tolerant(4, peer_timeout_s), [&](Bootstrap& bootstrap) {
    bootstrap.health().tolerate_losses(4);
    bootstrap.allgather("");
    if (bootstrap.rank() == 2 && how == "killed") raise(SIGKILL);
    if (bootstrap.rank() == 2 && how == "exits") _exit(7);
    if (bootstrap.rank() == 2 && how == "stopped") raise(SIGSTOP);
    if (bootstrap.rank() == 3 && how == "cut off") bootstrap.health().lose(2, "rank 2 was lost: no route");
    if (bootstrap.rank() == 2)  // it hears that the others go on without it
      for (;;) bootstrap.allgather("late");
    const std::string mine = std::to_string(bootstrap.rank());
    while (!bootstrap.allgather(mine)[2].empty()) continue;
    const auto all = bootstrap.allgather(mine);
    EXPECT(all == std::vector<std::string>({"0", "1", "", "3"}));
    EXPECT(bootstrap.health().lost(2) && !bootstrap.health().lost(1) && !bootstrap.health().failed());
    EXPECT(contains(bootstrap.health().why_lost(2),
                    how == "stopped" ? "rank 2 has been silent" : "rank 2 was lost"));
  });
  text = capture.text();
  return status;
}

TEST_CASE("a job that tolerates losses goes on without processes that end, stop or are given up by others") {
  for (const std::string_view how : {"killed", "exits", "stopped", "cut off"}) {
    CAPTURE(how);
    std::string text;
    int status = -1;
    if (how == "stopped")
      REQUIRE(with_growing_timeout(1, [&](double timeout_s) {
        status = go_on_without(how, timeout_s, text);
        return !accuses_live(text, 4, 2);
      }));
    else
      status = go_on_without(how, 60, text);
    INFO(text);
    CHECK(status == 0);
    CHECK(!contains(text, "rank 1:"));
    CHECK(!contains(text, "rank 3:"));
  }
}

TEST_CASE("a job that tolerates losses ends with rank 0, with a process that fails, and before it begins") {
  const auto ends = [](int victim, bool begun, bool fails, const char* words) {
    StderrCapture capture;
    const int status = start(tolerant(3), [&](Bootstrap& bootstrap) {
      bootstrap.allgather("");
      if (begun) bootstrap.health().tolerate_losses(3);
      if (bootstrap.rank() == victim && fails) throw Error("no luck");
      if (bootstrap.rank() == victim) raise(SIGKILL);
      for (;;) bootstrap.allgather("");
    });
    const std::string text = capture.text();
    INFO(text);
    CHECK(status == 1);
    CHECK(contains(text, words));
  };
  ends(0, true, false, "rank 0 was lost");
  ends(2, true, true, "no luck");  // told by it, or by one that has heard it
  ends(1, false, false, "rank 1 was lost");
}

TEST_CASE("a process that stops when the job is done is named and not waited for") {
  int status = 0;
  std::string text, expected;
  REQUIRE(with_growing_timeout(0.5, [&](double timeout_s) {
    StderrCapture capture;
    status = start(local(3, timeout_s), [&](Bootstrap& bootstrap) {
      if (bootstrap.rank() != 1) return;
      bootstrap.finish();
      raise(SIGSTOP);
    });
    text = capture.text();
    expected = fmt::format(
        "edgewire: rank 1 has not ended {:.3g} s after the others (it is stopped), so it is killed\n",
        timeout_s + 2);
    return !accuses_live(text, 3, -1) && !contains(text, "rank 0 has not") &&
           !contains(text, "rank 2 has not");
  }));
  CHECK(status == 1);
  CHECK(text == expected);
}

TEST_CASE("processes that compute for longer than the timeout are not lost") {
  int status = -1;
  CHECK(with_growing_timeout(1, [&](double timeout_s) {
    StderrCapture capture;
    status = start(local(2, timeout_s), [&](Bootstrap& bootstrap) {
      if (bootstrap.rank() == 1) std::this_thread::sleep_for(std::chrono::duration<double>(2.5 * timeout_s));
      bootstrap.allgather("");
    });
    return !accuses_live(capture.text(), 2, -1);
  }));
  CHECK(status == 0);
}

TEST_CASE("the same fault in all processes is said once as an own one") {
  StderrCapture capture;
  CHECK(start(local(4), [](Bootstrap&) { throw Error("g.ew: no such file"); }) == 1);
  const std::string text = capture.text();
  CAPTURE(text);
  const std::string line = "edgewire: rank";
  std::size_t own = 0;
  for (int p = 0; p < 4; ++p) own += contains(text, fmt::format("rank {}: g.ew: no such file\n", p)) ? 1 : 0;
  CHECK(own == 1);
}

TEST_CASE("of several causes one is said") {
  StderrCapture capture;
  CHECK(start(local(4), [](Bootstrap& bootstrap) {
          throw Error(fmt::format("g.ew: edge {} is wrong", bootstrap.rank()));
        }) == 1);
  const std::string text = capture.text();
  CAPTURE(text);
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK(contains(text, " is wrong\n"));
}

TEST_CASE("a mapped file that is cut short ends a job with one line, however many processes read it") {
  constexpr std::size_t kBytes = 1 << 20;
  for (const int readers : {1, 3}) {
    CAPTURE(readers);
    std::FILE* const file = std::tmpfile();
    REQUIRE(ftruncate(fileno(file), kBytes) == 0);
    StderrCapture capture;
    const int status = start(local(3), [&](Bootstrap& bootstrap) {
      const MappedFile mapped(fmt::format("/proc/self/fd/{}", fileno(file)), "g.ew");
      bootstrap.allgather("");
      if (bootstrap.rank() == 1) EXPECT(ftruncate(fileno(file), 1) == 0);
      bootstrap.allgather("");
      const bool reads = readers == 3 || bootstrap.rank() == 1;
      if (reads) EXPECT(mapped.data()[kBytes / 2] == 'x');  // a byte that is gone
      bootstrap.allgather("");
    });
    std::fclose(file);
    CHECK(status == 1);
    CHECK(capture.text() ==
          "edgewire: g.ew: byte 524288: cannot read: the file was cut short, or its disk "
          "failed, while it was used\n");
  }
}

TEST_CASE("a process that fails as another one did says so where no one else can") {
  StderrCapture capture;
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  const auto process = [&](int rank) {
    Member self;
    self.rank = self.local_rank = rank;
    self.size = self.local_size = 2;
    self.peer_timeout_s = 60;
    self.secret = std::string(32, 's');
    std::vector<transport::FileDescriptor> streams(rank == 0 ? 2 : 1);
    streams.back() = transport::FileDescriptor(ends[rank]);
    const auto bootstrap = connect_bootstrap(std::move(self), std::move(streams));
    return run_body(*bootstrap, [&](Bootstrap& body_wire) {
      while (rank == 0 && !body_wire.health().failed()) std::this_thread::yield();
      throw Error("g.ew: no such file");
    });
  };
  int other = 0;
  std::thread thread([&] { other = process(1); });
  CHECK(process(0) == 1);
  thread.join();
  CHECK(other == 1);
  CHECK(capture.text() == "edgewire: rank 1: g.ew: no such file\nedgewire: rank 0: g.ew: no such file\n");
}

}  // namespace
}  // namespace edgewire::launch
