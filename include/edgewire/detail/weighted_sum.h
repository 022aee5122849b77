// The base of programs that add up messages times the weights of their edges. These programs share one
// compiled copy of the loops over edges.
#pragma once

#include <type_traits>

#pragma GCC visibility push(default)

namespace edgewire::detail {

/// The sum of messages times the weights of their edges. `Offered`: float or double.
template <class Offered = float>
struct WeightedSum {
  using Edges = WeightedSum;
  using Message = Offered;
  using Accumulator = double;

  static constexpr double identity() noexcept { return 0; }
  [[gnu::always_inline]] static double along(Message message) noexcept {
    return static_cast<double>(message);
  }
  [[gnu::always_inline]] static double along(Message message, double weight) noexcept {
    return static_cast<double>(message) * weight;
  }
  static double combine(double a, double b) noexcept { return a + b; }
};

/// The class whose functions a sweep calls for program P: its base WeightedSum if it has that one, else P.
template <class P>
struct EdgesOf {
  using Type = P;
};
template <class P>
requires std::is_base_of_v<typename P::Edges, P>
struct EdgesOf<P> {
  using Type = typename P::Edges;
  using Message = typename Type::Message;
  static_assert(std::is_same_v<typename P::Accumulator, typename Type::Accumulator> &&
                    &P::identity == &Type::identity && &P::combine == &Type::combine &&
                    static_cast<double (*)(Message)>(&P::along) ==
                        static_cast<double (*)(Message)>(&Type::along) &&
                    static_cast<double (*)(Message, double)>(&P::along) ==
                        static_cast<double (*)(Message, double)>(&Type::along),
                "a program with functions of its own for edges has no base WeightedSum");
};

}  // namespace edgewire::detail

#pragma GCC visibility pop
