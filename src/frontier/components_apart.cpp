#include "frontier/components_apart.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "frontier/names.h"
#include "graph/format.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint32_t kWord = 64;
constexpr int kNameBits = 48;  // of a name where a count of sampled vertices is above it
static_assert(graph::kMaxVertices <= std::uint64_t{1} << kNameBits &&
              kSampledVertices < 1U << (64 - kNameBits));
constexpr std::size_t kNamesAhead = 16;  // names that are fetched before they are linked

}  // namespace

MostFrequent most_frequent(const Forest& forest, std::uint32_t owned) {
  std::map<std::uint32_t, std::uint32_t> counts;
  MostFrequent most;
  const std::uint32_t stride = owned / kSampledVertices + 1;
  for (std::uint32_t n = 0; n < owned; n += stride, ++most.of) ++counts[forest.root(n)];
  for (const auto& [root, count] : counts)
    if (count > most.count) {
      most.root = root;
      most.count = count;
    }
  return most;
}

ComponentsApart::ComponentsApart(FrontierJob& job, Forest& forest, Room room)
    : job_(job),
      forest_(forest),
      boundary_(job.boundary()),
      rank_(job.rank()),
      processes_(static_cast<std::uint32_t>(job.bootstrap().size())),
      owned_(boundary_.owned()),
      known_(boundary_.known()),
      room_(room),
      largest_(owned_),
      heard_(processes_),
      waiting_(processes_),
      awaited_(processes_) {
  for (std::uint32_t peer = 0; peer < processes_; ++peer) {
    open_here_.push_back(peer == rank_ ? 0 : boundary_.count(peer));
    open_there_.push_back(boundary_.known_by(peer).size());
  }
}

bool ComponentsApart::share_largest(SuperstepLog& log) {
  bool found = false;
  log.step(kLargest, [&](Superstep& done) {
    MostFrequent most = most_frequent(forest_, owned_);
    if (most.count < most.of / 4 || most.count < 2) most = {};  // bits would say little
    const std::uint64_t mine = most.count == 0 ? 0 : std::uint64_t{most.count} << kNameBits | id(most.root);
    const auto all = job_.records().share({&mine, 1});
    std::uint32_t reference = 0;
    for (std::uint32_t p = 1; p < processes_; ++p)
      if (all[p] >> kNameBits > all[reference] >> kNameBits) reference = p;
    found = all[reference] != 0;
    if (!found) return;
    if (most.count > 0) {
      job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
        for (LocalNumber local = first; local < last; ++local)
          if (forest_.root(local) == most.root) largest_.add(local);
      });
    }
    say_bits(all);
    const bool joined = rank_ == reference || (most.count > 0 && meets(reference, most.root));
    const std::uint64_t says = joined ? 1 : 0;
    const auto joins = job_.records().share({&says, 1});
    for (std::uint32_t p = 0; p < processes_; ++p)
      if (joins[p] == 0) heard_[p].clear();
    if (!joined) {
      largest_.clear();
      for (std::uint32_t p = 0; p < processes_; ++p) open_there_[p] = boundary_.known_by(p).size();
    }
    link_largest(static_cast<PlainId>(all[reference] & ((std::uint64_t{1} << kNameBits) - 1)), joined,
                 most.root);
    done.frontier = joined ? job_.owned() : 0;
  });
  return found;
}

/// `counts`: what processes have said of their largest components; 0: none.
void ComponentsApart::say_bits(const std::vector<std::uint64_t>& counts) {
  const auto take = [&](int from, Record record) {
    const auto peer = static_cast<std::uint32_t>(from);
    const std::uint32_t count = boundary_.count(peer);
    const std::uint64_t word = word_of(record);
    auto& words = heard_[peer];
    const std::uint64_t first = words.size() * kWord;
    if (first >= count || (count - first < kWord && word >> (count - first) != 0))
      throw Error("a process has sent bits of vertices that do not exist");
    words.push_back(word);
  };
  for (std::uint32_t peer = 0; peer < processes_ && counts[rank_] != 0; ++peer) {
    const auto known = boundary_.known_by(peer);
    for (std::size_t first = 0; first < known.size(); first += kWord) {
      const auto some = known.subspan(first, std::min<std::size_t>(kWord, known.size() - first));
      std::uint64_t word = 0;
      for (std::size_t i = 0; i < some.size(); ++i) word |= std::uint64_t{largest_.test(some[i])} << i;
      open_there_[peer] -= static_cast<unsigned>(std::popcount(word));
      job_.records().send(0, static_cast<int>(peer), record_of(word), take);
    }
  }
  job_.records().finish(0, take);
  for (std::uint32_t peer = 0; peer < processes_; ++peer) {
    if (peer == rank_) continue;
    const std::size_t words = counts[peer] == 0 ? 0 : (boundary_.count(peer) + kWord - 1) / kWord;
    if (heard_[peer].size() != words) throw Error("a process has sent fewer bits than it has vertices");
  }
}

