#include "edgewire/numbering.h"

#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

namespace edgewire {

namespace {

template <class A, class B>
concept Comparable = requires(A a, B b) {
  a == b;
};
template <class A, class B>
concept Ordered = requires(A a, B b) {
  a < b;
};
template <class Container, class Index>
concept Indexed = requires(Container container, Index i) {
  container[i];
};

using Ids = NumberedBy<LocalNumber, std::vector<VertexId>>;
using View = NumberedBy<LocalNumber, std::span<const VertexId>>;
using OtherView = NumberedBy<OwnedIndex, std::span<const VertexId>>;

}  // namespace

TEST_CASE("the compiler refuses a number where one of another numbering is meant") {
  static_assert(!std::is_convertible_v<LocalNumber, VertexId> && !std::is_convertible_v<VertexId, Slot>);
  static_assert(!std::is_convertible_v<std::uint32_t, OwnedIndex>, "only where a caller says so");
  static_assert(std::is_convertible_v<OwnedIndex, std::uint32_t>);
  static_assert(Comparable<VertexId, VertexId> && Comparable<VertexId, std::uint32_t>);
  static_assert(!Comparable<VertexId, LocalNumber> && !Ordered<VertexId, LocalNumber>);
  static_assert(Indexed<Ids, LocalNumber> && !Indexed<Ids, VertexId> && !Indexed<Ids, std::size_t>);
  static_assert(std::is_convertible_v<const Ids&, View> && !std::is_constructible_v<OtherView, const Ids&>);
  static_assert(!std::is_constructible_v<OtherView, View>);
  static_assert(!std::is_convertible_v<std::size_t, Ids>, "a number of elements");
}

TEST_CASE("numberings cost no more than the numbers") {
  static_assert(sizeof(VertexId) == sizeof(std::uint32_t) && std::is_trivial_v<VertexId>);
  static_assert(sizeof(View) == sizeof(std::span<const std::uint32_t>));
}

TEST_CASE("a container gives what has the number") {
  Ids ids(3);
  ids[1] = VertexId{7};
  const View view = ids;
  CHECK(view[LocalNumber{1}] == 7);
  CHECK(plain(view)[1] == 7);
  CHECK(numbered<VertexId>(plain(view)).data() == ids.data());
  LocalNumber last{};
  for (LocalNumber local{}; local < ids.size(); ++local) last = local;
  CHECK(last == 2);
  CHECK(last + 4U == LocalNumber{6});
}

}  // namespace edgewire
