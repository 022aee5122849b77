#include "base/rooms.h"
#include "disk/queue.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <string>
#include <thread>

#include "base/error.h"
#include "disk/busy_devices.h"
#include "disk/memory_budget.h"
#include "disk/read_probe.h"
#include "edgewire/detail/memory.h"

namespace edgewire::disk {

namespace {

/// A file that goes at the end of the test; past the page cache where the file system can.
struct Scratch {
  Scratch() : name((std::filesystem::temp_directory_path() / "edgewire-disk-XXXXXX").string()) {
    descriptor = mkstemp(name.data());
    REQUIRE(descriptor >= 0);
    if (fcntl(descriptor, F_SETFL, O_RDWR | O_DIRECT) != 0) MESSAGE("skipped: O_DIRECT in this file system");
  }
  ~Scratch() {
    close(descriptor);
    std::filesystem::remove(name);
  }
  std::string name;
  int descriptor;
};

TEST_CASE("vertices come first, and edges share the rest") {
  constexpr std::uint64_t kMiB = 1 << 20;
  CHECK(MemoryBudget().rest_or(7) == 7);
  CHECK(MemoryBudget(0, {8, 4}, {1 << 30, 1 << 30}).rest_or(1) == 1);
  const MemoryBudget budget(100 * kMiB, {40, 16}, {kMiB, kMiB});
  CHECK(budget.rest_or(7) == 44 * kMiB);
  CHECK(budget.read_ahead(1) == 11 * kMiB);
  CHECK(budget.read_ahead(100) == kMiB);
  CHECK(MemoryBudget().read_ahead(100) == 16 * kMiB);
  CHECK(MemoryBudget(56 * kMiB, {40, 16}, {kMiB, kMiB}).rest_or(7) == 0);
  CHECK_THROWS_WITH_AS(
      MemoryBudget(kMiB, {40, 16}, {kMiB, 3}),
      "--memory 1M does not suffice: a process needs at least 41M for its 1048576 vertices and "
      "the 3 of others that its edges lead to; give at least that, or more processes",
      Error);
}

TEST_CASE("many transfers are under way at a time, with io_uring and without") {
  constexpr std::size_t kBlocks = 1500;  // more than the ring takes at a time
  for (const bool allowed : {true, false}) {
    const Scratch file;
    const topology::NodeMemory written(kBlocks * kAlignment, -1, "blocks"),
        read(kBlocks * kAlignment, -1, "blocks");
    const auto from = written.as<std::byte>(), to = read.as<std::byte>();
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / kAlignment);
    Queue queue(allowed);
    std::deque<Transfer> transfers;
    for (std::size_t b = 0; b < kBlocks; ++b) {
      transfers.emplace_back(queue);
      transfers.back().write(file.descriptor, from.subspan(b * kAlignment, kAlignment), b * kAlignment);
    }
    for (auto& transfer : transfers) CHECK(transfer.wait() == 0);
    for (std::size_t b = kBlocks; b-- > 0;)
      transfers[b].read(file.descriptor, to.subspan(b * kAlignment, kAlignment), b * kAlignment);
    for (auto& transfer : transfers) CHECK(transfer.wait() == 0);
    CHECK(std::ranges::equal(from, to));
  }
}

TEST_CASE("memory and files may be registered, and others used beside them") {
  constexpr std::size_t kBlocks = 200, kRegistered = 120;
  for (const bool allowed : {true, false}) {
    const std::array<Scratch, 2> files;
    const topology::NodeMemory written(kBlocks * kAlignment, -1, "blocks"),
        read(kBlocks * kAlignment, -1, "blocks");
    const auto from = written.as<std::byte>(), to = read.as<std::byte>();
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 11 + i / kAlignment);
    for (const auto& file : files)
      REQUIRE(pwrite(file.descriptor, from.data(), from.size(), 0) == static_cast<ssize_t>(from.size()));
    Queue queue(allowed);
    queue.register_memory(to.first(kRegistered * kAlignment + 100));  // ends within a block
    queue.register_files(std::array{files[0].descriptor});
    std::deque<Transfer> transfers;
    {
      const Queue::Batch batch(queue);
      for (std::size_t b = 0; b < kBlocks; ++b) {
        transfers.emplace_back(queue);
        transfers.back().read(files[b % 2].descriptor, to.subspan(b * kAlignment, kAlignment),
                              b * kAlignment);
      }
    }
    for (auto& transfer : transfers) CHECK(transfer.wait() == 0);
    CHECK(std::ranges::equal(from, to));
  }
}

