#include "kernels/wcc/merge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "frontier/known_values.h"
#include "graph/file/format.h"
#include "kernels/wcc/join.h"

namespace edgewire::kernels {

namespace {

constexpr int kNameBits = 48;  // number of bits of a name, below a count of sampled vertices
static_assert(graph::kMaxVertices <= std::uint64_t{1} << kNameBits &&
              kSampledVertices < 1U << (64 - kNameBits));
// Number of vertices whose parents are fetched before they are looked at.
constexpr std::uint32_t kParentsAhead = 16;

}  // namespace

MostFrequent most_frequent(const Forest& forest, std::uint32_t owned) {
  std::map<std::uint32_t, std::uint32_t> counts;
  MostFrequent most;
  const std::uint32_t stride = owned / kSampledVertices + 1;
  for (std::uint32_t n = 0; n < owned; n += stride, ++most.of) ++counts[forest.root(n)];
  for (const auto& [root, count] : counts)
    if (count > most.count) most = {root, count, most.of};
  return most;
}

WccMerge::WccMerge(frontier::Job& job, Forest& forest, Room room)
    : job_(job),
      forest_(forest),
      boundary_(job.boundary()),
      rank_(job.rank()),
      processes_(static_cast<std::uint32_t>(job.bootstrap().size())),
      owned_(boundary_.owned()),
      room_(room),
      giant_(boundary_.known()),
      has_giant_(processes_),
      open_(owned_, processes_) {}

bool WccMerge::share_giant(frontier::SuperstepLog& log) {
  bool found = false;
  log.step(kGiant, [&](frontier::Superstep& done) {
    MostFrequent most = most_frequent(forest_, owned_);
    if (most.count < most.of / 4 || most.count < 2) most = {};  // bits would help little
    const std::uint64_t mine = most.count == 0 ? 0 : std::uint64_t{most.count} << kNameBits | name(most.root);
    const auto largest = job_.records().allgather({&mine, 1});
    const auto giant =
        std::ranges::max_element(largest, {}, [](std::uint64_t one) { return one >> kNameBits; });
    found = *giant != 0;
    if (!found) return;
    mark_giants(largest, most.root);
    const auto reference = static_cast<std::uint32_t>(giant - largest.begin());
    const bool joins = rank_ == reference || (most.count > 0 && meets(reference, most.root));
    const std::uint64_t says = joins ? 1 : 0;
    has_giant_ = job_.records().allgather({&says, 1});
    link_giant(joins ? most.root : kNone);
    done.frontier = joins ? owned_ : 0;
  });
  return found;
}

/// Marks the vertices in the largest components of their owners. The parents of owned vertices are roots.
/// `largest`: size and name by process; 0: none. `root`: that of this process.
void WccMerge::mark_giants(const std::vector<std::uint64_t>& largest, std::uint32_t root) {
  if (largest[rank_] != 0)
    job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
      for (LocalNumber begin = first; begin < last; begin += Bits::kBits) {
        Bits::Word word = 0;
        for (LocalNumber i = begin; i < std::min(last, begin + Bits::kBits); ++i)
          word |= Bits::Word{forest_.parent(i) == root} << (i - begin);
        giant_.set_word(begin / Bits::kBits, word);
      }
    });
  job_.pool().run([&](int lane) {
    frontier::exchange_known_bits(
        job_, lane, [&](LocalNumber local) { return giant_.test(local); },
        [&](std::uint32_t number, std::uint32_t bits) { giant_.set_some(number, bits); },
        [&](std::uint32_t process) { return largest[process] != 0; });
  });
}

/// Returns whether the tree of `root` has a vertex that the peer has in its own largest component.
bool WccMerge::meets(std::uint32_t peer, std::uint32_t root) const noexcept {
  for (std::uint32_t n = boundary_.first(peer); n < boundary_.first(peer) + boundary_.count(peer); ++n)
    if (giant_.test(n) && forest_.root(n) == root) return true;
  return false;
}

