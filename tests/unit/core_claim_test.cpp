// Jobs as processes of their own that lock cores in a folder of the test.
#include "topology/core_claim.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "machines.h"
#include "schedule.h"

namespace edgewire::topology {
namespace {

using Cpus = std::vector<int>;

/// Sets a variable of the environment while it lives.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Setting() { old_.empty() ? unsetenv(name_) : setenv(name_, old_.c_str(), 1); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::string old_;
};

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "edgewire-locks-XXXXXX") {
    REQUIRE(mkdtemp(path_.data()) != nullptr);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  operator const std::string&() const { return path_; }

 private:
  std::string path_;
};

/// A process that takes what `take` gives, says how many cores that are, and keeps them until it is killed.
class Holder {
 public:
  explicit Holder(const std::function<CoreClaim()>& take) {
    int said[2], end[2];
    REQUIRE(pipe(said) == 0);
    REQUIRE(pipe(end) == 0);
    child_ = fork();
    if (child_ == 0) {
      close(end[1]);
      const CoreClaim claim = take();
      const auto count = static_cast<char>(claim.cpus().size());
      char nothing = 0;
      _exit(write(said[1], &count, 1) == 1 && read(end[0], &nothing, 1) == 0 ? 0 : 1);
    }
    close(said[1]);
    close(end[0]);
    end_ = end[1];
    unsigned char count = 0;
    REQUIRE(read(said[0], &count, 1) == 1);
    close(said[0]);
    held = count;
  }
  ~Holder() { kill_it(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void kill_it() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    close(end_);
    child_ = 0;
  }

  int held = 0;

 private:
  pid_t child_ = 0;
  int end_ = -1;
};

Cpus cpus_of(const HostPlacement& host) {
  Cpus cpus;
  for (const auto& process : host.processes)
    for (const auto& worker : process.workers) cpus.push_back(worker.cpu);
  return cpus;
}

TEST_CASE("what another process has claimed is free again when it has ended, however it ends") {
  const Folder folder;
  Holder other([&] { return CoreClaim::of_free(folder, {0, 1}); });
  CHECK(other.held == 2);
  CHECK(CoreClaim::of_free(folder, {0, 1, 2}).cpus() == Cpus{2});
  other.kill_it();
  CHECK(CoreClaim::of_free(folder, {0, 1, 2}).cpus() == Cpus{0, 1, 2});
}

TEST_CASE("a claim lasts until its end, and only for the cores that are kept") {
  const Folder folder;
  {
    CoreClaim claim = CoreClaim::of_free(folder, {0, 1, 2});
    CHECK(CoreClaim::of_free(folder, {0, 1, 2}).cpus().empty());
    claim.keep({1});
    CHECK(claim.cpus() == Cpus{1});
    const CoreClaim moved = std::move(claim);
    CHECK(CoreClaim::of_free(folder, {0, 1, 2}).cpus() == Cpus{0, 2});
  }
  CHECK(CoreClaim::of_free(folder, {0, 1, 2}).cpus() == Cpus{0, 1, 2});
}

TEST_CASE("who asks which cores are claimed claims none, and makes no files") {
  const Folder folder;
  CHECK(claimed_cpus(folder, {0, 1, 2}).empty());
  CHECK(std::filesystem::is_empty(std::string(folder)));
  Holder other([&] {
    CoreClaim claim = CoreClaim::of_free(folder, {0, 1});
    claim.keep({1});  // a lock that processes share counts as well
    return claim;
  });
  CHECK(claimed_cpus(folder, {0, 1, 2}) == Cpus{1});
  CHECK(claimed_cpus("/nonexistent", {0, 1}).empty());
  other.kill_it();
  CHECK(claimed_cpus(folder, {0, 1, 2}).empty());
}

TEST_CASE("cores that a process of a job shares stay claimed when the one that claimed them is lost") {
  const Folder folder;
  Holder leader([&] {
    CoreClaim claim = CoreClaim::of_free(folder, {0, 1});
    claim.keep({0, 1});
    return claim;
  });
  const CoreClaim mine = CoreClaim::shared(folder, {1});
  leader.kill_it();
  CHECK(CoreClaim::of_free(folder, {0, 1}).cpus() == Cpus{0});
}

TEST_CASE("jobs side by side get different cores, and one that finds too few is not pinned") {
  const Folder folder;
  const Machine machine = with_cores({4});
  const auto first = claim_places(machine, 1, 2, false, folder);
  const auto second = claim_places(machine, 2, 1, false, folder);
  CHECK(cpus_of(first) == Cpus{0, 1});
  CHECK(cpus_of(second) == Cpus{2, 3});
  const auto third = claim_places(machine, 1, 1, false, folder);
  CHECK(third.taken == 4);
  CHECK(third.processes[0].oversubscribed);
  CHECK(cpus_of(third) == Cpus{-1});
  CHECK(describe(third.processes[0], machine) ==
        "1 worker on any core (4 of 4 cores are pinned by other jobs); memory on node 0");
}

TEST_CASE("who is not pinned keeps no core from others") {
  const Folder folder;
  const Machine machine = with_cores({3});
  const auto one = claim_places(machine, 1, 1, false, folder);
  const auto large = claim_places(machine, 1, 3, false, folder);
  CHECK(large.taken == 1);
  CHECK(large.claim.cpus().empty());
  CHECK(taken_text(1, 3) == "1 of 3 cores is pinned by other jobs");
  CHECK(cpus_of(claim_places(machine, 1, 2, false, folder)) == Cpus{1, 2});
  const auto crowded = claim_places(machine, 2, 2, false, folder);  // too many for any machine like this
  CHECK(crowded.processes[0].oversubscribed);
  CHECK(crowded.taken == 0);
}

TEST_CASE("processes go to the emptiest of the nodes, as other jobs have left them") {
  const Folder folder;
  const Machine machine = with_cores({4, 4});
  const auto first = claim_places(machine, 1, 2, false, folder);
  CHECK(cpus_of(first) == Cpus{0, 1});
  const auto second = claim_places(machine, 2, 2, false, folder);
  CHECK(cpus_of(second) == Cpus{4, 5, 2, 3});
  CHECK(second.processes[1].workers[0].node == 0);
  CHECK(cpus_of(claim_places(machine, 1, 2, false, folder)) == Cpus{6, 7});
}

TEST_CASE("threads that poll claim cores, where there are enough") {
  const Folder folder;
  const Machine machine = with_cores({6});
  const auto polling = claim_places(machine, 2, 1, true, folder);
  CHECK(polling.poll_cpus == Cpus{2, 3});
  CHECK(claim_places(machine, 2, 1, true, folder).poll_cpus == Cpus{-1, -1});
  CHECK(cpus_of(claim_places(machine, 1, 2, false, folder)) == Cpus{4, 5});
}

TEST_CASE("a quota bounds the workers that are pinned") {
  const Folder folder;
  Machine machine = with_cores({4});
  machine.cpu_quota = 2.5;
  CHECK(usable_cores(machine) == 2);
  CHECK(cpus_of(claim_places(machine, 1, 2, false, folder)) == Cpus{0, 1});
  CHECK(claim_places(machine, 1, 3, false, folder).processes[0].oversubscribed);
  CHECK(claim_places(machine, 1, 2, true, folder).poll_cpus == Cpus{-1});  // its turns would be the workers'
  CHECK(claim_places(machine, 1, 1, true, folder).poll_cpus == Cpus{1});
}

TEST_CASE("jobs that start at the same time all find room" * doctest::test_suite("schedules")) {
  const Folder folder;
  constexpr int kJobs = 8;
  const Machine machine = with_cores({kJobs, kJobs});
  for (int round = 0; round < rounds(20); ++round) {
    int begin[2], end[2], said[2];
    REQUIRE(pipe(begin) == 0);
    REQUIRE(pipe(end) == 0);
    REQUIRE(pipe(said) == 0);
    std::vector<pid_t> jobs;
    for (int job = 0; job < kJobs; ++job) {
      jobs.push_back(fork());
      if (jobs.back() > 0) continue;
      close(begin[1]);
      close(end[1]);
      char nothing = 0;
      const bool told = read(begin[0], &nothing, 1) == 0;
      const auto host = claim_places(machine, 1, 2, false, folder);
      const auto cpus = cpus_of(host);
      const bool wrote = write(said[1], cpus.data(), 2 * sizeof(int)) == 2 * sizeof(int);
      _exit(told && wrote && read(end[0], &nothing, 1) == 0 ? 0 : 1);
    }
    close(begin[1]);
    std::set<int> all;
    for (int job = 0; job < kJobs; ++job) {
      int cpus[2];
      REQUIRE(read(said[0], cpus, sizeof cpus) == sizeof cpus);
      all.insert(std::begin(cpus), std::end(cpus));
    }
    close(end[1]);
    for (const pid_t job : jobs) {
      int status = -1;
      waitpid(job, &status, 0);
      CHECK(status == 0);
    }
    for (const int file : {begin[0], end[0], said[0], said[1]}) close(file);
    CHECK(all.size() == 2 * kJobs);
    CHECK(*all.begin() == 0);
  }
}

TEST_CASE("a process that was stopped while it chose keeps nobody waiting") {
  const Folder folder;
  Holder stopped([&] {  // has the turn and no core
    CoreClaim claim = CoreClaim::of_free(folder, {0});
    std::filesystem::remove(std::string(folder) + "/choosing");
    std::filesystem::rename(std::string(folder) + "/core-0", std::string(folder) + "/choosing");
    return claim;
  });
  CHECK(cpus_of(claim_places(with_cores({2}), 1, 2, false, folder)) == Cpus{0, 1});
}

TEST_CASE("locks are in a folder of the user, and without one, jobs pin as if they were alone") {
  const Folder folder;
  const Setting runtime("XDG_RUNTIME_DIR", folder);
  const std::string own = std::string(folder) + "/edgewire", elsewhere = std::string(folder) + "/elsewhere";
  const auto common = "/tmp/edgewire-" + std::to_string(geteuid());
  CHECK(lock_folder() == own);
  CHECK(lock_folder() == own);
  chmod(own.c_str(), 0777);  // others could put files there
  CHECK(lock_folder() != own);
  std::filesystem::remove_all(own);
  std::filesystem::create_directory(elsewhere);
  std::filesystem::create_symlink(elsewhere, own);
  CHECK(lock_folder() != own);
  std::filesystem::remove(own);
  chmod(std::string(folder).c_str(), 0777);
  CHECK(lock_folder() != own);
  chmod(std::string(folder).c_str(), 0700);
  const Setting relative("XDG_RUNTIME_DIR", "tmp");
  const auto found = lock_folder();
  CHECK((found == common || found.empty()));
  for (const std::string& none : {std::string(), std::string(folder) + "/missing"}) {
    const auto first = claim_places(with_cores({2}), 1, 2, false, none);
    CHECK(cpus_of(first) == Cpus{0, 1});
    CHECK(cpus_of(claim_places(with_cores({2}), 1, 2, false, none)) == Cpus{0, 1});
  }
}

}  // namespace
}  // namespace edgewire::topology
