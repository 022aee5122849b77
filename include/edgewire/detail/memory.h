// Memory bound to a NUMA node, in huge pages if the system provides them.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#pragma GCC visibility push(default)

namespace edgewire::detail {

/// The place where memory starts: with a page, or at a place within one.
///
/// A loop over vertices reads and writes several arrays at the same index. If all of them start with a page,
/// what it loads from one array has the same last 12 bits as what it has just stored into another. Some
/// processors then take the load for one of what was stored, and let it wait ("4 KiB aliasing": Intel 64 and
/// IA-32 Architectures Optimization Reference Manual). So arrays with an element for each vertex are
/// `staggered`: those that are made one after the other start at different cache lines of a page.
enum class Begin { page, staggered };

/// Zeroed, private memory. Owns its pages; movable. On a machine with several nodes pages come from `node`
/// (os_index) if possible, else from another one. With -1 there is no preference.
class NodeMemory {
 public:
  NodeMemory() = default;
  /// Throws Error when there is no memory: "cannot get N bytes of memory for WHAT".
  NodeMemory(std::size_t bytes, int node, const char* what, Begin begin = Begin::page);
  NodeMemory(NodeMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  NodeMemory& operator=(NodeMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~NodeMemory();
  /// Returns the first `bytes` of an open file, shared with all that map it. Throws what the constructor
  /// throws.
  static NodeMemory of_file(std::size_t bytes, int fd, const char* what);

  template <class T>
  std::span<T> as() const noexcept {
    return {static_cast<T*>(data_), bytes_ / sizeof(T)};
  }
  std::size_t bytes() const noexcept { return bytes_; }
  /// Keeps the first `bytes`, and gives back whole pages behind them.
  void shrink(std::size_t bytes) noexcept;

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Returns memory like that of NodeMemory, which the caller frees with unmap_pages(). Returns null if there
/// is no memory.
void* map_pages(std::size_t bytes, int node, Begin begin = Begin::page) noexcept;
void unmap_pages(void* data, std::size_t bytes) noexcept;

/// Returns `bytes` rounded up to pages of the system's size.
std::size_t whole_pages(std::size_t bytes) noexcept;

/// Asks for huge pages for mapped memory, and for pages from `node` (os_index, -1: no preference). Best
/// effort.
void prepare_pages(void* data, std::size_t bytes, int node) noexcept;

}  // namespace edgewire::detail

#pragma GCC visibility pop
