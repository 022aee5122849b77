#include "topology/page_nodes.h"

#include <fmt/core.h>
#include <numa.h>
#include <numaif.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

namespace {

/// Whether this thread is in a call of libnuma that is made here: nobody wants to read its complaints then.
thread_local bool quiet = false;

/// True once libnuma was loaded: as it is loaded, it would complain in programs that never use it.
bool loaded = false;
__attribute__((constructor)) void note_loaded() { loaded = true; }

struct Quiet {
  Quiet() { quiet = true; }
  ~Quiet() { quiet = false; }
};

}  // namespace

// libnuma lets programs replace these two. Weak, so that a program with its own ones can have this library.
extern "C" {
__attribute__((weak, visibility("default"))) void numa_error(char* where) {
  if (quiet) return;
  std::perror(where);
  if (numa_exit_on_error != 0) std::exit(1);
}
__attribute__((weak, visibility("default"), format(printf, 2, 3))) void numa_warn(int /*number*/,
                                                                                  char* format, ...) {
  if (quiet || !loaded) return;
  va_list values;
  va_start(values, format);
  std::fputs("libnuma: Warning: ", stderr);
  std::vfprintf(stderr, format, values);
  std::fputc('\n', stderr);
  va_end(values);
}
}

namespace edgewire::topology {
namespace {

/// The fewest huge pages of each node. Fewer huge pages for each node would not spread the memory evenly.
constexpr std::size_t kLeastHugePages = 4;
constexpr std::size_t kPagesAtATime = 1 << 14;  ///< number of pages in a call of move_pages

std::atomic<int> refused{0};  ///< error number of the first refusal; 0: none

void remember_refusal(int error) noexcept {
  if (error == EPERM || error == ENOSYS) refused = error;
}

/// Returns whether libnuma may be called.
bool has_policies() noexcept {
  static const bool available = [] {
    const Quiet no_words;
    errno = 0;
    const bool there = numa_available() >= 0;
    if (there) numa_set_bind_policy(0);  // numa_tonode_memory() then prefers the node
    if (!there) remember_refusal(errno);
    return there;
  }();
  return available;
}

using NodeMask = std::unique_ptr<bitmask, decltype(&numa_bitmask_free)>;

/// Returns the whole pages that hold any of the memory.
std::span<std::byte> pages_of(std::span<const std::byte> memory) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t before = begin % page_bytes();
  const std::size_t length = (memory.size() + before + page_bytes() - 1) / page_bytes() * page_bytes();
  return {const_cast<std::byte*>(memory.data()) - before, length};
}

/// Moves pages to these nodes in turn. Pages that other processes map as well need a privilege.
void move_there(std::span<std::byte> pages, std::span<const int> nodes) {
  std::vector<void*> at;
  std::vector<int> wanted, status(kPagesAtATime);
  int flags = MPOL_MF_MOVE_ALL;
  for (std::size_t first = 0; first < pages.size(); first += kPagesAtATime * page_bytes()) {
    const auto part = pages.subspan(first, std::min(pages.size() - first, kPagesAtATime * page_bytes()));
    at.clear();
    wanted.clear();
    for (std::size_t p = 0; p < part.size(); p += page_bytes()) {
      at.push_back(part.data() + p);
      wanted.push_back(nodes[(first + p) / page_bytes() % nodes.size()]);
    }
    const auto move = [&] {
      return numa_move_pages(0, at.size(), at.data(), wanted.data(), status.data(), flags) >= 0;
    };
    if (move() || errno != EPERM || flags == MPOL_MF_MOVE) continue;
    flags = MPOL_MF_MOVE;
    move();
  }
}

}  // namespace

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void place_pages(const PlacedMemory& memory) noexcept {
  const auto& nodes = memory.nodes;
  const auto known = [](int node) { return node >= 0 && node <= numa_max_possible_node(); };
  if (memory.bytes.empty() || nodes.empty() || !has_policies() || !std::ranges::all_of(nodes, known)) return;
  const Quiet no_words;
  const auto pages = pages_of(memory.bytes);
  errno = 0;
  if (nodes.size() == 1) {
    numa_tonode_memory(pages.data(), pages.size(), nodes[0]);
  } else {
    const NodeMask mask(numa_allocate_nodemask(), numa_bitmask_free);
    for (const int node : nodes) numa_bitmask_setbit(mask.get(), static_cast<unsigned>(node));
    errno = 0;
    numa_interleave_memory(pages.data(), pages.size(), mask.get());
  }
  remember_refusal(errno);  // libnuma returns nothing, and keeps the number
  if (nodes.size() > 1 &&
      (memory.small_pages || pages.size() < kLeastHugePages * kHugePageBytes * nodes.size()))
    madvise(pages.data(), pages.size(), MADV_NOHUGEPAGE);
}

