#include "launch/launcher.h"

#include <fmt/core.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>

#include "base/control_group.h"
#include "base/error.h"
#include "launch/bootstrap.h"
#include "launch/frames.h"
#include "launch/interfaces.h"
#include "launch/pmix_rendezvous.h"
#include "launch/rendezvous.h"
#include "options/jobs.h"
#include "topology/shell.h"
#include "transport/sealed.h"
#include "transport/sockets.h"

namespace edgewire::launch {
namespace {

using transport::FileDescriptor;

// Together well below one second: then Open MPI kills processes that SIGTERM has not ended.
constexpr int kHearMs = 300;  ///< milliseconds until all processes know of a lost peer
constexpr int kSayMs = 300;   ///< milliseconds for this process to report and end by itself
constexpr int kStepMs = 10;

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  return set;
}

/// The facts that /proc/PID/stat says of a process; parent 0 when there is none.
struct Process {
  std::string name;
  pid_t parent = 0;
};

Process look_at(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  const std::size_t open = line.find('('), close = line.rfind(')');  // a name may hold any character
  Process process;
  if (close == line.npos || open > close || line.size() < close + 4) return process;
  process.name = line.substr(open + 1, close - open - 1);
  std::from_chars(line.data() + close + 4, line.data() + line.size(), process.parent);
  return process;
}

/// Returns the parent, and what is above it up to a process that launches; without one only the parent.
std::vector<pid_t> launching_ancestors() {
  constexpr std::array kLaunchers{"orted", "mpirun", "mpiexec", "orterun", "prted", "prterun", "slurmstepd"};
  constexpr std::size_t kMost = 32;
  std::vector<pid_t> found{getppid()};
  while (found.size() < kMost && found.back() > 1) {
    const Process process = look_at(found.back());
    if (std::ranges::find(kLaunchers, process.name) != kLaunchers.end()) return found;
    found.push_back(process.parent);
  }
  found.resize(1);
  return found;
}

/// Ends this process in good order when its launcher ends the job, or is gone. A launcher ends a job with
/// SIGTERM as soon as one process dies; the others then take a moment to learn which one it was, and to say
/// so. It watches all processes between this one and the launcher's process on this host, if its name is
/// known. Make this object before any other thread.
class LauncherWatch {
 public:
  LauncherWatch() : ancestors_(launching_ancestors()), ignored_(topology::is_ignored(SIGTERM)) {
    const sigset_t set = watched();
    pthread_sigmask(SIG_BLOCK, &set, &before_);  // all threads to come inherit it
    thread_ = std::thread([this] { watch(); });
  }

  ~LauncherWatch() {
    stopping_ = true;
    // The thread waits for this signal, and does not end by it.
    pthread_kill(thread_.native_handle(), SIGTERM);  // NOLINT(bugprone-bad-signal-to-kill-thread)
    thread_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  /// Fails the job, from now on, before it ends the process, so the others are told. `bootstrap` outlives the
  /// watch.
  void guard(Bootstrap& bootstrap) {
    bootstrap_.store(&bootstrap, std::memory_order_release);  // pairs with load in end()
  }

 private:
  void watch() {
    const sigset_t set = watched();
    const timespec pause{0, 200'000'000};
    while (true) {
      const int number = sigtimedwait(&set, nullptr, &pause);
      if (stopping_) return;
      if (number == SIGTERM && !ignored_) return end("was ended by its launcher (SIGTERM)");
      if (!launcher_lives()) return end("has lost its launcher");
    }
  }

  /// Returns whether the launcher lives. An orphan gets another parent.
  bool launcher_lives() const {
    if (getppid() != ancestors_.front()) return false;
    for (std::size_t i = 1; i < ancestors_.size(); ++i)
      if (look_at(ancestors_[i - 1]).parent != ancestors_[i]) return false;
    return true;
  }

  void end(const char* cause) {
    if (Bootstrap* bootstrap = bootstrap_.load(std::memory_order_acquire)) {  // pairs with store in guard()
      for (int waited = 0; waited < kHearMs && !bootstrap->health().failed(); waited += kStepMs)
        if (stops_within(kStepMs)) return;
      bootstrap->abort(cause);
      if (stops_within(kSayMs)) return;
      say_failure(fmt::format("rank {}: {}", bootstrap->rank(), bootstrap->health().message()));
    } else {
      say_failure(fmt::format("{} before the job had started", cause));
    }
    std::quick_exit(1);  // the main thread is somewhere where it does not look
  }

  bool stops_within(int milliseconds) const {
    for (int waited = 0; waited < milliseconds && !stopping_; waited += kStepMs)
      std::this_thread::sleep_for(std::chrono::milliseconds(kStepMs));
    return stopping_;
  }

  /// Whether to stop: set by the destructor, read by the thread; single value.
  std::atomic<bool> stopping_{false};
  std::atomic<Bootstrap*> bootstrap_{nullptr};
  std::vector<pid_t> ancestors_;  ///< ancestors: the parent first, the launcher's process last
  bool ignored_;                  ///< whether SIGTERM was ignored from the start, so that it ends nothing
  sigset_t before_{};
  std::thread thread_;
};

/// Returns a number in the environment; -1 when it is not there.
long long number_of(const char* name) {
  const char* text = std::getenv(name);
  long long value = -1;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), value);
  return value;
}

