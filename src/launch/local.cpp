#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/control_group.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/seconds.h"
#include "base/usage.h"
#include "launch/bootstrap.h"
#include "launch/launcher.h"
#include "launch/local_hosts.h"
#include "launch/program.h"
#include "topology/shell.h"
#include "transport/sealed.h"

namespace edgewire::launch {
namespace {

using transport::FileDescriptor;

/// The lines that processes of a local job have printed, shared by all of them. If all find the same fault,
/// such as a missing file, it is printed once.
struct SaidLines : SaidOfEnd {
  /// The hashes of lines.
  std::atomic<std::size_t> hashes[64] = {};
  /// Whether the job goes on when a process fails, so that a later fault is another one.
  bool goes_on = false;
};
SaidLines* said = nullptr;

bool say_once(std::string_view line) {
  if (said == nullptr) return true;
  const std::size_t hash = std::max<std::size_t>(std::hash<std::string_view>{}(line), 1);
  for (auto& slot : said->hashes) {
    std::size_t empty = 0;
    if (slot.compare_exchange_strong(empty, hash)) return true;  // pairs with itself in the other processes
    if (empty == hash) return false;
  }
  return true;
}

bool say_first_cause(std::string_view line) {
  if (said == nullptr || said->goes_on) return say_once(line);
  return !said->cause.exchange(true);
}

/// The children of a local job, as their parent sees them.
class Children {
 public:
  explicit Children(const StartOptions& options)
      : grace_(options.peer_timeout_s + 2),
        tolerates_losses_(options.tolerates_losses),
        less_memory_(options.less_memory),
        kills_before_(groups_.memory_kills()) {
    require_process_calls();
    std::signal(SIGCHLD, SIG_DFL);  // statuses are lost where it is ignored
    sigemptyset(&watched_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})  // an ignored signal would be watched, too
      if (!topology::is_ignored(number)) sigaddset(&watched_, number);
    sigprocmask(SIG_BLOCK, &watched_, &before_);
  }
  ~Children() {
    kill_all(SIGKILL);
    while (running() > 0) reap(0);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  /// Forks a child. Returns true in the child.
  bool fork_one() {
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) throw Error(fmt::format("cannot start process {}: {}", children_.size(), reason(errno)));
    if (pid > 0) {
      children_.push_back({pid});
      return false;
    }
    children_.clear();  // the children belong to the parent
    edgewire::leave_out_parents_memory();
    sigprocmask(SIG_SETMASK, &before_, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    return true;
  }

  /// Waits for all children. Returns the status for main.
  int watch() {
    constexpr double kPause_s = 0.2;
    // Counts the pauses in a row in which all processes that are left were stopped. A pause does not count
    // while a terminal has stopped this process, too.
    int pauses = 0;
    while (running() > 0) {
      const timespec pause{0, static_cast<long>(kPause_s * 1e9)};
      const int number = sigtimedwait(&watched_, nullptr, &pause);
      if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
        fail(128 + number);
        kill_all(number);
        kill_all(SIGCONT);
      }
      while (reap(WNOHANG)) continue;
      pauses = only_stopped_are_left() ? pauses + (number < 0 ? 1 : 0) : 0;
      const bool late = Clock::now() > deadline_ || pauses * kPause_s > grace_.count();
      // Ends all that still run.
      const bool lost = tolerates_losses_ && !children_[0].running && status_ == 0;
      if (late && status_ == 0 && !lost) name_late_ones();
      if (late || ((lost || status_ != 0) && all_stopped())) kill_all(SIGKILL);
    }
    return status_;
  }

 private:
  struct Child {
    pid_t pid = 0;
    bool running = true;
    bool stopped = false;
    bool given_up = false;  ///< whether this parent has signalled it
  };