void move_pages_to(const PlacedMemory& memory) noexcept {
  place_pages(memory);
  if (memory.bytes.empty() || memory.nodes.empty() || !has_policies()) return;
  const Quiet no_words;
  try {
    move_there(pages_of(memory.bytes), memory.nodes);
  } catch (const std::bad_alloc&) {
    return;  // pages stay where they are
  }
}

std::string policy_refusal() {
  const int error = refused;
  return error == 0 ? "" : std::strerror(error);
}

PageCount& PageCount::operator+=(const PageCount& other) {
  bytes += other.bytes;
  for (const auto& [node, count] : other.pages) pages[node] += count;
  elsewhere += other.elsewhere;
  return *this;
}

PageCount count_pages(std::span<const PlacedMemory> memory, std::size_t most) {
  PageCount count;
  for (const auto& one : memory) count.bytes += one.bytes.size();
  if (count.bytes == 0 || most == 0 || !has_policies()) return count;
  const std::uint64_t step = std::max<std::uint64_t>(page_bytes(), count.bytes / most);
  std::vector<void*> places;
  std::vector<std::span<const int>> wanted;
  std::uint64_t next = step / 2, before = 0;  // offsets in all the memory, one part behind the other
  for (const auto& one : memory) {
    for (; next < before + one.bytes.size(); next += step) {
      places.push_back(const_cast<std::byte*>(one.bytes.data() + (next - before)));
      wanted.push_back(one.nodes);
    }
    before += one.bytes.size();
  }
  std::vector<int> nodes(places.size(), -1);
  const Quiet no_words;
  // If no nodes to move to are given, the call tells where pages are.
  if (numa_move_pages(0, places.size(), places.data(), nullptr, nodes.data(), 0) < 0) return count;
  const std::uint64_t pages = (step + page_bytes() / 2) / page_bytes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] < 0) continue;  // never touched
    count.pages[nodes[i]] += pages;
    if (!wanted[i].empty() && std::ranges::find(wanted[i], nodes[i]) == wanted[i].end())
      count.elsewhere += pages;
  }
  return count;
}

NodePages node_pages(int os_index) {
  NodePages found;
  const Quiet no_words;
  long long free = 0;
  if (const long long total = numa_node_size64(os_index, &free); total > 0) {
    found.total = static_cast<std::uint64_t>(total) / page_bytes();
    found.free = static_cast<std::uint64_t>(std::max(free, 0LL)) / page_bytes();
  }
  const auto number_in = [](const std::filesystem::path& path) {
    std::uint64_t number = 0;
    std::ifstream(path) >> number;
    return number;
  };
  std::error_code none;
  const std::filesystem::directory_iterator sizes(
      fmt::format("/sys/devices/system/node/node{}/hugepages", os_index), none);
  for (const auto& one : sizes) {
    const std::string name = one.path().filename();  // hugepages-2048kB
    const auto kib = std::strtoull(name.c_str() + std::min(name.size(), name.find('-') + 1), nullptr, 10);
    found.huge.push_back(
        {kib << 10, number_in(one.path() / "nr_hugepages"), number_in(one.path() / "free_hugepages")});
  }
  std::ranges::sort(found.huge, {}, &NodePages::Huge::bytes);
  return found;
}

}  // namespace edgewire::topology
