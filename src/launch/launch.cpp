#include "edgewire/launch.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/usage.h"
#include "launch/agreement.h"
#include "launch/bootstrap.h"
#include "launch/hosts.h"
#include "launch/launcher.h"
#include "options/jobs.h"
#include "topology/machine.h"
#include "topology/shell.h"

namespace edgewire::launch {
namespace {

/// The first failure of a job, kept for the caller of run() as long as this object lives: the job's processes
/// say nothing on stderr. They share the memory of it, so it is made before they are forked. One at a time.
struct KeptFailure {
  struct Page {
    std::atomic<bool> taken = false;    ///< whether a process has a line for it
    std::atomic<bool> written = false;  ///< whether the line is there; pairs with the load in raise()
    char line[4000] = {};
  };
  inline static Page* page = nullptr;
  inline static std::string death;  ///< the line about a process that has died; goes before those of others
  bool was_quiet = is_quiet();

  KeptFailure() {
    void* memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error("cannot get memory for what the processes of a job say");
    page = new (memory) Page;
    be_quiet();
  }
  ~KeptFailure() {
    munmap(std::exchange(page, nullptr), sizeof(Page));
    death.clear();
    be_quiet(was_quiet);
  }
  KeptFailure(const KeptFailure&) = delete;
  KeptFailure& operator=(const KeptFailure&) = delete;

  /// Throws the failure of a job that ended in this status: UsageError for 2, else Error.
  [[noreturn]] static void raise(int status) {
    const std::string line =
        !death.empty()                                  ? death
        : page->written.load(std::memory_order_acquire) ? page->line
        : status > 128
            ? fmt::format("the job was ended by signal {} ({})", status - 128, strsignal(status - 128))
            : fmt::format("a process of the job ended with status {}", status);
    if (status == 2) throw UsageError(line);
    throw Error(line);
  }
};

Member only_member() {
  Member self;
  self.secret.assign(32, '\0');  // no other process shares it
  return self;
}

class Alone final : public Bootstrap {
 public:
  Alone() : Bootstrap(only_member()) {}
  std::vector<std::string> allgather(const std::string& mine) override { return {mine}; }
  std::vector<std::string> alltoall(std::span<const std::string> to) override {
    return {to.begin(), to.end()};
  }
  std::vector<std::string> gather(const std::string& mine) override { return {mine}; }
  void abort(const std::string& message) noexcept override { health_->fail(-1, message); }
  void finish() override {}
};

int number_from(const char* name, const char* text) {
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [at, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || at != end) throw UsageError(fmt::format("{}: not a number: '{}'", name, text));
  return value;
}

StartOptions with_environment(StartOptions options) {
  const auto take_text = [](const char* name, std::string& option) {
    if (const char* text = std::getenv(name); text != nullptr && option.empty()) option = text;
  };
  const auto take_number = [](const char* name, int unset, int& option) {
    if (const char* text = std::getenv(name); text != nullptr && option == unset)
      option = number_from(name, text);
  };
  take_text("EDGEWIRE_HOSTS", options.hosts_file);
  take_number("EDGEWIRE_RANK", -1, options.rank);
  take_number("EDGEWIRE_PORT", 0, options.port);
  take_text("EDGEWIRE_SECRET_FILE", options.secret_file);
  take_text("EDGEWIRE_INTERFACE", options.interface);
  if (options.port == 0) options.port = kDefaultPort;
  return options;
}

/// Throws UsageError where options contradict each other. `asked_rank`: the rank without the environment.
void check(const LaunchOptions& options, int asked_rank) {
  check_range(opt::processes, options.processes);
  check_range(opt::peer_timeout, options.peer_timeout_s);
  check_range(opt::start_timeout, options.start_timeout_s);
  check_range(opt::port, options.port);
  if (asked_rank >= 0 && options.hosts_file.empty())
    throw UsageError(fmt::format("{} is a line of a host list, which is not given: name it by {}",
                                 opt::rank(asked_rank), opt::hosts));
  if (options.local_hosts && !options.hosts_file.empty())
    throw UsageError(
        fmt::format("{} excludes a host list: the processes run either here or there", opt::local_hosts));
  if (options.link_bits_per_s > 0 && !options.local_hosts)
    throw UsageError(
        fmt::format("{} shapes the links of {}, which is not given", opt::rate, opt::local_hosts));
}

}  // namespace

Bootstrap::Bootstrap(Member self) : self_(std::move(self)), health_(std::make_unique<transport::Health>()) {}

Bootstrap::~Bootstrap() = default;

std::unique_ptr<Bootstrap> alone() { return std::make_unique<Alone>(); }

void tell_failure(const std::string& line) {
  KeptFailure::Page* const page = KeptFailure::page;
  if (page == nullptr) return say_failure(line);
  if (page->taken.exchange(true)) return;
  line.copy(page->line, std::min(line.size(), sizeof(page->line) - 1));
  page->written.store(true, std::memory_order_release);
}

void tell_death(const std::string& line, bool tolerated) {
  if (KeptFailure::page == nullptr) return say_failure(line);
  if (!tolerated && KeptFailure::death.empty()) KeptFailure::death = line;
}

int start(const StartOptions& given, const std::function<void(Bootstrap&)>& job) {
  if (!job) throw UsageError("there is nothing to run in the processes");
  topology::settle_in_shell();
  // This comes first: the later checks depend on it.
  const std::function<void(Bootstrap&)> body = [&](Bootstrap& bootstrap) {
    if (!bootstrap.nodes().empty() && !given.local_hosts) check_agreement(bootstrap, given.alike);
    job(bootstrap);
  };
  const StartOptions options = with_environment(given);
  check(options, given.rank);
  // A parent holds both ends of a stream to each process. A transport checks what it needs when it is made.
  constexpr std::uint64_t kFilesOfAProcess = 24;
  topology::require_open_files(kFilesOfAProcess + 2 * static_cast<std::uint64_t>(options.processes));
  if (!options.hosts_file.empty()) {
    const auto bootstrap = join_hosts(options);
    return run_body(*bootstrap, body);
  }
  if (options.join_launcher && !options.local_hosts)
    if (const auto launcher = find_launcher()) return run_launched(options, *launcher, body);
  if (options.processes > 1 || options.local_hosts) return run_local(options, body);
  const auto bootstrap = alone();
  return run_body(*bootstrap, body);
}

void run(const LaunchOptions& options, const std::function<void(Bootstrap&)>& body) {
  const KeptFailure kept;
  std::exception_ptr thrown;
  StartOptions own;
  static_cast<LaunchOptions&>(own) = options;
  const int status = start(
      own, !body ? body : [&](Bootstrap& bootstrap) {
        try {
          body(bootstrap);
        } catch (...) {
          if (bootstrap.size() == 1) thrown = std::current_exception();
          throw;
        }
      });
  if (thrown) std::rethrow_exception(thrown);
  if (status != 0) kept.raise(status);
}

void prepare_to_fork() {
  topology::discover();
  count_job();
}

void leave_out_parents_memory() { edgewire::leave_out_parents_memory(); }

}  // namespace edgewire::launch
