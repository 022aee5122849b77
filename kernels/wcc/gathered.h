// This file has the way process 0 links the components of all processes, where their lists fit into it.
//
// Each two processes tell process 0 the numbers of their components in the order of the boundary vertices
// that both know: those at the same place are one. A number takes as many bits as the process needs for its
// components. The answer has a bit for each, whether it has the most frequent label, and the other labels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.h"
#include "edgewire/numbering.h"
#include "frontier/frontier_job.h"
#include "kernels/wcc/forest.h"

namespace edgewire::kernels {

/// Numbers of equally many bits, at most 32, one right after the other in 4-byte words.
class PackedNumbers {
 public:
  static constexpr unsigned kWord = 32;
  static std::uint64_t words(std::uint64_t count, unsigned bits) noexcept {
    return (count * bits + kWord - 1) / kWord;
  }
  /// Makes the numbers. `words` outlives this and has one word more than the numbers take.
  PackedNumbers(std::uint32_t* words, unsigned bits) noexcept
      : words_(words), bits_(bits), mask_(static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1)) {}

  std::uint32_t operator[](std::uint64_t i) const noexcept {
    const std::uint64_t at = i * bits_;
    const std::uint32_t* const word = words_ + at / kWord;
    return static_cast<std::uint32_t>((word[0] | std::uint64_t{word[1]} << kWord) >> at % kWord) & mask_;
  }
  /// Sets number i. Call it once for each number. All words must be 0 before.
  void put(std::uint64_t i, std::uint32_t number) noexcept {
    const std::uint64_t at = i * bits_, shifted = std::uint64_t{number} << at % kWord;
    std::uint32_t* const word = words_ + at / kWord;
    word[0] |= static_cast<std::uint32_t>(shifted);
    word[1] |= static_cast<std::uint32_t>(shifted >> kWord);
  }

 private:
  std::uint32_t* words_;
  unsigned bits_;
  std::uint32_t mask_;
};

/// The list of 4-byte values in which a process tells process 0 its components.
class ComponentList {
 public:
  /// The size of a list, which all processes know.
  struct Size {
    std::uint64_t names = 0;       ///< number of vertices whose component it names, to all peers together
    std::uint64_t components = 0;  ///< number of components that have numbers
  };
  ComponentList(std::uint32_t processes, std::uint32_t owned, Size size);

  /// Returns the number of values.
  std::uint64_t length() const noexcept { return length_; }
  /// Returns the bytes of memory that it takes with room for the values.
  std::uint64_t bytes() const noexcept { return (length() + 1) * sizeof(std::uint32_t); }
  const Size& size() const noexcept { return size_; }
  /// Returns the number for a vertex that is in no component of the process.
  std::uint32_t none() const noexcept { return static_cast<std::uint32_t>(size_.components); }

  void make_room() { values_.resize(length() + 1); }
  std::uint32_t& value(std::uint64_t i) noexcept { return values_[i]; }
  // Call these after make_room().
  /// Returns the number of the component that is large in all processes, or none().
  std::uint32_t& giant() noexcept { return values_[0]; }
  /// Returns the number of names for vertices that this process and that peer know.
  std::uint32_t& names_for(std::uint32_t peer) noexcept { return values_[1 + std::size_t{peer}]; }
  /// Returns the names, peer by peer.
  PackedNumbers names() noexcept { return {values_.data() + names_begin_, name_bits_}; }
  /// Stores the roots of the components, ascending.
  void put_roots(const Bits& roots);
  /// Returns the roots. Throws Error where a process cannot have them.
  std::vector<LocalNumber> roots();

 private:
  std::uint32_t owned_;
  Size size_;
  unsigned name_bits_, root_bits_;
  bool as_bits_;  ///< whether roots are bits of all owned vertices, or else their local numbers
  std::uint64_t roots_begin_, names_begin_, length_;
  std::vector<std::uint32_t> values_;
};

/// Returns the answer of process 0 to a process with these labels of its components: whole records of values,
/// with a bit for each component, whether it has the label `most`, and then the other labels.
std::vector<PlainId> pack_labels(std::span<const PlainId> labels, PlainId most);
/// Returns the labels of `components`. Throws Error where there are fewer or more values than these take.
std::vector<PlainId> unpack_labels(std::span<const PlainId> values, std::uint64_t components, PlainId most);

/// The bytes that process 0 may get: in all, or for each vertex that it knows.
struct GatheredRoom {
  std::uint64_t bytes = 8 << 20, bytes_a_vertex = 32;
};

/// The gathered components. Functions are collective, in this order, while workers rest; they throw Error.
class GatheredComponents {
 public:
  /// Makes the lists. `job` and `open` outlive this. Memory: `room` in process 0, the list in others.
  GatheredComponents(frontier::Job& job, const OpenComponents& open, GatheredRoom room);
  /// Returns whether process 0 has room; else nothing more may be called. It is the same in all processes.
  bool fits() const noexcept { return fits_; }
  void tell();
  /// Returns the labels of the components of this process, by number.
  std::vector<PlainId> link();

 private:
  struct Piece {
    std::uint32_t p, q;
    std::uint64_t at_p, at_q, count;  ///< places and number of the names of both lists for the same vertices
  };

  void check_lists();
  void link_names(Forest& forest);
  void link_piece(Forest& forest, const Piece& piece);
  void link_giants(Forest& forest);
  std::vector<PlainId> labels_of(Forest& forest);
  void send_labels(std::span<const PlainId> labels);
  std::vector<PlainId> take_labels();

  frontier::Job& job_;
  const OpenComponents& open_;
  std::uint32_t processes_;
  std::vector<ComponentList> lists_;  ///< lists, [process]
  /// Start of each process's components among those of all, [process], and the end.
  std::vector<std::uint64_t> begins_;
  bool fits_ = false;
};

}  // namespace edgewire::kernels
