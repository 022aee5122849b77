#include "frontier/boundary.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/bits.h"
#include "base/error.h"
#include "base/release.h"
#include "frontier/both_rows.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kOwnedAtOnce = 1 << 12;
constexpr std::uint64_t kIdBits = 8 * sizeof(VertexId);  // number of bits of an id

/// The rows of a process.
struct Rows {
  const Graph& graph;
  const IdsOf& ids_of;
  const partition::Ownership& ownership;
  std::uint32_t rank;
  topology::WorkerPool& pool;
  const InRows* in;

  /// Calls work(worker, ids) for the neighbours of the owned vertices; some come more than once.
  template <class Work>
  void for_each(const Work& work) const {
    const std::uint32_t owned = ownership.count(rank);
    pool.for_each((owned + kOwnedAtOnce - 1) / kOwnedAtOnce, [&](int worker, std::uint64_t piece) {
      const std::uint64_t last = std::min<std::uint64_t>(owned, (piece + 1) * kOwnedAtOnce);
      std::vector<VertexId> room;
      for (LocalNumber local(static_cast<std::uint32_t>(piece * kOwnedAtOnce)); local < last; ++local) {
        work(worker, ids_of(local, room));
        if (in != nullptr) work(worker, in->sources(local));
      }
    });
  }
};

/// Calls take(v) for the neighbours of owned vertices, in ascending order. They are gathered as a bit for
/// each id, or as ids where the process has few edges, so that these take less.
void each_neighbour(const Rows& rows, const std::function<void(VertexId)>& take) {
  const auto processes = static_cast<std::uint64_t>(rows.ownership.processes());
  if (rows.graph.vertices() / kIdBits <= rows.graph.edges() / processes) {
    SharedBits ids(rows.graph.vertices(), rows.pool.workers() > 1);
    rows.for_each([&](int, const auto& row) { ids.add_all(row); });
    for (std::size_t w = 0; w < ids.words(); ++w)
      for (Bits::Word left = ids.word(w); left != 0; left &= left - 1)
        take(VertexId(static_cast<PlainId>(w * Bits::kBits) +
                      static_cast<std::uint32_t>(std::countr_zero(left))));
  } else {
    std::vector<std::vector<VertexId>> of_worker(static_cast<std::size_t>(rows.pool.workers()));
    rows.for_each([&](int worker, const auto& row) {
      auto& ids = of_worker[static_cast<std::size_t>(worker)];
      ids.insert(ids.end(), row.begin(), row.end());
    });
    std::vector<VertexId> ids;
    for (auto& part : of_worker) {
      ids.insert(ids.end(), part.begin(), part.end());
      release(part);
    }
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    std::ranges::for_each(ids, take);
  }
}

}  // namespace

std::vector<VertexId> boundary_ids(const Graph& graph, const IdsOf& ids_of,
                                   const partition::Ownership& ownership, std::uint32_t rank,
                                   topology::WorkerPool& pool) {
  std::vector<VertexId> ids;
  each_neighbour({graph, ids_of, ownership, rank, pool, nullptr}, [&](VertexId v) {
    if (ownership.home(v).owner != rank) ids.push_back(v);
  });
  return ids;
}

Boundary::Boundary(const Graph& graph, const IdsOf& ids_of, const partition::Ownership& ownership,
                   std::uint32_t rank, topology::WorkerPool& pool, Records& records, const InRows* in)
    : Boundary(
          [&](const auto& take) {
            each_neighbour({graph, ids_of, ownership, rank, pool, in}, take);
          },
          ownership, rank, records) {}

Boundary::Boundary(std::span<const VertexId> ids, const partition::Ownership& ownership, std::uint32_t rank,
                   Records& records)
    : Boundary([&](const auto& take) { std::ranges::for_each(ids, take); }, ownership, rank, records) {}

Boundary::Boundary(const EachId& each_id, const partition::Ownership& ownership, std::uint32_t rank,
                   Records& records)
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
  groups_.resize(bits / kGroup + 1);
  find(each_id);
  for (std::uint32_t owner = 0; processes_ > 1 && owner < processes_; ++owner) make_blocks(owner);
  tell_owners(records);
}