TEST_CASE("a transfer that fails says why, and the next one is none the worse") {
  for (const bool allowed : {true, false}) {
    const Scratch file;
    const topology::NodeMemory memory(2 * kAlignment, -1, "blocks");
    const auto bytes = memory.as<std::byte>();
    Queue queue(allowed);
    Transfer transfer(queue);
    CHECK(transfer.wait() == 0);  // nothing was started
    transfer.read(-1, bytes, 0);
    CHECK(transfer.wait() == EBADF);
    transfer.write(file.descriptor, bytes.first(kAlignment), 0);
    CHECK(transfer.wait() == 0);
    transfer.read(file.descriptor, bytes, 0);  // the file ends in its middle
    CHECK(transfer.wait() == ENODATA);
    transfer.read(file.descriptor, bytes.first(kAlignment), 0);
    CHECK(transfer.wait() == 0);
    transfer.read(file.descriptor, {}, 0);
    CHECK(transfer.wait() == 0);
  }
}

/// From now on the system answers this thread's requests to io_uring with an error.
void refuse_requests(int error) {
  constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW, kRefuse = SECCOMP_RET_ERRNO;
  std::array<sock_filter, 4> steps{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_enter, 0, 1),
                                    BPF_STMT(BPF_RET | BPF_K, kRefuse | static_cast<std::uint32_t>(error)),
                                    BPF_STMT(BPF_RET | BPF_K, kAllow)}};
  const sock_fprog program{steps.size(), steps.data()};
  REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

TEST_CASE("when the system takes no more requests, all transfers end with its error") {
  for (const int error : {EIO, EAGAIN}) {
    std::thread other([error] {
      constexpr std::size_t kBlocks = 70;  // more than the ring takes at a time
      const Scratch file;
      const topology::NodeMemory memory(kBlocks * kAlignment, -1, "blocks");
      const auto bytes = memory.as<std::byte>();
      REQUIRE(pwrite(file.descriptor, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
      Queue queue;
      if (!queue.asynchronous()) {
        MESSAGE("skipped: no io_uring here");
        return;
      }
      std::deque<Transfer> transfers;
      const auto read = [&](std::size_t b) {
        transfers[b].read(file.descriptor, bytes.subspan(b * kAlignment, kAlignment), b * kAlignment);
      };
      for (std::size_t b = 0; b < kBlocks; ++b) transfers.emplace_back(queue);
      read(0);
      CHECK(transfers[0].wait() == 0);
      refuse_requests(error);
      for (std::size_t b = 0; b < kBlocks; ++b) read(b);
      for (auto& transfer : transfers) CHECK(transfer.wait() == error);
      read(0);
      CHECK(!transfers[0].under_way());
      CHECK(transfers[0].wait() == error);
    });
    other.join();
  }
}

TEST_CASE("the time of a disk grows while it writes, and file systems without one have none") {
  const BusyDevices none({"/proc", "/nonexistent"});
  CHECK(!none.known());
  CHECK(none.use().seconds == 0);
  const Scratch file;
  const BusyDevices disks({file.name, file.name});
  if (!disks.known()) {
    MESSAGE("skipped: the folder of temporary files is not on a block device");
    return;
  }
  const topology::NodeMemory memory(std::size_t{32} << 20, -1, "blocks");
  // The system counts in steps of milliseconds.
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
       disks.use().seconds == 0 && std::chrono::steady_clock::now() < end;) {
    const auto bytes = memory.as<std::byte>();
    REQUIRE(pwrite(file.descriptor, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    REQUIRE(fsync(file.descriptor) == 0);
  }
  CHECK(disks.use().seconds > 0);
}

TEST_CASE("the cheapest pattern has enough of the highest rate and the fewest bytes under way") {
  const auto rate = [](std::size_t block_bytes, int depth, double bytes_per_s) {
    return ReadRate{{block_bytes, depth}, 1'000'000, 1e6 * static_cast<double>(block_bytes) / bytes_per_s};
  };
  const std::vector<ReadRate> rates{rate(4096, 1, 1e8), rate(4096, 64, 9.6e8), rate(65536, 4, 9.6e8),
                                    rate(65536, 16, 1e9), rate(262144, 1, 9.5e8)};
  CHECK(&cheapest(rates, 0.94) == &rates[4]);  // as few bytes as rates[2], in a larger block
  CHECK(&cheapest(rates, 0.955) == &rates[2]);
  CHECK(&cheapest(rates, 0.99) == &rates[3]);
  CHECK(&cheapest(rates, 0.05) == &rates[0]);
}

TEST_CASE("a probe reads blocks of all files until the time is over") {
  const auto folder = std::filesystem::temp_directory_path().string();
  ReadProbe probe({folder, folder}, (std::size_t{1} << 20) + 1);
  CHECK(probe.bytes() == std::size_t{2} << 20);
  for (const bool random : {true, false}) {
    const ReadRate rate = probe.measure({std::size_t{1} << 20, 3, random}, 0.01);
    CHECK(rate.reads >= 3);
    CHECK(rate.seconds >= 0.01);
    CHECK(rate.bytes() == rate.reads << 20);
    CHECK(rate.median_s > 0);
    CHECK(rate.p99_s >= rate.median_s);
  }
  CHECK_THROWS_WITH_AS(ReadProbe({"/nonexistent"}, 1),
                       "/nonexistent: cannot write 1 MiB to measure with: No such file or directory", Error);
}

}  // namespace

}  // namespace edgewire::disk