/// The facts that a process tells the others through the launcher.
struct Card {
  std::string host;       ///< name, for messages
  std::string node;       ///< lowest rank on the host, which names the host
  std::string cpus;       ///< cores that the launcher lets it use
  std::string addresses;  ///< addresses of rank 0, with blanks between
  std::string port;       ///< port of rank 0
  std::string secret;     ///< secret of rank 0

  std::string pack() const { return launch::pack(std::array{host, node, cpus, addresses, port, secret}); }
  static Card unpack(const std::string& bytes) {
    auto items = launch::unpack(bytes, 6);
    return {items[0], items[1], items[2], items[3], items[4], items[5]};
  }
};

std::string host_name() {
  char name[256] = "?";
  gethostname(name, sizeof name - 1);
  return name;
}

Card make_card(const LaunchOptions& options, const PmixPlace& place, FileDescriptor& listener) {
  Card card;
  card.host = host_name();
  card.node = std::to_string(place.node_ranks.front());
  card.cpus = allowed_cpus();
  if (place.rank != 0) return card;
  const bool one_host = static_cast<int>(place.node_ranks.size()) == place.size;
  std::vector<std::string> addresses{"127.0.0.1"};
  if (!one_host) {
    addresses.clear();
    for (const Interface& one : interfaces(options.interface)) addresses.push_back(one.address);
  }
  for (const std::string& address : addresses) card.addresses += address + " ";
  const bool v6 = addresses[0].find(':') != std::string::npos;
  listener = transport::listen_on(addresses.size() == 1 ? addresses[0] : v6 ? "::" : "0.0.0.0", 0);
  card.port = std::to_string(transport::port_of(listener));
  card.secret = transport::random_bytes(32);
  return card;
}

/// Sets which processes share a host, and which of them the same cores.
void set_neighbours(Member& self, const std::vector<Card>& cards) {
  const Card& mine = cards[self.rank];
  self.local_size = 0;
  for (int rank = 0; rank < self.size; ++rank) {
    const Card& other = cards[rank];
    self.hosts.push_back(other.host);
    self.nodes.push_back(std::stoi(other.node));
    if (other.node != mine.node || other.cpus != mine.cpus) continue;
    if (self.local_size == 0) self.local_leader = rank;
    if (rank == self.rank) self.local_rank = self.local_size;
    ++self.local_size;
  }
}

std::vector<FileDescriptor> rendezvous(const LaunchOptions& options, const Member& self, const Card& hub,
                                       const FileDescriptor& listener) {
  const Rendezvous job{self.rank, self.secret, options.start_timeout_s, self.hosts, options.peer_timeout_s,
                       true};
  if (self.rank == 0) return receive_others(job, listener);
  std::istringstream words(hub.addresses);
  std::vector<std::string> addresses{std::istream_iterator<std::string>(words), {}};
  const bool beside_hub = self.nodes[self.rank] == self.nodes[0];
  if (!beside_hub) addresses = by_nearness(std::move(addresses), interfaces(options.interface));
  return come_to_hub(job, addresses, std::stoi(hub.port));
}

/// Returns the address of this process that leads to other hosts. The launcher's name of a host may not do.
std::string own_address(const Member& self, const std::vector<FileDescriptor>& streams) {
  const auto here = self.nodes[self.rank];
  const auto elsewhere = std::ranges::find_if(self.nodes, [&](int node) { return node != here; });
  if (elsewhere == self.nodes.end()) return "127.0.0.1";
  if (!self.wanted_interfaces.empty()) return self.wanted_interfaces.front().address;
  const auto other = self.rank == 0 ? elsewhere - self.nodes.begin() : 0;
  return transport::local_address(streams[other]);
}