/// Whether the tree of `root` has a vertex that the peer has in its own largest component.
bool ComponentsApart::meets(std::uint32_t peer, std::uint32_t root) const noexcept {
  for (std::size_t w = 0; w < heard_[peer].size(); ++w)
    for (std::uint64_t left = heard_[peer][w]; left != 0; left &= left - 1) {
      const auto at = static_cast<std::uint32_t>(w * kWord) + static_cast<unsigned>(std::countr_zero(left));
      if (forest_.root(boundary_.first(peer) + at) == root) return true;
    }
  return false;
}

/// Links the boundary vertices that other processes have in the component, and what this process has of it.
/// `vertex`: a name of it, at the process `reference`.
void ComponentsApart::link_largest(PlainId vertex, bool joined, std::uint32_t root) {
  std::uint32_t one = joined ? root : kNone;
  for (std::uint32_t peer = 0; peer < processes_; ++peer) {
    const auto& words = heard_[peer];
    for (std::size_t w = 0; w < words.size() && one == kNone; ++w)
      if (words[w] != 0)
        one = boundary_.first(peer) + static_cast<std::uint32_t>(w * kWord) +
              static_cast<unsigned>(std::countr_zero(words[w]));
    constexpr std::size_t kPiece = 256;
    std::atomic<std::uint64_t> bits{0};
    job_.pool().for_each((words.size() + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
      std::uint64_t counted = 0;
      for (std::size_t w = piece * kPiece; w < std::min(words.size(), (piece + 1) * kPiece); ++w) {
        counted += static_cast<unsigned>(std::popcount(words[w]));
        const std::uint32_t first = boundary_.first(peer) + static_cast<std::uint32_t>(w * kWord);
        for (std::uint64_t left = words[w]; left != 0; left &= left - 1)
          forest_.fetch(forest_.above(first + static_cast<unsigned>(std::countr_zero(left))));
        for (std::uint64_t left = words[w]; left != 0; left &= left - 1)
          forest_.link(one, first + static_cast<unsigned>(std::countr_zero(left)));
      }
      bits += counted;
    });
    open_here_[peer] -= bits;
  }
  if (one != kNone) shared_ = {one, vertex};
}

void ComponentsApart::join(SuperstepLog& log) {
  Bits named(owned_);
  std::unique_ptr<GatheredComponents> in_one;
  log.step(kName, [&](Superstep& done) {
    in_one = gather(done, named);
    if (!in_one) send_names(done);
  });
  if (in_one) {
    log.step(kGather, [&](Superstep&) { take_labels(named, in_one->link()); });
    return;
  }
  link_pending(log);
  ask_for_roots(log);
}

/// Whether names are sent for boundary vertices of this process, of the peer, or of both, that the other one
/// of the two owns.
std::pair<bool, bool> ComponentsApart::sides(std::uint32_t peer) const noexcept {
  if (!job_.graph().symmetric()) return {true, true};
  const std::uint64_t here = open_here_[peer], there = open_there_[peer];
  const bool mine = here < there || (here == there && rank_ < peer);
  return {mine, !mine};
}

std::uint64_t ComponentsApart::names_for(std::uint32_t peer) const noexcept {
  const auto [here, there] = sides(peer);
  return (here ? open_here_[peer] : 0) + (there ? open_there_[peer] : 0);
}

/// Calls work(number) for the vertices whose components are named to or by the peer, in the same order at
/// both: first the boundary vertices of the one that sends.
template <class Work>
void ComponentsApart::for_each_open(std::uint32_t peer, bool sender, const Work& work) const {
  const auto [here, there] = sides(peer);
  const auto visit_here = [&] {
    const std::uint32_t first = boundary_.first(peer), count = boundary_.count(peer);
    const auto& words = heard_[peer];
    for (std::uint32_t at = 0; at < count; at += kWord) {
      const std::uint64_t all =
          count - at < kWord ? (std::uint64_t{1} << (count - at)) - 1 : ~std::uint64_t{0};
      for (std::uint64_t left = words.empty() ? all : all & ~words[at / kWord]; left != 0; left &= left - 1)
        work(first + at + static_cast<unsigned>(std::countr_zero(left)));
    }
  };
  const auto visit_there = [&] {
    for (const LocalNumber local : boundary_.known_by(peer))
      if (!largest_.test(local)) work(std::uint32_t{local});
  };
  if (here && sender) visit_here();
  if (there) visit_there();
  if (here && !sender) visit_here();
}