  std::ptrdiff_t running() const { return std::ranges::count(children_, true, &Child::running); }
  bool all_stopped() const {
    return std::ranges::all_of(children_, [](const Child& c) { return !c.running || c.stopped; });
  }
  /// Returns whether all that are left, the first one too, are stopped in a job that goes on without others.
  bool only_stopped_are_left() const {
    return tolerates_losses_ && children_[0].stopped && all_stopped() && running() < std::ssize(children_);
  }
  void kill_all(int number) {
    for (Child& c : children_) {
      if (!c.running) continue;
      c.given_up = c.given_up || number != SIGCONT;
      kill(c.pid, number);
    }
  }
  /// Notes a failure. The first one decides the status; the others then have a bounded time to notice and
  /// end. But a process that refuses its arguments (2) may tell another that ends before it.
  void fail(int status) {
    if (status_ == 1 && status == 2) status_ = 2;
    if (status_ != 0) return;
    status_ = status;
    give_time();
  }
  void give_time() { deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(grace_); }
  /// Names the processes that do not end although others have ended well, so that nobody waits for them.
  void name_late_ones() {
    for (const Child& c : children_)
      if (c.running)
        tell_failure(fmt::format("rank {} has not ended {:.3g} s after the others{}, so it is killed",
                                 &c - children_.data(), grace_.count(), c.stopped ? " (it is stopped)" : ""));
    fail(1);
  }
  /// Describes the death of a process that a signal has ended.
  std::string death(std::size_t rank, int number) const {
    std::string end = fmt::format("rank {} was ended by signal {} ({})", rank, number, strsignal(number));
    if (number == SIGXCPU) return end + ": raise its limit with `ulimit -t unlimited`";
    if (number != SIGKILL) return end;
    const auto kills = groups_.memory_kills();
    if (!kills || !kills_before_)
      return fmt::format("{}: perhaps the kernel ran out of memory (see dmesg); {} would need less", end,
                         less_memory_);
    if (*kills <= *kills_before_) return end;
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;  // a limit above this is none
    const std::uint64_t limit = groups_.memory_limit();
    const std::string where =
        limit > kMostBytes ? "" : fmt::format(" (its control group allows {} MB)", limit / 1'000'000);
    return fmt::format("{}: the kernel ran out of memory{}; {} would need less", end, where, less_memory_);
  }
  /// Takes one change of a child. Returns false when there is none.
  bool reap(int flags) {
    int state = 0;
    const pid_t pid = waitpid(-1, &state, flags | WUNTRACED | WCONTINUED);
    if (pid <= 0) return false;
    const auto child = std::ranges::find(children_, pid, &Child::pid);
    if (child == children_.end()) return true;
    child->stopped = WIFSTOPPED(state);
    child->running = !WIFEXITED(state) && !WIFSIGNALED(state);
    const bool may_be_lost = tolerates_losses_ && child != children_.begin();
    if (WIFEXITED(state) && WEXITSTATUS(state) != 0 && !may_be_lost) fail(WEXITSTATUS(state));
    const bool ended_well = WIFEXITED(state) && WEXITSTATUS(state) == 0;
    // The children end together.
    if (!child->running && (ended_well || !may_be_lost) && deadline_ == Clock::time_point::max()) give_time();
    if (WIFSIGNALED(state) && !child->given_up) {
      tell_death(death(child - children_.begin(), WTERMSIG(state)), may_be_lost);
      if (!may_be_lost) fail(1);
    }
    return true;
  }

  std::vector<Child> children_;
  std::chrono::duration<double> grace_;
  bool tolerates_losses_;
  ControlGroups groups_;
  std::string less_memory_;
  std::optional<std::uint64_t> kills_before_;
  sigset_t watched_{};
  sigset_t before_{};
  int status_ = 0;
  Clock::time_point deadline_ = Clock::time_point::max();  ///< deadline for the children that still run
};

/// The streams of a job, made before forking: the first end of [p] is for rank 0, the second for rank p.
using Streams = std::vector<std::array<FileDescriptor, 2>>;

Streams make_streams(int processes) {
  Streams streams(1);
  for (int p = 1; p < processes; ++p) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw Error(fmt::format("cannot connect {} processes: {}", processes, reason(errno)));
    streams.push_back({FileDescriptor(ends[0]), FileDescriptor(ends[1])});
  }
  return streams;
}