/// The number of the next job under a launcher, the same in all of its processes. A forked process goes on
/// from the number of its parent.
std::uint64_t next_job = 0;

[[noreturn]] void refuse(const Launcher& launcher, const std::string& cause) {
  const std::string who = launcher.size > 1
                              ? fmt::format("{} started {} processes, but they", launcher.name, launcher.size)
                              : fmt::format("{} started this process, but it and the others", launcher.name);
  throw Error(fmt::format("{} cannot find each other: {}; {}{}", who, cause, launcher.remedy,
                          opt::launcher.hint(", or {} for runs of their own",
                                             options::in_words_of_face("false", "none", "none"))));
}

std::unique_ptr<Bootstrap> join(const LaunchOptions& options, const Launcher& launcher) {
  // Shared with a thread that may be left behind.
  const auto listener = std::make_shared<FileDescriptor>();
  PmixJob job;
  try {
    job = rendezvous_over_pmix(
        options.start_timeout_s, next_job++,
        [options, listener](const PmixPlace& place) { return make_card(options, place, *listener).pack(); });
  } catch (const PmixError& error) {
    refuse(launcher, error.what());
  }
  if (job.place.size == 1) return nullptr;
  std::vector<Card> cards;
  for (const std::string& message : job.messages) cards.push_back(Card::unpack(message));
  Member self;
  self.rank = job.place.rank;
  self.size = job.place.size;
  self.peer_timeout_s = options.peer_timeout_s;
  self.secret = cards[0].secret;
  self.proven = true;
  set_neighbours(self, cards);
  auto streams = rendezvous(options, self, cards[0], *listener);
  if (!options.interface.empty()) self.wanted_interfaces = interfaces(options.interface);
  self.address = own_address(self, streams);
  return connect_bootstrap(std::move(self), std::move(streams));
}

}  // namespace

std::optional<Launcher> find_launcher() {
  const bool pmix = std::getenv("PMIX_RANK") != nullptr;
  // This is asked before Slurm: mpirun may have used srun to start its daemons.
  if (const auto size = number_of("OMPI_COMM_WORLD_SIZE"); size > 1)
    return Launcher{"mpirun", static_cast<int>(size), pmix,
                    "use a PMIx library that this mpirun understands"};
  const auto step = number_of("SLURM_STEP_ID");
  // The steps of a batch script itself and of an interactive shell.
  constexpr long long kFirstSpecialStep = 0xFFFF'FFF0;
  const auto tasks = number_of("SLURM_STEP_NUM_TASKS");
  if (step >= 0 && step < kFirstSpecialStep && tasks > 1)
    return Launcher{"srun", static_cast<int>(tasks), pmix, "type srun --mpi=pmix"};
  if (const auto size = number_of("PMI_SIZE"); size > 1)
    return Launcher{"a PMI launcher", static_cast<int>(size), pmix,
                    "use one that speaks PMIx: srun --mpi=pmix, Open MPI's mpirun, prun"};
  // Known launchers have said by now that there is one process only.
  const bool known = step >= 0 || number_of("OMPI_COMM_WORLD_SIZE") == 1;
  if (pmix && !known) return Launcher{"a PMIx launcher", 0, true, "see whether it still runs"};
  return std::nullopt;
}

void count_job() { ++next_job; }

int run_launched(const StartOptions& options, const Launcher& launcher,
                 const std::function<void(Bootstrap&)>& body) {
  if (!launcher.pmix) refuse(launcher, "PMIx is not offered");
  const auto check_alone = [&](int size) {
    if (options.processes > 1 && size > 1)
      throw UsageError(fmt::format("{} beside {}, which started {} processes: leave it out, or start one",
                                   opt::processes(options.processes), launcher.name, size));
  };
  check_alone(launcher.size);
  auto watch = std::make_unique<LauncherWatch>();
  const auto bootstrap = join(options, launcher);
  if (bootstrap == nullptr) {
    watch.reset();
    StartOptions local = options;
    local.join_launcher = false;
    return start(local, body);
  }
  check_alone(bootstrap->size());
  watch->guard(*bootstrap);
  const int status = run_body(*bootstrap, body);
  watch.reset();  // ends before the bootstrap
  return status;
}

}  // namespace edgewire::launch
