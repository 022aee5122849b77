#include "kernels/wcc/wcc.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/rooms.h"
#include "edgewire/detail/cpu_level.h"
#include "edgewire/graph.h"

namespace edgewire::kernels {

namespace {

constexpr std::uint32_t kAhead = 16;       // number of rows that are fetched before they are read
constexpr std::uint32_t kRowsAtOnce = 64;  // number of rows that link_rest() looks at before they are linked
constexpr std::size_t kFetchedEdges = 4;   // number of edges of each of them
// Number of edges of a vertex before link_all() looks whether it needs more.
constexpr std::size_t kLinkedAtOnce = 64;
constexpr std::uint32_t kPiece = 1 << 14;  // size of a piece of numbers

}  // namespace

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
  make_sets();
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

void Wcc::make_sets() {
  job_.pool().for_each((std::uint64_t{forest_.size()} + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
    const std::uint64_t last = std::min<std::uint64_t>(forest_.size(), (piece + 1) * kPiece);
    forest_.make_sets(static_cast<std::uint32_t>(piece * kPiece), static_cast<std::uint32_t>(last));
  });
}

void Wcc::link_sample() {
  const frontier::KnownRows rows = job_.rows();
  job_.for_each_range([&](int w, LocalNumber first, LocalNumber last) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    topology::run_scalar_for_cpu([&] {
      for (LocalNumber local = first; local < last; ++local) {
        if (last - local > kAhead) {
          rows.fetch(local + kAhead);
          // No branch here depends on the number of a vertex's edges: many have none, in no order that the
          // processor could guess.
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
/// vertex that is already in the giant component, which has the hub here. An edge is left out at both ends
/// only where both are in it.
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
