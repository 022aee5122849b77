// How process 0 links the components of all processes, where what they have to say of them fits into it.
//
// The components of a process that take part are numbered, in the order of the vertices that name them. For
// each two processes both of them tell process 0 the numbers of their components in the order of the boundary
// vertices that both know: what stands at the same place is linked. A number takes as many bits as the
// process needs for its components. The answer has a bit for each of them, whether it got the label that most
// have, and the labels of the others.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/numbering.h"
#include "frontier/forest.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"

namespace edgewire::frontier {

/// Numbers of so many bits each, 32 at most, one right after the other in 4-byte words.
class PackedNumbers {
 public:
  static constexpr unsigned kWord = 32;
  static std::uint64_t words(std::uint64_t count, unsigned bits) noexcept {
    return (count * bits + kWord - 1) / kWord;
  }
  /// `words` outlives this and has one word more than the numbers take.
  PackedNumbers(std::uint32_t* words, unsigned bits) noexcept
      : words_(words), bits_(bits), mask_(static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1)) {}

  std::uint32_t operator[](std::uint64_t i) const noexcept {
    const std::uint64_t at = i * bits_;
    const std::uint32_t* const word = words_ + at / kWord;
    return static_cast<std::uint32_t>((word[0] | std::uint64_t{word[1]} << kWord) >> at % kWord) & mask_;
  }
  /// Call it once for each number. All words must be 0 before.
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

/// What a process tells process 0 of its components, as a list of 4-byte values.
class ComponentList {
 public:
  /// What all processes know of each other's lists.
  struct Size {
    std::uint64_t names = 0;       ///< the boundary vertices whose component is told, of all peers together
    std::uint64_t components = 0;  ///< that have numbers
    std::uint64_t known = 0;       ///< vertices that the process knows; no part of the list
  };
  ComponentList(std::uint32_t processes, std::uint32_t owned, Size size);

  /// How many values there are.
  std::uint64_t length() const noexcept { return length_; }
  /// Bytes of memory once there is room for the values.
  std::uint64_t bytes() const noexcept { return (length() + 1) * sizeof(std::uint32_t); }
  const Size& size() const noexcept { return size_; }
  /// Stands for a boundary vertex that is in no component of the process.
  std::uint32_t none() const noexcept { return static_cast<std::uint32_t>(size_.components); }

  void make_room() { values_.resize(length() + 1); }
  std::uint32_t& value(std::uint64_t i) noexcept { return values_[i]; }
  // After make_room().
  /// The number of the component that is large in all processes, or none().
  std::uint32_t& shared() noexcept { return values_[0]; }
  /// How many names are for boundary vertices of this process and of that peer.
  std::uint32_t& names_for(std::uint32_t peer) noexcept { return values_[1 + std::size_t{peer}]; }
  /// The names, peer by peer.
  PackedNumbers names() noexcept { return {values_.data() + names_begin_, name_bits_}; }
  /// The owned vertices that name the components, ascending.
  void put_owners(const Bits& named);
  /// Throws Error where they are others than a process can have.
  std::vector<LocalNumber> owners();

 private:
  std::uint64_t owners_begin() const noexcept { return 1 + std::uint64_t{processes_}; }

  std::uint32_t processes_, owned_;
  Size size_;
  unsigned name_bits_, owner_bits_;
  bool as_bits_;  ///< owners are bits of all owned vertices, or else their local numbers
  std::uint64_t names_begin_, length_;
  std::vector<std::uint32_t> values_;
};

/// How much process 0 may get: so many bytes, or so many for each vertex that it knows.
struct GatheredRoom {
  std::uint64_t bytes = 8 << 20, bytes_a_vertex = 32;
};

/// Functions are collective, in this order, while workers rest; they throw Error.
class GatheredComponents {
 public:
  /// The labels of the components of this process, by number.
  struct Answer {
    VertexId common{};  ///< the label of those whose bit is set
    std::vector<Bits::Word> bits;
    std::vector<VertexId> others;  ///< labels of the components without a bit
    bool is_common(std::uint64_t number) const noexcept {
      return (bits[number / Bits::kBits] >> number % Bits::kBits & 1) != 0;
    }
  };

  /// `named`: the owned vertices that name the components that take part. `names`: see ComponentList::Size.
  /// `job` and `named` outlive this. Memory of process 0: what `room` says, in others that of their list.
  GatheredComponents(FrontierJob& job, const Bits& named, std::uint64_t names, GatheredRoom room);
  /// Whether process 0 has room; else nothing more may be called. The same in all processes.
  bool fits() const noexcept { return fits_; }
  /// `roots`: by peer, and there in the order that both know: owned vertices that name components, or
  /// Forest::kNone. `counts`: [peer]: how many of them are for it. `shared`: such a vertex, too.
  void tell(std::span<const std::uint32_t> roots, std::span<const std::uint64_t> counts,
            std::uint32_t shared);
  Answer link();

 private:
  struct Piece {
    std::uint32_t p, q;
    std::uint64_t at_p, at_q, count;  ///< the names of both lists that stand at the same places
  };
  static constexpr std::uint64_t kPiece = 1 << 14;

  void check_counts();
  std::vector<Piece> pieces_of(std::uint32_t p, std::vector<std::uint64_t>& next);
  void link_piece(Forest& forest, const Piece& piece);
  std::uint32_t find_labels(Forest& forest);
  Answer answer_for(std::uint32_t process, const Forest& forest, std::uint32_t common) const;
  Answer send_answers(const Forest& forest, std::uint32_t common);
  Answer take_answer();

  FrontierJob& job_;
  const Bits& named_;
  std::uint32_t processes_;
  std::vector<ComponentList> lists_;   ///< [process]
  std::vector<std::uint64_t> begins_;  ///< [process]: of its components among those of all; and the end
  bool fits_ = false;
  std::vector<VertexId> labels_;  ///< [component of all], in process 0
};

}  // namespace edgewire::frontier
