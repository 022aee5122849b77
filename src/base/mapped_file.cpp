#include "base/mapped_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <initializer_list>
#include <mutex>
#include <new>
#include <span>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "base/output_folder.h"

namespace edgewire {

namespace {

/// The facts that tell whether a file has changed.
struct State {
  bool named = false;  ///< whether the file has a name; nobody else writes one that has none
  std::uint64_t bytes = 0;
  /// Time of the last change of the content, and of anything, such as the name.
  timespec written{}, touched{};
  std::uint64_t first_page = 0;  ///< checksum of the first page
};

struct Addresses {
  std::atomic<std::uintptr_t> begin = 0, end = 0;
  std::uint64_t offset = 0;  ///< the first address's offset in the file

  bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
  void set(const void* address, std::uint64_t from, std::uint64_t bytes) {
    offset = from;
    begin = reinterpret_cast<std::uintptr_t>(address);
    end = begin + bytes;  // from here on a fault names the file
  }
  void forget() { end = begin = 0; }
};

/// The files that are mapped now, for the signal handler.
struct Range {
  std::atomic<const char*> path = nullptr;                  ///< path of the file; null: the place is free
  std::array<Addresses, 1 + MappedFile::kPlaces> places{};  ///< the whole file first
  const void* data = nullptr;
  int descriptor = -1;
  State state{};
  /// The process that alone says that a file has changed, in memory that forked processes share. Null: each
  /// says it.
  std::atomic<std::atomic<pid_t>*> teller = nullptr;
};
constexpr std::size_t kRanges = 1024;
std::array<Range, kRanges> ranges;
std::mutex ranges_mutex;  // not taken by the signal handler
constexpr std::array kFaults = {SIGBUS, SIGSEGV, SIGFPE, SIGABRT};
std::array<struct sigaction, kFaults.size()> old_actions{};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);
std::atomic<SaidOfEnd*> shared_end = nullptr;

constexpr std::string_view kChanged =
    ": the file was written while it was used, so this run is given up; run again, and replace a file "
    "that is in use by its name (mv)";

std::uint64_t checksum_of_first_page(const void* data, std::uint64_t bytes) {
  return checksum(static_cast<const char*>(data), std::min(bytes, kPageBytes));
}

bool same(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

/// Returns whether the file has changed. It is safe in a signal handler.
bool has_changed(const Range& range) {
  struct stat now {};
  const State& then = range.state;
  if (!then.named || fstat(range.descriptor, &now) != 0) return false;
  if (static_cast<std::uint64_t>(now.st_size) != then.bytes || !same(now.st_mtim, then.written)) return true;
  return !same(now.st_ctim, then.touched) &&
         checksum_of_first_page(range.data, then.bytes) != then.first_page;
}

/// Returns whether this process is to say that the file has changed. It is safe in a signal handler.
bool tells(const Range& range) {
  std::atomic<pid_t>* const teller = range.teller.load();
  pid_t none = 0;
  return teller == nullptr || teller->compare_exchange_strong(none, getpid()) || none == getpid();
}

/// Ends the process with a line, unless another one has said it. Its calls are safe in a signal handler.
[[noreturn]] void end_with(const Range& range, std::initializer_list<std::string_view> texts) {
  static std::atomic_flag ending;
  while (ending.test_and_set()) pause();  // another thread ends the process
  SaidOfEnd* const job = shared_end.load();
  if (job != nullptr) job->early = true;
  TemporaryName::remove_all();
  if (!tells(range) || (job != nullptr && job->cause.exchange(true))) _exit(1);
  static std::array<char, PATH_MAX + 300> line;
  std::size_t size = 0;
  for (const std::string_view text : texts) size += text.copy(line.data() + size, line.size() - size);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), size);
  _exit(1);
}

/// Ends the process when the system found no page: the file has become shorter, or cannot be read there.
[[noreturn]] void end_by_lost_page(const Range& range, std::uint64_t byte) {
  std::array<char, 20> digits;
  const auto after = std::to_chars(digits.data(), digits.data() + digits.size(), byte).ptr;
  end_with(range, {"edgewire: ", range.path.load(), ": byte ",
                   std::string_view(digits.data(), static_cast<std::size_t>(after - digits.data())),
                   ": cannot read: the file was cut short, or its disk failed, while it was used\n"});
}

/// Ends the process after a crash. What was read from a file that has changed may be why.
void end_by_fault(int number, siginfo_t* info, void*) {
  const bool sent = info->si_code <= 0;  // whether a process sent the signal, this one included
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (number == SIGBUS && !sent)
    for (const Range& range : ranges)
      for (const Addresses& place : range.places)
        if (place.holds(address)) end_by_lost_page(range, address - place.begin + place.offset);
  for (const Range& range : ranges)
    if (range.path.load() != nullptr && has_changed(range))
      end_with(range, {"edgewire: ", range.path.load(), kChanged, "\n"});
  // Handles the fault, which is raised again at once.
  for (std::size_t i = 0; i < kFaults.size(); ++i)
    if (kFaults[i] == number) sigaction(number, &old_actions[i], nullptr);
  if (sent) std::raise(number);
}

void handle_faults() {
  struct sigaction before {};
  struct sigaction action {};
  action.sa_sigaction = end_by_fault;
  action.sa_flags = SA_SIGINFO;
  for (std::size_t i = 0; i < kFaults.size(); ++i) {
    sigaction(kFaults[i], nullptr, &before);
    if (before.sa_sigaction == end_by_fault) continue;
    old_actions[i] = before;
    sigaction(kFaults[i], &action, nullptr);
  }
}

