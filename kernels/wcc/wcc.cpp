#include "kernels/wcc/wcc.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <utility>

#include "base/rooms.h"
#include "edgewire/detail/cpu_level.h"
#include "edgewire/graph.h"
#include "frontier/known_values.h"
#include "graph/file/format.h"
#include "kernels/wcc/join.h"

namespace edgewire::kernels {

namespace {

constexpr std::uint32_t kAhead = 16;       // number of rows that are fetched before they are read
constexpr std::uint32_t kRowsAtOnce = 64;  // number of rows that link_rest() looks at before they are linked
constexpr std::size_t kFetchedEdges = 4;   // number of edges of each of them
// Number of edges of a vertex before link_all() looks whether it needs more.
constexpr std::size_t kLinkedAtOnce = 64;
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

/// Links the boundary vertices that others have in the giant component, and its part here, if any: `root`.
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
/// The vertices of the process with the higher rank come first. In symmetric graphs one list is enough.
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

/// Finds open components. Where rows were skipped, a boundary vertex may have no owned vertex in its tree.
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

Wcc::Wcc(frontier::Job& job, WccMerge::Room room)
    : job_(job),
      forest_(job.known()),
      merge_(job, forest_, room),
      workers_(static_cast<std::size_t>(job.pool().workers())),
      log_(job) {
  job.expect_records(sizeof(frontier::Record));
  job.make_rows();
}

std::vector<frontier::Superstep> Wcc::run() {
  const bool skips_giant = job_.graph().symmetric();
  bool giant_shared = false;
  job_.for_pieces(forest_.size(), [this](std::size_t first, std::size_t last) {
    forest_.make_sets(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last));
  });
  if (job_.on_disks()) {
    if (skips_giant && job_.owned() == job_.graph().vertices()) hub_ = hub();
    log_.step(kAll, workers_, [this] { link_all(); });
  } else {
    log_.step(kSample, workers_, [this] { link_sample(); });
    if (skips_giant) giant_shared = merge_.share_giant(log_);
    log_.step(kRest, workers_, [this] { link_rest(); });
  }
  merge_.join(log_, giant_shared);
  job_.wait_for_all();
  return log_.take();
}

std::vector<PlainId> Wcc::labels() const {
  std::vector<PlainId> all(job_.owned());
  job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    for (LocalNumber local = first; local < last; ++local) all[local] = merge_.label(local);
  });
  return all;
}

void Wcc::link_sample() {
  const frontier::KnownRows rows = job_.rows();
  job_.for_each_range([&](int w, LocalNumber first, LocalNumber last) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    topology::run_scalar_for_cpu([&] {
      for (LocalNumber local = first; local < last; ++local) {
        if (last - local > kAhead) {
          rows.fetch(local + kAhead);
          // No branch here depends on the number of a vertex's edges, which nobody could guess.
          for (const KnownNumber n : rows.from(local + kAhead / 2, kSampledEdges)) forest_.fetch(n);
        }
        const auto row = rows[local];
        const auto sample = row.first(std::min(row.size(), kSampledEdges));
        for (const KnownNumber n : sample) forest_.link(local, n);
        worker.vertices += sample.empty() ? 0 : 1;
        worker.edges += sample.size();
      }
    });
  });
  compress();
}

void Wcc::link_rest() {
  const frontier::KnownRows rows = job_.rows();
  job_.for_each_range([&](int w, LocalNumber first, LocalNumber last) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    topology::run_scalar_for_cpu([&] {
      std::array<LocalNumber, kRowsAtOnce> linked;  // holds the vertices whose rows will be linked
      for (LocalNumber local = first; local < last;) {
        std::size_t count = 0;
        for (const LocalNumber end(std::min<std::uint32_t>(last, local + kRowsAtOnce)); local < end;
             ++local) {
          linked[count] = local;  // no branch, as few or most are skipped, in no order
          count += static_cast<std::size_t>(!merge_.in_giant(job_.rank(), local)) &
                   static_cast<std::size_t>(rows[local].size() > kSampledEdges);
        }
        for (std::size_t i = 0; i < count; ++i) {
          const auto row = rows[linked[i]].subspan(kSampledEdges);
          for (const KnownNumber n : row.first(std::min(row.size(), kFetchedEdges))) forest_.fetch(n);
        }
        for (std::size_t i = 0; i < count; ++i) {
          const auto row = rows[linked[i]].subspan(kSampledEdges);
          for (const KnownNumber n : row) forest_.link(linked[i], n);
          worker.edges += row.size();
        }
        worker.vertices += count;
      }
    });
  });
  compress();
}

/// Reads the rows on the disks once. In symmetric graphs one process need not link most edges: the edges of a
/// vertex that is already in the giant component, which has the hub here. Only edges within it are left out.
void Wcc::link_all() {
  std::atomic<std::uint32_t> next{0};
  job_.pool().run([&](int w) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    std::vector<LocalNumber> taken;
    const auto take = [&] {
      const auto count = static_cast<std::uint32_t>(job_.rows_at_once());
      const std::uint32_t first = std::min(next.fetch_add(count), job_.owned());
      taken.resize(std::min(count, job_.owned() - first));
      for (std::uint32_t i = 0; i < taken.size(); ++i) taken[i] = LocalNumber(first + i);
      return std::span<const LocalNumber>(taken);
    };
    std::uint32_t last = Forest::kNone;
    job_.each_row_once(
        w, take, hub_ == Forest::kNone ? ~std::size_t{0} : kSampledEdges,
        [&](LocalNumber local) { return !is_with_hub(local); },
        [&](const FrontierRow& edges) {
          for (std::size_t e = 0; e < edges.targets.size(); ++e) {
            if (e % kLinkedAtOnce == kLinkedAtOnce - 1 && is_with_hub(edges.vertex)) break;
            forest_.link(edges.vertex, edges.targets[e]);
          }
          worker.vertices += edges.targets.empty() || edges.vertex == last ? 0 : 1;
          worker.edges += edges.targets.size();
          last = edges.vertex;
        });
  });
  compress();
}

/// Returns the vertex with the most edges.
std::uint32_t Wcc::hub() const noexcept {
  VertexId most{};
  for (VertexId v{}; v < job_.graph().vertices(); ++v)
    if (graph::Row{job_.graph(), v}.degree() > graph::Row{job_.graph(), most}.degree()) most = v;
  return static_cast<std::uint32_t>(most);
}

inline bool Wcc::is_with_hub(LocalNumber local) const noexcept {
  return hub_ != Forest::kNone && forest_.root(local) == forest_.root(hub_);
}

/// Compresses the paths of the owned vertices alone: few of the others are needed.
void Wcc::compress() {
  job_.for_each_range([this](int, LocalNumber first, LocalNumber last) { forest_.compress(first, last); });
}

}  // namespace edgewire::kernels