int run_child(const LaunchOptions& options, int rank, const LocalHosts* hosts, const std::string& secret,
              Streams streams, const std::function<void(Bootstrap&)>& body) {
  Member self;
  self.rank = self.local_rank = rank;
  self.size = self.local_size = options.processes;
  self.peer_timeout_s = options.peer_timeout_s;
  self.secret = secret;
  if (hosts != nullptr) {
    self.cards_reach_hosts = false;
    self.address = LocalHosts::address(rank);
    for (int p = 0; p < options.processes; ++p) {
      self.hosts.push_back(LocalHosts::address(p));
      self.nodes.push_back(p);
    }
  }
  std::vector<FileDescriptor> mine;
  if (rank == 0)
    for (auto& ends : streams) mine.push_back(std::move(ends[0]));
  else
    mine.push_back(std::move(streams[rank][1]));
  streams.clear();  // an end of another process that stays open would hide its death
  try {
    if (hosts != nullptr) hosts->enter(rank);
    const auto bootstrap = connect_bootstrap(std::move(self), std::move(mine));
    return run_body(*bootstrap, body);
  } catch (const std::exception& error) {
    const std::string line = line_of(error);
    if (said != nullptr) said->early = true;  // its end, by which others see it, comes later
    if (say_once(line)) tell_failure(fmt::format("rank {}: {}", rank, line));
    return 1;
  }
}

}  // namespace

int run_body(Bootstrap& bootstrap, const std::function<void(Bootstrap&)>& body) {
  int status = 1;
  std::string line = "unknown failure";
  bool is_cause = false, told = false;
  try {
    body(bootstrap);
    topology::write_stdout("");  // what was printed may not have found room
    bootstrap.finish();
    return 0;
  } catch (const UsageError& error) {
    line = error.what();
    status = 2;
  } catch (const FileChanged& changed) {
    line = changed.what();
    is_cause = true;
    told = changed.told();
  } catch (const std::exception& error) {
    line = line_of(error);
  } catch (...) {
    // the line is said below
  }
  transport::Health& health = bootstrap.health();
  const bool peers_fault = !is_cause && health.failed() && health.peer() >= 0;
  bootstrap.abort(line);
  if (told) return status;
  const std::string heard = peers_fault ? health.message() : line;
  // Only the first process that knows a cause prints it. Every process reports a lost peer.
  constexpr std::string_view kFailed = " failed: ";
  const std::size_t at = heard.find(kFailed);
  std::string_view cause = line;
  if (peers_fault) cause = at == heard.npos ? "" : std::string_view(heard).substr(at + kFailed.size());
  if (cause == OutputClosed::kMessage) return kOutputClosedStatus;
  if (cause.empty() && said != nullptr && said->early) return status;
  // All processes that lose a peer in a small job report it. In a large job one line is enough.
  constexpr int kFew = 8;
  if (cause.empty() && bootstrap.size() > kFew) {
    if (!say_once(fmt::format("lost rank {}", health.peer()))) return status;
  } else if (!cause.empty() && !say_first_cause(cause)) {
    return status;
  }
  std::fflush(stdout);
  const std::string& said_line = cause == line ? line : heard;
  tell_failure(bootstrap.size() == 1 ? said_line : fmt::format("rank {}: {}", bootstrap.rank(), said_line));
  return status;
}

int run_local(const StartOptions& options, const std::function<void(Bootstrap&)>& body) {
  if (options.before_fork) options.before_fork();
  const std::string secret = transport::random_bytes(32);
  Streams streams = make_streams(options.processes);
  void* page = mmap(nullptr, sizeof(SaidLines), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  said = page == MAP_FAILED ? nullptr : new (page) SaidLines;
  if (said != nullptr) said->goes_on = options.tolerates_losses;
  share_end(options.tolerates_losses ? nullptr : said);
  const std::shared_ptr<void> unshared(nullptr, [page](void*) {
    share_end(nullptr);
    if (std::exchange(said, nullptr) != nullptr) munmap(page, sizeof(SaidLines));
  });
  std::fflush(nullptr);
  std::cout.flush();

  std::optional<LocalHosts> hosts;
  if (options.local_hosts) hosts.emplace(options.processes, options.link_bits_per_s, options.peer_timeout_s);
  Children children(options);
  for (int rank = 0; rank < options.processes; ++rank) {
    if (!children.fork_one()) continue;
    const int status = run_child(options, rank, hosts ? &*hosts : nullptr, secret, std::move(streams), body);
    std::cout.flush();
    std::fflush(nullptr);
    _exit(status);
  }
  streams.clear();
  return children.watch();
}

}  // namespace edgewire::launch
