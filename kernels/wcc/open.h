// This file has the components of a process that others must hear of.
#pragma once

#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/bits.h"
#include "kernels/wcc/forest.h"

namespace edgewire::kernels {

/// The components of a process that other processes have vertices of, as far as its own edges tell. A
/// component is named by its root, which is the smallest owned vertex. They are numbered by their roots,
/// ascending.
class OpenComponents {
 public:
  static constexpr std::uint32_t kNone = Forest::kNone;

  OpenComponents(std::uint32_t owned, std::uint32_t processes) : named(processes), roots_(owned) {}

  /// Several workers may add roots at the same time, before number_all().
  void add(std::uint32_t root) noexcept { roots_.set(root); }
  void number_all() {
    before_.resize(roots_.words());
    for (std::size_t w = 0; w < before_.size(); ++w) {
      before_[w] = count_;
      count_ += static_cast<std::uint32_t>(std::popcount(roots_.word(w)));
    }
  }
  const Bits& roots() const noexcept { return roots_; }
  std::uint32_t count() const noexcept { return count_; }
  bool has(std::uint32_t root) const noexcept { return roots_.test(root); }
  /// Returns the number of the component with this root; count() for kNone.
  std::uint32_t number(std::uint32_t root) const noexcept {
    if (root == kNone) return count_;
    const std::uint64_t below = (std::uint64_t{1} << root % Bits::kBits) - 1;
    return before_[root / Bits::kBits] +
           static_cast<std::uint32_t>(std::popcount(roots_.word(root / Bits::kBits) & below));
  }
  /// Returns the number of roots in `named`.
  std::uint64_t names() const noexcept {
    return std::accumulate(named.begin(), named.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const auto& some) { return sum + some.size(); });
  }

  /// The roots of the vertices whose components the two processes name to link them, in an order that both
  /// know, [peer]. kNone: this process has no component for the vertex, since its edges were linked at the
  /// peer.
  std::vector<std::vector<std::uint32_t>> named;
  std::uint32_t giant = kNone;  ///< root of the component that several processes know to be one

 private:
  Bits roots_;
  std::vector<std::uint32_t> before_;  ///< number of roots in the words before a word of roots_
  std::uint32_t count_ = 0;
};

}  // namespace edgewire::kernels