std::vector<std::uint64_t> ComponentsApart::counts_of_names() const {
  std::vector<std::uint64_t> counts(processes_);
  for (std::uint32_t peer = 0; peer < processes_; ++peer)
    if (peer != rank_) counts[peer] = names_for(peer);
  return counts;
}

/// The roots of all vertices whose components are told, peer by peer. Those that are owned become members of
/// `named`; others are kNone.
std::vector<std::uint32_t> ComponentsApart::find_roots(const std::vector<std::uint64_t>& counts,
                                                       Bits& named) const {
  std::vector<std::uint64_t> begins(processes_ + std::size_t{1});
  std::partial_sum(counts.begin(), counts.end(), begins.begin() + 1);
  std::vector<std::uint32_t> roots(begins.back());
  job_.pool().for_each(processes_, [&](int, std::uint64_t peer) {
    if (peer == rank_) return;
    const auto part = std::span(roots).subspan(begins[peer], counts[peer]);
    std::size_t next = 0;
    for_each_open(static_cast<std::uint32_t>(peer), rank_ < peer, [&](std::uint32_t n) { part[next++] = n; });
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part.size() - i > kNamesAhead) forest_.fetch(forest_.above(part[i + kNamesAhead]));
      const std::uint32_t top = forest_.root(part[i]);
      part[i] = top < owned_ ? top : kNone;
      if (top < owned_) named.set(top);
    }
  });
  return roots;
}

/// Null: process 0 has no room.
std::unique_ptr<GatheredComponents> ComponentsApart::gather(Superstep& done, Bits& named) {
  const auto counts = counts_of_names();
  const auto roots = find_roots(counts, named);
  std::uint32_t shared = shared_.first == kNone ? kNone : forest_.root(shared_.first);
  if (shared < owned_)
    named.set(shared);
  else
    shared = kNone;
  auto all = std::make_unique<GatheredComponents>(job_, named, roots.size(), room_.all);
  if (!all->fits()) return {};
  all->tell(roots, counts, shared);
  done.frontier = rank_ == 0 ? 0 : roots.size();
  return all;
}

void ComponentsApart::take_labels(const Bits& named, const GatheredComponents::Answer& answer) {
  std::uint32_t common = kNone;
  std::uint64_t next = 0, others = 0;
  for (const std::uint32_t owned : named.members()) {
    if (!answer.is_common(next++)) {
      if (const VertexId label = answer.others.at(others++); label != id(owned)) hang(owned, add_far(label));
    } else if (answer.common != id(owned)) {
      if (common == kNone) common = add_far(answer.common);
      hang(owned, common);
    }
  }
}

/// A boundary vertex may stand alone where rows were skipped: its edges were linked at the other end, and it
/// has no name.
void ComponentsApart::send_names(Superstep& done) {
  std::vector<std::vector<PlainId>> heard(processes_);
  const auto take = [&](int peer, Record record) {
    Names::take(record, heard[static_cast<std::size_t>(peer)]);
  };
  for (std::uint32_t peer = 0; peer < processes_; ++peer)
    if (peer != rank_ && receives(peer)) heard[peer].reserve(names_for(peer) + 1);
  for (std::uint32_t peer = 0; peer < processes_; ++peer) {
    if (peer == rank_ || receives(peer)) continue;
    const auto send = [&](Record record) { job_.records().send(0, static_cast<int>(peer), record, take); };
    Names names;
    for_each_open(peer, true, [&](std::uint32_t n) {
      const std::uint32_t top = forest_.root(n);
      names.put(top < owned_ ? id(top) : kNoVertex, send);
      ++done.frontier;
    });
    names.end(send);
  }
  job_.records().finish(0, take);
  if (shared_.first != kNone && !stands_alone(shared_.first)) link(shared_.first, number_of(shared_.second));
  for (std::uint32_t peer = 0; peer < processes_; ++peer) {
    if (peer == rank_ || !receives(peer)) continue;
    Names::check(heard[peer], names_for(peer));
    link_names(peer, std::exchange(heard[peer], {}));
  }
}

void ComponentsApart::link_names(std::uint32_t peer, const std::vector<PlainId>& names) {
  std::size_t next = 0;
  PlainId last = kNoVertex;
  std::uint32_t number = kNone;
  for_each_open(peer, false, [&](std::uint32_t n) {
    if (next + kNamesAhead < names.size() && names[next + kNamesAhead] != kNoVertex)
      fetch(names[next + kNamesAhead]);
    const PlainId name = names[next++];
    if (name == kNoVertex || stands_alone(n)) return;
    if (name != last) number = number_of(name);
    last = name;
    link(n, number);
  });
}

}  // namespace edgewire::frontier
