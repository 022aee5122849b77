// This file says whether a program wants the weights of edges, and what it makes of a message on an edge
// without one.
#pragma once

#pragma GCC visibility push(default)

namespace edgewire::detail {

/// Says whether a program tells edges apart by their weights.
template <class P>
inline constexpr bool kUsesWeights = requires(const typename P::Message& message) {
  P::along(message, 1.0F);
};

/// Says whether it cannot do without them.
template <class P>
inline constexpr bool kNeedsWeights = kUsesWeights<P> && !requires(const typename P::Message& message) {
  P::along(message);
};

/// Carries a message along an edge without a weight. Programs that need weights run over no such edges
/// (detail::edges_of()).
template <class P>
[[gnu::always_inline]] inline typename P::Accumulator along_plain(
    const typename P::Message& message) noexcept {
  if constexpr (kNeedsWeights<P>)
    return P::along(message, 1.0F);
  else
    return P::along(message);
}

}  // namespace edgewire::detail

#pragma GCC visibility pop