/// Watches a range from now on and returns its number, or kRanges when there are too many.
std::size_t watch(const char* path, const void* data, int descriptor, const struct stat& status) {
  const std::lock_guard lock(ranges_mutex);
  handle_faults();
  const auto free = std::ranges::find_if(ranges, [](const Range& one) { return one.path == nullptr; });
  if (free == ranges.end()) return kRanges;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  free->path = path;
  free->places[0].set(data, 0, bytes);
  free->data = data;
  free->descriptor = descriptor;
  free->state = {status.st_nlink > 0, bytes, status.st_mtim, status.st_ctim,
                 checksum_of_first_page(data, bytes)};
  void* const page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  free->teller = page == MAP_FAILED ? nullptr : new (page) std::atomic<pid_t>(0);
  return static_cast<std::size_t>(free - ranges.begin());
}

void forget(std::size_t range) {
  if (range == kRanges) return;
  const std::lock_guard lock(ranges_mutex);
  for (Addresses& place : ranges[range].places) place.forget();
  ranges[range].path = nullptr;
  if (auto* const teller = ranges[range].teller.exchange(nullptr)) munmap(teller, kPageBytes);
}

}  // namespace

void share_end(SaidOfEnd* said) noexcept { shared_end = said; }

void refuse_changed_files() {
  const std::lock_guard lock(ranges_mutex);
  for (const Range& range : ranges)
    if (range.path != nullptr && has_changed(range))
      throw FileChanged(fmt::format("{}{}", range.path.load(), kChanged), !tells(range));
}

MappedFile::MappedFile(const std::string& path, const std::string& name) : path_(name.empty() ? path : name) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("{}: cannot read: {}", path_, why));
  };
  // Nonblocking, so that a pipe without a writer does not hang.
  const int descriptor = uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (descriptor < 0) refuse(reason(errno));
  struct stat status {};
  int cause = fstat(descriptor, &status) == 0 ? 0 : errno;
  if (cause == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    bytes_ = static_cast<std::uint64_t>(status.st_size);
    void* mapped = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED) {
      cause = errno;
    } else {
      data_ = static_cast<const std::uint8_t*>(mapped);
      range_ = watch(path_.c_str(), data_, descriptor, status);
    }
  }
  if (status.st_uid != geteuid())
    distrust_ = "it belongs to another user";
  else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    distrust_ = "others can write it (chmod go-w helps)";
  if (data_ != nullptr)
    descriptor_ = descriptor;
  else
    close(descriptor);
  if (cause != 0) refuse(reason(cause));
  if (S_ISDIR(status.st_mode)) refuse(reason(EISDIR));
  if (!S_ISREG(status.st_mode)) refuse("it is not a regular file");
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  forget(range_);
  munmap(const_cast<std::uint8_t*>(data_), bytes_);
  close(descriptor_);
}

void MappedFile::map_at(void* address, std::uint64_t offset, std::uint64_t bytes) {
  if (mmap(address, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, descriptor_, static_cast<off_t>(offset)) ==
      MAP_FAILED)
    throw Error(fmt::format("{}: cannot read: {}", path_, reason(errno)));
  if (range_ == kRanges) return;
  const std::lock_guard lock(ranges_mutex);
  for (Addresses& place : ranges[range_].places)
    if (place.end == 0) return place.set(address, offset, bytes);
}

void MappedFile::fail(std::uint64_t offset, std::string_view what) const {
  refuse_changed_files();
  throw Error(fmt::format("{}: byte {}: {}", path_, offset, what));
}

bool MappedFile::is_cached() const noexcept {
  // Places in the file; pages side by side at each place.
  constexpr std::uint64_t kPlacesLookedAt = 64, kPages = 64;
  static_assert(kPages * kPageBytes % (1 << 16) == 0, "a place is whole pages, however large these are");
  struct stat file {};
  // The system says of files that the user may not write that all their pages are there.
  if (fstat(descriptor_, &file) != 0 || (file.st_uid != geteuid() && geteuid() != 0)) return false;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::array<unsigned char, kPages> there{};
  std::uint64_t looked_at = 0, found = 0;
  for (std::uint64_t place = 0; place < kPlacesLookedAt; ++place) {
    const std::uint64_t first = bytes_ / kPlacesLookedAt * place / page * page;
    const std::uint64_t bytes = std::min(kPages * kPageBytes, bytes_ - first);
    if (bytes == 0 || mincore(const_cast<std::uint8_t*>(data_) + first, bytes, there.data()) != 0)
      return false;
    const auto pages = std::span(there).first((bytes + page - 1) / page);
    looked_at += pages.size();
    found += static_cast<std::uint64_t>(
        std::ranges::count_if(pages, [](unsigned char one) { return (one & 1) != 0; }));
  }
  return found * 10 >= looked_at * 9;
}

void MappedFile::expect_scattered_reads(bool scattered) const noexcept {
  madvise(const_cast<std::uint8_t*>(data_), bytes_, scattered ? MADV_RANDOM : MADV_NORMAL);
}

void MappedFile::release(std::uint64_t begin, std::uint64_t end) const noexcept {
  release(data_ + begin, data_ + end);
}

void MappedFile::release(const std::uint8_t* begin, const std::uint8_t* end) noexcept {
  const auto first = padded(reinterpret_cast<std::uintptr_t>(begin));
  const auto last = reinterpret_cast<std::uintptr_t>(end) / kPageBytes * kPageBytes;
  if (first < last)
    madvise(const_cast<std::uint8_t*>(begin) + (first - reinterpret_cast<std::uintptr_t>(begin)),
            last - first, MADV_DONTNEED);
}

}  // namespace edgewire
