// This file has the leading label.
#include <algorithm>

#include "kernels/cdlp/cdlp.h"

namespace edgewire::kernels {

/// Returns whether the leading label has more than half of the votes. One bit for each vertex fits the cache,
/// where all labels do not.
bool Cdlp::leader_wins(Row out, Row in) const noexcept {
  constexpr std::size_t kStride = 64;
  const std::size_t need = (out.size() + in.size()) / 2 + 1;
  std::size_t votes = 0, left = out.size() + in.size();
  for (auto row : {out, in}) {
    while (!row.empty()) {
      const auto some = row.first(std::min(row.size(), kStride));
      for (const KnownNumber u : some) votes += led_by_.test(u);
      left -= some.size();
      if (votes >= need) return true;
      if (votes + left < need) return false;
      row = row.subspan(some.size());
    }
  }
  return false;
}

/// Finds the label that leads. In most graphs one label soon has most vertices. Which one is a guess from the
/// owned vertices, and so is whether more than half of all edges lead to them.
void Cdlp::find_leader() {
  LeadingLabel leading;
  for (const Worker& worker : workers_) leading.add(worker.leading);
  leader_ = leading.label();
  job_.pool().run([&](int lane) {
    const auto mine = job_.pool().part(lane, led_by_.words());
    std::uint64_t degree = 0;
    for (std::uint64_t w = mine.first; w < mine.last; ++w) {
      Bits::Word word = 0;
      const std::uint64_t first = w * Bits::kBits,
                          last = std::min<std::uint64_t>(first + Bits::kBits, known());
      for (std::uint64_t n = first; n < last; ++n) {
        if (labels_[n] != leader_) continue;
        word |= Bits::Word{1} << n % Bits::kBits;
        if (n >= job_.owned()) continue;
        const LocalNumber local(static_cast<std::uint32_t>(n));
        degree += rows_.out(local).size();
      }
      led_by_.set_word(w, word);
    }
    workers_[static_cast<std::size_t>(lane)].leading_degree = degree;
  });
  std::uint64_t degree = 0;
  for (const Worker& worker : workers_) degree += worker.leading_degree;
  led_ = degree > owned_edges_ / 2;
}

}  // namespace edgewire::kernels