/// Links the boundary vertices that other processes have in the giant component, and this process's part of
/// it, whose root is `root`; kNone: none.
void WccMerge::link_giant(std::uint32_t root) {
  constexpr std::uint32_t kPiece = 1 << 14;
  giant_member_ = root;
  for (std::uint32_t peer = 0; peer < processes_; ++peer) {
    if (peer == rank_ || has_giant_[peer] == 0) continue;
    const std::uint32_t first = boundary_.first(peer), end = first + boundary_.count(peer);
    for (std::uint32_t n = first; n < end && giant_member_ == kNone; ++n)
      if (giant_.test(n)) giant_member_ = n;
    job_.pool().for_each((end - first + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
      const auto begin = first + static_cast<std::uint32_t>(piece) * kPiece;
      for (std::uint32_t n = begin; n < std::min(end, begin + kPiece); ++n) {
        if (end - n > kParentsAhead) forest_.fetch(forest_.parent(n + kParentsAhead));
        if (giant_.test(n)) forest_.link(giant_member_, n);
      }
    });
  }
}

void WccMerge::join(frontier::SuperstepLog& log, bool giant_shared) {
  if (processes_ == 1) return;
  if (!giant_shared) share_giant(log);
  std::optional<GatheredComponents> gathered;
  std::optional<WccJoin> among_all;
  log.step(kName, [&](frontier::Superstep& done) {
    find_open();
    gathered.emplace(job_, open_, room_.all);
    if (gathered->fits()) {
      gathered->tell();
      done.frontier = rank_ == 0 ? 0 : open_.names();
    } else {
      among_all.emplace(job_, open_);
      done.frontier = among_all->exchange_names();
    }
  });
  if (!among_all) {
    log.step(kGather, [&](frontier::Superstep&) { labels_ = gathered->link(); });
    return;
  }
  among_all->link_all(log, room_.left);
  labels_ = among_all->labels(log);
}

/// Returns the numbers of the vertices that this process and the peer know, and whose components they name.
/// The vertices of the process with the higher rank come first. Where every edge is stored both ways, those
/// of one process are enough.
std::vector<std::uint32_t> WccMerge::open_between(std::uint32_t peer) const {
  std::vector<std::uint32_t> here, there;  // boundary vertices here, and owned vertices that the peer knows
  for (std::uint32_t n = boundary_.first(peer); n < boundary_.first(peer) + boundary_.count(peer); ++n)
    if (!in_giant(peer, n)) here.push_back(n);
  for (const LocalNumber local : boundary_.known_by(peer))
    if (!in_giant(rank_, local)) there.push_back(local);
  auto& first = rank_ < peer ? here : there;
  auto& second = rank_ < peer ? there : here;
  if (job_.graph().symmetric()) return std::move(first.size() <= second.size() ? first : second);
  first.insert(first.end(), second.begin(), second.end());
  return std::move(first);
}

/// Finds the open components. A boundary vertex may have no owned vertex in its tree where rows were skipped:
/// then its component has no name here.
void WccMerge::find_open() {
  job_.pool().for_each(processes_, [&](int, std::uint64_t peer) {
    if (peer == rank_) return;
    auto roots = open_between(static_cast<std::uint32_t>(peer));
    for (std::size_t i = 0; i < roots.size(); ++i) {
      if (roots.size() - i > kParentsAhead) forest_.fetch(forest_.parent(roots[i + kParentsAhead]));
      const std::uint32_t root = forest_.root(roots[i]);
      roots[i] = root < owned_ ? root : kNone;
      if (root < owned_) open_.add(root);
    }
    open_.named[peer] = std::move(roots);
  });
  const std::uint32_t root = giant_member_ == kNone ? kNone : forest_.root(giant_member_);
  if (root < owned_) {
    open_.giant = root;
    open_.add(root);
  }
  open_.number_all();
}

}  // namespace edgewire::kernels
