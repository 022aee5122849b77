#include "frontier/boundary.h"

#include <algorithm>

#include "base/bits.h"
#include "error.h"
#include "frontier/in_rows.h"
#include "graph/row.h"

namespace edgewire::frontier {

Boundary::Boundary(const graph::GraphFile& graph, const plan::Ownership& ownership, std::uint32_t rank,
                   topology::WorkerPool& pool, Records& records, const InRows* in)
    : ownership_(ownership),
      rank_(rank),
      processes_(static_cast<std::uint32_t>(ownership.processes())),
      owned_(ownership.count(rank)) {
  std::size_t bits = 0;
  for (std::uint32_t p = 0; p < processes_; ++p) {
    starts_.push_back(bits);
    bits += (ownership.count(p) + kBits - 1) / kBits * kBits;
  }
  starts_.push_back(bits);
  blocks_.resize(bits / kBits);
  mark(graph, pool, in);
  number_blocks();
  tell_owners(records);
}

/// Sets the bits of all neighbours of owned vertices, and of owned ones.
void Boundary::mark(const graph::GraphFile& graph, topology::WorkerPool& pool, const InRows* in) {
  constexpr std::uint64_t kAtOnce = 1 << 12;
  SharedBits neighbours(graph.vertices(), pool.workers() > 1);  // by id: no edge asks for the owner
  pool.for_each((owned_ + kAtOnce - 1) / kAtOnce, [&](int, std::uint64_t piece) {
    const auto last = static_cast<std::uint32_t>(std::min<std::uint64_t>(owned_, (piece + 1) * kAtOnce));
    ownership_.visit([&](const auto& scheme) {
      for (LocalNumber local(static_cast<std::uint32_t>(piece * kAtOnce)); local < last; ++local) {
        neighbours.add_all(graph::Row{graph, scheme.vertex(rank_, local)}.targets());
        if (in != nullptr) neighbours.add_all(in->sources(local));
      }
    });
  });
  pool.for_each((neighbours.words() + kAtOnce - 1) / kAtOnce, [&](int, std::uint64_t piece) {
    ownership_.visit([&](const auto& scheme) {
      for (std::size_t w = piece * kAtOnce;
           w < std::min<std::size_t>(neighbours.words(), (piece + 1) * kAtOnce); ++w)
        for (std::uint64_t left = neighbours.word(w); left != 0; left &= left - 1) {
          const auto id =
              static_cast<std::uint32_t>(w * kBits) + static_cast<std::uint32_t>(std::countr_zero(left));
          const plan::Place place = scheme.place(VertexId(id));
          const std::size_t at = starts_[place.owner] + place.local;
          set_bit(blocks_[at / kBits].bits, at % kBits);
        }
    });
  });
  for (std::size_t b = starts_[rank_] / kBits; b < starts_[rank_ + 1] / kBits; ++b)
    blocks_[b].bits = ~std::uint64_t{0};
}

void Boundary::number_blocks() {
  std::uint32_t next = owned_;
  for (std::uint32_t owner = 0; owner < processes_; ++owner) {
    firsts_.push_back(next);
    std::uint32_t own = 0;
    for (std::size_t b = starts_[owner] / kBits; b < starts_[owner + 1] / kBits; ++b) {
      Block& block = blocks_[b];
      if (owner == rank_) {
        block.before = own;
        own += kBits;
        continue;
      }
      block.before = next;
      next += static_cast<std::uint32_t>(std::popcount(block.bits));
      for (std::uint64_t left = block.bits; left != 0; left &= left - 1)
        locals_.emplace_back(static_cast<std::uint32_t>(b * kBits - starts_[owner]) +
                             static_cast<std::uint32_t>(std::countr_zero(left)));
    }
  }
  firsts_.push_back(next);
}

/// What a peer says of the owned vertices that it knows.
class Boundary::Told {
 public:
  /// Whether so many of an owner's vertices travel as bits of all of them, a word each; else as their local
  /// numbers, two in a word.
  static bool as_bits(std::uint64_t count, std::uint64_t of) noexcept {
    return (of + kBits - 1) / kBits < (count + 1) / 2;
  }
  void take(std::uint64_t word, std::uint32_t owned) {
    if (count_ == kNotTold) {
      count_ = word;
    } else if (as_bits(count_, owned)) {
      const std::uint64_t first = kBits * words_++;
      for (std::uint64_t left = word; left != 0; left &= left - 1)
        put(first + static_cast<unsigned>(std::countr_zero(left)), owned);
    } else {
      put(word & 0xffffffff, owned);
      if (locals_.size() < count_) put(word >> 32, owned);
    }
  }
  bool complete() const noexcept { return locals_.size() == count_; }
  std::span<const LocalNumber> locals() const noexcept { return locals_; }

 private:
  static constexpr std::uint64_t kNotTold = ~std::uint64_t{0};
  void put(std::uint64_t local, std::uint32_t owned) {
    if (local >= owned || complete())
      throw Error("a process says that its edges lead to a vertex that does not exist");
    locals_.emplace_back(static_cast<std::uint32_t>(local));
  }

  std::uint64_t count_ = kNotTold, words_ = 0;
  std::vector<LocalNumber> locals_;
};

void Boundary::tell_owners(Records& records) {
  std::vector<Told> told(processes_);
  const auto take = [&](int peer, std::uint64_t word) {
    told[static_cast<std::size_t>(peer)].take(word, owned_);
  };
  for (std::uint32_t owner = 0; owner < processes_; ++owner) {
    if (owner == rank_) continue;
    const auto send = [&](std::uint64_t word) { records.send_word(0, static_cast<int>(owner), word, take); };
    const std::uint64_t known = count(owner);
    send(known);
    if (Told::as_bits(known, ownership_.count(owner))) {
      for (std::size_t b = starts_[owner] / kBits; b < starts_[owner + 1] / kBits; ++b) send(blocks_[b].bits);
      continue;
    }
    const auto locals = std::span(locals_).subspan(first(owner) - owned_, known);
    for (std::size_t i = 0; i < known; i += 2)
      send(locals[i] | std::uint64_t{i + 1 < known ? locals[i + 1] : locals[i]} << 32);
  }
  records.finish_words(0, take);
  for (std::uint32_t peer = 0; peer < processes_; ++peer) {
    known_firsts_.push_back(static_cast<std::uint32_t>(known_by_.size()));
    if (peer == rank_) continue;
    if (!told[peer].complete()) throw Error("a process has not said which vertices its edges lead to");
    known_by_.insert(known_by_.end(), told[peer].locals().begin(), told[peer].locals().end());
  }
  known_firsts_.push_back(static_cast<std::uint32_t>(known_by_.size()));
}

plan::Place Boundary::place(KnownNumber number) const noexcept {
  const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), std::uint32_t{number});
  return {static_cast<std::uint32_t>(after - firsts_.begin() - 1), locals_[number - owned_]};
}

VertexId Boundary::vertex(KnownNumber number) const noexcept {
  if (number < owned_) return ownership_.vertex(rank_, LocalNumber(number));
  const plan::Place at = place(number);
  return ownership_.vertex(at.owner, at.local);
}

}  // namespace edgewire::frontier
