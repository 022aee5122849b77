// A vertex has three numbers: its global id, its local number at its owner, and its index in the order in
// which the owner computes its vertices. A value that crosses the wire has a slot. Each numbering has its own
// type, so that the compiler refuses one where another is meant. The types cost nothing: each is as large as
// its representation, which is a std::uint32_t. Only global ids have 64 bits when the code is compiled with
// EDGEWIRE_ID_BITS=64, for graphs of more than 2^32 - 2 vertices.
//
// What a kernel computes and sends as a value is a plain number, since such values have marks as "none" among
// them: a PlainId where it is a global id (a label, a parent), a std::uint32_t where it is none (a level).
// A PlainId becomes a VertexId where it is used as one.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace edgewire {

#ifndef EDGEWIRE_ID_BITS
#define EDGEWIRE_ID_BITS 32  // what meson's option id_bits says
#endif
static_assert(EDGEWIRE_ID_BITS == 32 || EDGEWIRE_ID_BITS == 64, "a global id has 32 or 64 bits");
/// Says whether global ids have 64 bits, in memory, on the wire and in files.
inline constexpr bool kIds64 = EDGEWIRE_ID_BITS == 64;

/// A number of one numbering. It is made of its representation only where a caller says so, and is one
/// wherever a caller needs one. Two numberings do not compare.
template <class Numbering, class Rep = std::uint32_t>
class NumberOf {
 public:
  using Value = Rep;  ///< what represents it
  /// NumberOf{} is 0; without braces it has no value yet, as its representation.
  NumberOf() noexcept = default;
  constexpr explicit NumberOf(Rep value) noexcept : value_(value) {}
  /// Takes only what stands in the code as a number: vertex 0.
  template <std::same_as<int> Literal>
  consteval NumberOf(Literal literal) : value_(static_cast<Rep>(literal)) {
    if (literal < 0) throw "a number is not negative";
  }
  constexpr operator Rep() const noexcept { return value_; }
  constexpr NumberOf& operator++() noexcept { return ++value_, *this; }
  constexpr NumberOf& operator+=(Rep steps) noexcept { return value_ += steps, *this; }
  /// Takes only steps of the same width: the position behind the last number may not fit.
  template <std::same_as<Rep> Steps>
  friend constexpr NumberOf operator+(NumberOf number, Steps steps) noexcept {
    return number += steps;
  }

 private:
  Rep value_;
};
template <class A, class RepA, class B, class RepB>
requires(!std::is_same_v<A, B>) bool operator==(NumberOf<A, RepA>, NumberOf<B, RepB>) = delete;
template <class A, class RepA, class B, class RepB>
requires(!std::is_same_v<A, B>) std::strong_ordering operator<=>(NumberOf<A, RepA>,
                                                                 NumberOf<B, RepB>) = delete;

/// Global id: the vertex's number in the graph file.
using VertexId = NumberOf<struct VertexIdNumbering, std::conditional_t<kIds64, std::uint64_t, std::uint32_t>>;
/// A global id as a plain number: what a file, a record or an array of labels holds. The largest one means
/// "no vertex" (kNoVertex).
using PlainId = VertexId::Value;
inline constexpr PlainId kNoVertex = static_cast<PlainId>(-1);
/// The most vertices that a process may own or know. With ids of 64 bits it is so low that a loop of 32 bits,
/// in steps of at most 2^22, ends; with ids of 32 bits no other process would own a vertex.
inline constexpr std::uint32_t kMostOfAProcess = kIds64 ? 0xFFC0'0000 : 0xFFFF'FFFE;
/// Returns all bits of an id in 32, for tables that hash ids.
template <class Id>
constexpr std::uint32_t folded(Id id) noexcept {
  if constexpr (sizeof(Id) == sizeof(std::uint32_t))
    return id;
  else
    return static_cast<std::uint32_t>(id ^ id >> 32);
}
/// The vertex's number among those of its owner, ascending by id.
using LocalNumber = NumberOf<struct LocalNumbering>;
/// The owner of a vertex, and the vertex's local number there.
struct Home {
  std::uint32_t owner;
  LocalNumber local;
};
/// The vertex's position in the layout of its owner, by which arrays of values are addressed.
using OwnedIndex = NumberOf<struct OwnedIndexNumbering>;
/// The number of a vertex that a process knows: an owned vertex has its local number,
/// and boundary vertices follow, owner by owner, in the order of the local numbers that they have there.
using KnownNumber = NumberOf<struct KnownNumbering>;
/// The place of a value in a stream of values to a peer.
using Slot = NumberOf<struct SlotNumbering>;

template <class Index, class Container>
class NumberedBy;
/// Says whether a T is no container that is numbered otherwise.
template <class Index, class T>
inline constexpr bool kFits = true;
template <class Index, class Other, class Container>
inline constexpr bool kFits<Index, NumberedBy<Other, Container>> = std::is_same_v<Index, Other>;

/// A vector or span whose elements are found by an Index, and by no other number.
template <class Index, class Container>
class NumberedBy : public Container {
 public:
  constexpr NumberedBy() = default;
  /// Makes the container from its own arguments. What it is made of is in the order of the numbers.
  template <class... Arguments>
  requires(std::constructible_from<Container, Arguments...> &&
           (kFits<Index, std::remove_cvref_t<Arguments>> &&
            ...)) constexpr explicit(sizeof...(Arguments) == 1 &&
                                     !(std::convertible_to<Arguments, Container> && ...))
      NumberedBy(Arguments&&... arguments)
      : Container(std::forward<Arguments>(arguments)...) {}
  constexpr decltype(auto) operator[](Index i) noexcept { return Container::operator[](i); }
  constexpr decltype(auto) operator[](Index i) const noexcept { return Container::operator[](i); }
};

/// Returns the same numbers without their numbering, for loops that treat many numbers at once.
template <class Numbering, class Rep>
std::span<const Rep> plain(std::span<const NumberOf<Numbering, Rep>> numbers) noexcept {
  return {reinterpret_cast<const Rep*>(numbers.data()), numbers.size()};
}
/// Returns the same numbers, which are of this numbering: what a file, a message or such a loop has.
template <class N>
std::span<const N> numbered(std::span<const typename N::Value> numbers) noexcept {
  return {reinterpret_cast<const N*>(numbers.data()), numbers.size()};
}

}  // namespace edgewire

#pragma GCC visibility pop