/// Sets locals_ to the vertices of other processes.
void Boundary::find(const EachId& each_id) {
  std::vector<std::vector<LocalNumber>> found(processes_);  // by owner; ids ascend, so local numbers do, too
  each_id([&](VertexId v) {
    const Home home = ownership_.home(v);
    if (home.owner != rank_) found[home.owner].push_back(home.local);
  });
  firsts_ = {owned_};
  std::size_t all = 0;
  for (const auto& of_owner : found) all += of_owner.size();
  if (owned_ + all > kMostOfAProcess)
    throw Error(fmt::format("one process would know {} vertices, more than {}: use more processes",
                            owned_ + all, kMostOfAProcess));
  locals_.reserve(all);
  for (auto& of_owner : found) {
    locals_.insert(locals_.end(), of_owner.begin(), of_owner.end());
    release(of_owner);
    firsts_.push_back(known());
  }
}

/// Makes the blocks of an owner's vertices. The blocks of this process have all its vertices, so that a
/// vertex has its number without a look at who owns it.
void Boundary::make_blocks(std::uint32_t owner) {
  const std::size_t start = starts_[owner];
  if (owner == rank_) {
    for (std::uint32_t local = 0; local < owned_; local += kBits)
      add_block(start + local, {~std::uint64_t{0}, local});
    return;
  }
  const auto locals = std::span(locals_).subspan(first(owner) - owned_, count(owner));
  for (std::size_t i = 0; i < locals.size();) {
    Block block{0, first(owner) + static_cast<std::uint32_t>(i)};
    const std::size_t at = start + locals[i];
    for (const std::size_t of = locals[i] / kBits; i < locals.size() && locals[i] / kBits == of; ++i)
      block.bits |= std::uint64_t{1} << locals[i] % kBits;
    add_block(at, block);
  }
}

/// Adds a block. Blocks come in the order of their bits.
void Boundary::add_block(std::size_t at, const Block& block) {
  Group& group = groups_[at / kGroup];
  if (group.blocks == 0) group.before = static_cast<std::uint32_t>(blocks_.size());
  group.blocks |= std::uint64_t{1} << block_in_group(at);
  blocks_.push_back(block);
}

/// A reader of the owned vertices that a peer says it knows.
class Boundary::Told {
 public:
  /// Returns whether `count` of an owner's vertices travel as bits of all of them, a word each; else they
  /// travel as their local numbers, two in a word.
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
    const auto locals = std::span(locals_).subspan(first(owner) - owned_, known);
    if (Told::as_bits(known, ownership_.count(owner))) {
      const Bits bits(ownership_.count(owner), locals);
      for (const Bits::Word word : bits.all_words()) send(word);
      continue;
    }
    for (std::size_t i = 0; i < known; i += 2)
      send(locals[i] | std::uint64_t{i + 1 < known ? locals[i + 1] : locals[i]} << 32);
  }
  records.finish_words(0, take);
  for (std::uint32_t peer = 0; peer < processes_; ++peer) {
    known_firsts_.push_back(known_by_.size());
    if (peer == rank_) continue;
    if (!told[peer].complete()) throw Error("a process has not said which vertices its edges lead to");
    known_by_.insert(known_by_.end(), told[peer].locals().begin(), told[peer].locals().end());
  }
  known_firsts_.push_back(known_by_.size());
}

std::uint32_t Boundary::owner(KnownNumber number) const noexcept {
  const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), std::uint32_t{number});
  return static_cast<std::uint32_t>(after - firsts_.begin() - 1);
}

Home Boundary::home(KnownNumber number) const noexcept { return {owner(number), locals_[number - owned_]}; }

VertexId Boundary::vertex(KnownNumber number) const noexcept {
  if (number < owned_) return ownership_.vertex(rank_, LocalNumber(number));
  const Home at = home(number);
  return ownership_.vertex(at.owner, at.local);
}

partition::VertexNumbers Boundary::numbers() const {
  const auto each = [this](const auto& work) {
    ownership_.visit([&](const auto& scheme) {
      for (LocalNumber local{}; local < owned_; ++local)
        work(scheme.vertex(rank_, local), std::uint32_t{local});
      for (std::uint32_t owner = 0; owner < processes_; ++owner)
        for (std::uint32_t number = first(owner); number < first(owner + 1); ++number)
          work(scheme.vertex(owner, locals_[number - owned_]), number);
    });
  };
  const std::uint64_t vertices = ownership_.vertices();
  partition::VertexSet known(vertices, owned_,
                             [&](const auto& take) { each([&](VertexId v, std::uint32_t) { take(v); }); });
  partition::VertexNumbers numbers(std::move(known), vertices, owned_);
  each([&](VertexId v, std::uint32_t number) { numbers[v] = number; });
  return numbers;
}

}  // namespace edgewire::frontier
