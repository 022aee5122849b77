// A vertex has three numbers: its global id, its local number at its owner, and its index in the order in
// which the owner computes its vertices. A value that crosses the wire has a slot. Each numbering has its own
// type, so that the compiler refuses one where another is meant. The types cost nothing: each is as
// large as a std::uint32_t.
//
// What a kernel computes and sends as a value (a level, a label, a parent) is a plain std::uint32_t, since
// such values have marks as "none" among them. It becomes a VertexId where it is used as one.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace edgewire {

/// A number of one numbering. It is made of a std::uint32_t only where a caller says so, and is one wherever
/// a caller needs one. Two numberings do not compare.
template <class Numbering>
class NumberOf {
 public:
  /// NumberOf{} is 0; without braces it has no value yet, as a std::uint32_t.
  NumberOf() noexcept = default;
  constexpr explicit NumberOf(std::uint32_t value) noexcept : value_(value) {}
  /// Only for what stands in the code as a number: vertex 0.
  template <std::same_as<int> Literal>
  consteval NumberOf(Literal literal) : value_(static_cast<std::uint32_t>(literal)) {
    if (literal < 0) throw "a number is not negative";
  }
  constexpr operator std::uint32_t() const noexcept { return value_; }
  constexpr NumberOf& operator++() noexcept { return ++value_, *this; }
  constexpr NumberOf& operator+=(std::uint32_t steps) noexcept { return value_ += steps, *this; }
  /// Only for steps of 32 bits: the position behind the last number may not fit.
  template <std::same_as<std::uint32_t> Steps>
  friend constexpr NumberOf operator+(NumberOf number, Steps steps) noexcept {
    return number += steps;
  }

 private:
  std::uint32_t value_;
};
template <class A, class B>
requires(!std::is_same_v<A, B>) bool operator==(NumberOf<A>, NumberOf<B>) = delete;
template <class A, class B>
requires(!std::is_same_v<A, B>) std::strong_ordering operator<=>(NumberOf<A>, NumberOf<B>) = delete;

/// Global id: the vertex's number in the graph file.
using VertexId = NumberOf<struct VertexIdNumbering>;
/// The vertex's number among those of its owner, ascending by id.
using LocalNumber = NumberOf<struct LocalNumbering>;
/// The vertex's position in the layout of its owner, by which arrays of values are addressed.
using OwnedIndex = NumberOf<struct OwnedIndexNumbering>;
/// The number of a vertex that a process knows (frontier/boundary.h): an owned vertex has its local number,
/// and boundary vertices follow, owner by owner, in the order of the local numbers that they have there.
using KnownNumber = NumberOf<struct KnownNumbering>;
/// The place of a value in a stream of values to a peer.
using Slot = NumberOf<struct SlotNumbering>;

template <class Index, class Container>
class NumberedBy;
/// Whether a T is no container that is numbered otherwise.
template <class Index, class T>
inline constexpr bool kFits = true;
template <class Index, class Other, class Container>
inline constexpr bool kFits<Index, NumberedBy<Other, Container>> = std::is_same_v<Index, Other>;

/// A vector or span whose elements are found by an Index, and by no other number.
template <class Index, class Container>
class NumberedBy : public Container {
 public:
  constexpr NumberedBy() = default;
  /// As the container is made. What it is made of is in the order of the numbers.
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

/// The same numbers without their numbering, for loops that treat many numbers at once.
template <class Numbering>
std::span<const std::uint32_t> plain(std::span<const NumberOf<Numbering>> numbers) noexcept {
  return {reinterpret_cast<const std::uint32_t*>(numbers.data()), numbers.size()};
}
/// The same numbers, which are of this numbering: what a file, a message or such a loop has.
template <class N>
std::span<const N> numbered(std::span<const std::uint32_t> numbers) noexcept {
  return {reinterpret_cast<const N*>(numbers.data()), numbers.size()};
}

}  // namespace edgewire
