// This file says from which NUMA nodes the pages of memory should come, and from which they came. All that
// sets or asks for memory policy is here, by libnuma. A policy is a wish: where a node has no memory left,
// pages come from another one, and a system or container without policies gives pages as it likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace edgewire::topology {

/// Memory, and the nodes (os_index) that its pages should come from: one, or several in turn, where workers
/// of all these read it. Without nodes there is no preference. Whoever makes it keeps the nodes.
struct PlacedMemory {
  std::span<const std::byte> bytes;
  std::span<const int> nodes;
  bool small_pages = false;  ///< ask for small pages: parts of it will move to one of several nodes
};

/// Asks for the pages that are not there yet. A page counts as a whole: of two calls for parts of one page
/// the later one holds. What is in the memory stays.
void place_pages(const PlacedMemory& memory) noexcept;
/// Does the same as place_pages(), and moves pages that are there already, as far as the system can. It
/// cannot move those that a network card has registered.
void move_pages_to(const PlacedMemory& memory) noexcept;

/// Returns why the system has refused to set a memory policy for this process; empty while it has not.
std::string policy_refusal();

/// The nodes of pages. Pages have the system's size; those of a huge page count each.
struct PageCount {
  std::uint64_t bytes = 0;             ///< bytes of the memory that count_pages() was asked about
  std::map<int, std::uint64_t> pages;  ///< pages by node (os_index); memory that was never touched has none
  std::uint64_t elsewhere = 0;         ///< pages that are on other nodes than they should be

  PageCount& operator+=(const PageCount& other);
};

/// Asks the system (move_pages) about `most` places, evenly spread over all the memory, and multiplies. If it
/// finds no pages, the system does not tell.
PageCount count_pages(std::span<const PlacedMemory> memory, std::size_t most = 4096);

/// The memory of a node.
struct NodePages {
  struct Huge {
    std::uint64_t bytes = 0;  ///< the size of one of these pages
    std::uint64_t total = 0, free = 0;
  };
  std::uint64_t total = 0, free = 0;  ///< pages of the system's size; 0: unknown
  std::vector<Huge> huge;             ///< pages reserved for hugetlbfs, by size
};
NodePages node_pages(int os_index);
std::size_t page_bytes() noexcept;
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

}  // namespace edgewire::topology
