#include "graph/mapped_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "graph/format.h"

namespace edgewire::graph {

namespace {

/// What is mapped now, for the signal handler.
struct Range {
  std::atomic<const char*> path = nullptr;  ///< null: free
  std::atomic<std::uintptr_t> begin = 0, end = 0;
};
constexpr std::size_t kRanges = 256;
std::array<Range, kRanges> ranges;
struct sigaction old_action {};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

/// The system found no page for an address: the file has become shorter, or cannot be read there. Only calls
/// that are safe in a signal handler.
void end_by_bus_error(int number, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const auto found = std::ranges::find_if(
      ranges, [address](const Range& range) { return address >= range.begin && address < range.end; });
  if (info->si_code <= 0 || found == ranges.end()) {
    sigaction(number, &old_action, nullptr);  // for the next time, which comes at once
    if (info->si_code <= 0) std::raise(number);
    return;
  }
  static std::atomic_flag said;
  while (said.test_and_set()) pause();  // another thread ends the process
  std::array<char, 20> digits;
  const auto after = std::to_chars(digits.data(), digits.data() + digits.size(), address - found->begin).ptr;
  static std::array<char, PATH_MAX + 200> line;
  std::size_t size = 0;
  for (const std::string_view text :
       {std::string_view("edgewire: "), std::string_view(found->path.load()), std::string_view(": byte "),
        std::string_view(digits.data(), static_cast<std::size_t>(after - digits.data())),
        std::string_view(": cannot read: the file was cut short, or its disk failed, while it was used\n")})
    size += text.copy(line.data() + size, line.size() - size);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), size);
  _exit(1);
}

/// The number of a range that is watched from now on; kRanges when there are too many.
std::size_t watch(const char* path, const void* data, std::uint64_t bytes) {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = end_by_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, &old_action);
  });
  for (std::size_t i = 0; i < kRanges; ++i) {
    const char* none = nullptr;
    if (!ranges[i].path.compare_exchange_strong(none, path)) continue;
    ranges[i].begin = reinterpret_cast<std::uintptr_t>(data);
    ranges[i].end = ranges[i].begin + bytes;
    return i;
  }
  return kRanges;
}

void forget(std::size_t range) {
  if (range == kRanges) return;
  ranges[range].end = 0;
  ranges[range].begin = 0;
  ranges[range].path = nullptr;
}

}  // namespace

MappedFile::MappedFile(const std::string& path, const std::string& name) : path_(name.empty() ? path : name) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("{}: cannot read: {}", path_, why));
  };
  // Nonblocking, so that a pipe without a writer does not hang.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
      range_ = watch(path_.c_str(), data_, bytes_);
    }
  }
  if (status.st_uid != geteuid())
    distrust_ = "it belongs to another user";
  else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    distrust_ = "others can write it (chmod go-w helps)";
  close(descriptor);
  if (cause != 0) refuse(reason(cause));
  if (S_ISDIR(status.st_mode)) refuse(reason(EISDIR));
  if (!S_ISREG(status.st_mode)) refuse("it is not a regular file");
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  forget(range_);
  munmap(const_cast<std::uint8_t*>(data_), bytes_);
}

void MappedFile::fail(std::uint64_t offset, std::string_view what) const {
  throw Error(fmt::format("{}: byte {}: {}", path_, offset, what));
}

void MappedFile::release(std::uint64_t begin, std::uint64_t end) const noexcept {
  begin = padded(begin);
  end = end / kPageBytes * kPageBytes;
  if (begin < end) madvise(const_cast<std::uint8_t*>(data_) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace edgewire::graph
