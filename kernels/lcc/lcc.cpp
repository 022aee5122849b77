#include "kernels/lcc/lcc.h"

#include <utility>

#include "base/release.h"
#include "edgewire/detail/cpu_level.h"
#include "edgewire/frontier.h"
#include "kernels/lcc/boundary_rows.h"
#include "options/option.h"

namespace edgewire::kernels {

namespace {

constexpr std::uint64_t kRowsTaken = 64;  // number of rows that a worker takes
// Numbers of heads and rows that are fetched before they are needed.
constexpr std::uint32_t kHeadsAhead = 32, kRowsAhead = 12;

/// The number of bits that are looked up in the time of an entry of a row.
constexpr std::size_t kBitsForEntry = 8;

/// The number of entries below which two rows are merged.
constexpr std::size_t kMergedEntries = 16;

// Three ways to find the entries that two rows share. Each returns their number. Where they are credited, the
// first two add 1 to `credits` at the places of these entries, the third in their marks.

/// Merges both rows, which ascend.
template <bool kCredited>
std::uint32_t merge(OrientedRows::Row row, OrientedRows::Row other, std::uint32_t* credits) {
  std::uint32_t found = 0;
  for (std::size_t i = 0, j = 0; i < row.size() && j < other.size();) {
    const std::uint32_t a = row[i], b = other[j];
    if (a == b) {
      if constexpr (kCredited) ++credits[i];
      ++found;
    }
    i += a <= b ? 1 : 0;
    j += b <= a ? 1 : 0;
  }
  return found;
}

template <bool kCredited>
inline std::uint32_t add_each_bit(OrientedRows::Row row, const std::uint32_t* words,
                                  std::uint32_t* __restrict credits) {
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::uint32_t bit = words[row[i] / 32] >> row[i] % 32 & 1;
    if constexpr (kCredited) credits[i] += bit;
    found += bit;
  }
  return found;
}

/// Looks up all entries of a row in the bits of the other one, by gathers where the processor has some.
template <bool kCredited>
std::uint32_t add_bits(OrientedRows::Row row, const std::uint32_t* words, std::uint32_t* credits) {
  return topology::run_for_cpu([=] { return add_each_bit<kCredited>(row, words, credits); });
}

/// Looks up all entries of the other row, where those of the row are marked.
template <bool kCredited>
std::uint32_t look_up(std::vector<NeighbourMark>& marks, OrientedRows::Row other) {
  std::uint32_t found = 0;
  for (const std::uint32_t w : other) {
    const std::uint32_t is_neighbour = marks[w].is_neighbour();
    if constexpr (kCredited) marks[w].add_credit(is_neighbour);
    found += is_neighbour;
  }
  return found;
}

/// Returns the places in a row of those entries that may be in the batch, [first, last).
std::pair<std::size_t, std::size_t> places_of(OrientedRows::Row row, const RowBatch& batch) {
  if (batch.with_owned) return {0, row.size()};
  const auto first = std::lower_bound(row.begin(), row.end(), batch.first);
  const auto last = std::lower_bound(first, row.end(), batch.last);
  return {first - row.begin(), last - row.begin()};
}

}  // namespace

Lcc::Lcc(frontier::Job& job, Wanted wanted, const Pieces& pieces)
    : job_(job),
      wanted_(wanted),
      directed_(wanted == Wanted::coefficients && !job.graph().symmetric()),
      pieces_(pieces),
      workers_(static_cast<std::size_t>(job.pool().workers())),
      log_(job) {
  // A peer that has less work waits for credits: the link must go on meanwhile.
  for_each_ = [this](std::uint64_t count, const auto& work) {
    job_.pool().for_each(count, [&](int w, std::uint64_t index) {
      work(w, index);
      if (w == 0 && (!job_.link().poll() || job_.bootstrap().health().failed()))
        throw Error(job_.bootstrap().health().message());
    });
  };
  job.expect_records(sizeof(frontier::Record));
  check_range("record_bits", pieces.record_bits, 1U, 32U);
  if (pieces_.batch_words == 0)
    pieces_.batch_words = BoundaryRows::batch_words(job.graph(), job.bootstrap().size());
}

std::vector<frontier::Superstep> Lcc::run() {
  log_.step(kOrient, workers_, [this] { orient(); });
  log_.step(kIntersect, workers_, [this] { intersect(); });
  if (!job_.is_only()) {
    if (wanted_ != Wanted::count) log_.step(kCredit, workers_, [this] { send_credits(); });
    triangles_ = job_.sum_of_all(triangles_);
  }
  job_.wait_for_all();
  return log_.take();
}

std::vector<double> Lcc::coefficients() const {
  const double edges_of_pair = job_.graph().symmetric() ? 2 : 1;
  std::vector<double> all(job_.owned());
  job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    for (LocalNumber local = first; local < last; ++local) {
      const std::uint32_t number = rows_->number_of(KnownNumber(local));
      const auto degree = static_cast<double>(rows_->degree(number));
      if (degree < 2) continue;
      const auto found = static_cast<double>(credit_of(local));
      all[local] = edges_of_pair * found / (degree * (degree - 1));
    }
  });
  return all;
}

std::vector<std::uint64_t> Lcc::triangles_of_vertices() const {
  std::vector<std::uint64_t> all(job_.owned());
  job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    for (LocalNumber local = first; local < last; ++local) all[local] = credit_of(local);
  });
  return all;
}

double Lcc::pairs_of_neighbours() const {
  double pairs = 0;
  for (LocalNumber local{}; local < job_.owned(); ++local) {
    const auto degree = static_cast<double>(rows_->degree(rows_->number_of(KnownNumber(local))));
    pairs += degree * (degree - 1) / 2;
  }
  return pairs;
}

void Lcc::orient() {
  rows_.emplace(job_, for_each_);
  if (wanted_ != Wanted::count) {
    credits_memory_ = topology::NodeMemory(rows_->known() * sizeof(std::uint64_t), -1, "credits");
    credits_ = credits_memory_.as<std::atomic<std::uint64_t>>();
  }
  workers_[0].vertices = job_.owned();
  for (LocalNumber local{}; local < job_.owned(); ++local)
    workers_[0].edges += job_.owned_rows().degree(job_.ownership().vertex(job_.rank(), local));
}

void Lcc::intersect() {
  std::optional<BoundaryRows> others;
  std::uint64_t entries = rows_->entries(), passes = 1;
  if (!job_.is_only()) {
    others.emplace(job_, *rows_, for_each_, pieces_.batch_words);
    passes = std::max<std::uint64_t>(1, others->batches_left());
    if (others->batches_left() > 0) others->fetch();
    entries += others->entries();
  }
  intersect_with({0, rows_->known(), true}, entries, 0, passes);
  for (std::uint64_t pass = 1; pass < passes; ++pass) {
    others->fetch();
    intersect_with(others->batch(), others->entries(), pass, passes);
  }
  triangles_ = 0;
  for (Worker& worker : workers_) {
    triangles_ += worker.triangles;
    release(worker.marks);
    release(worker.row_credits);
  }
}

/// Finds the triangles of a graph without its directions: for each neighbour v of u, those of the neighbours
/// before v that are in the row of v. No other ones can exist. The bits of a hub v are looked up, short rows
/// are merged, and else the row of v is looked up among the marked neighbours of u.
template <bool kCredited>
void Lcc::find_triangles(Worker& worker, std::uint32_t u, const RowBatch& batch) {
  const auto [first, last] = places_of(rows_->row(u), batch);
  if (first == last) return;
  const Row row = rows_->row(u).first(last);
  if constexpr (kCredited) worker.row_credits.assign(row.size(), 0);
  std::uint32_t* const credits = worker.row_credits.data();
  std::uint64_t triangles = 0;
  bool marked = false;
  for (std::size_t i = std::max<std::size_t>(first, 1); i < row.size(); ++i) {
    const std::uint32_t v = row[i];
    const Row row_of_v = rows_->row(v, batch);
    if (row_of_v.empty()) continue;
    std::uint32_t found = 0;
    if (i + row_of_v.size() < kMergedEntries) {
      found = merge<kCredited>(row.first(i), row_of_v, credits);
      worker.edges += i + row_of_v.size();
    } else if (v < hubs_->hubs() && i <= kBitsForEntry * row_of_v.size()) {
      found = add_bits<kCredited>(row.first(i), hubs_->words(v), credits);
      worker.edges += i;
    } else {
      if (!marked) mark(worker, row, {});
      marked = true;
      found = look_up<kCredited>(worker.marks, row_of_v);
      worker.edges += row_of_v.size();
    }
    if constexpr (kCredited) credits[i] += found;
    triangles += found;
  }
  worker.triangles += triangles;
  if constexpr (kCredited) {
    for (std::size_t i = 0; i < row.size() && triangles > 0; ++i) add_credit(row[i], credits[i]);
    add_credit(u, triangles);
  }
  if (marked) unmark(worker, row);
}

/// Does the same where edges have a direction. A corner is credited the edges between the two others.
void Lcc::find_directed_triangles(Worker& worker, std::uint32_t u, const RowBatch& batch) {
  const auto [first, last] = places_of(rows_->row(u), batch);
  if (first == last) return;
  const Row row = rows_->row(u).first(last);
  const auto both_ways = rows_->both_ways(u);
  mark(worker, row, both_ways);
  NeighbourMark* const marks = worker.marks.data();
  std::uint64_t edges_v_w = 0;
  for (std::size_t i = first; i < row.size(); ++i) {
    const std::uint32_t v = row[i];
    const Row row_of_v = rows_->row(v, batch);
    if (row_of_v.empty()) continue;
    const auto v_w_both_ways = rows_->both_ways(v);
    const std::uint32_t edges_u_v = std::uint32_t{1} + both_ways[i];
    std::uint32_t found = 0, edges_u_w = 0;
    for (std::size_t j = 0; j < row_of_v.size(); ++j) {
      NeighbourMark& w = marks[row_of_v[j]];
      const std::uint32_t is_neighbour = w.is_neighbour();
      found += is_neighbour;
      edges_u_w += is_neighbour + w.both_ways();
      edges_v_w += is_neighbour * (std::uint32_t{1} + v_w_both_ways[j]);
      w.add_credit(is_neighbour * edges_u_v);
    }
    marks[v].add_credit(edges_u_w);
    worker.triangles += found;
    worker.edges += row_of_v.size();
  }
  unmark(worker, row);
  add_credit(u, edges_v_w);
}

/// Marks the entries of a row. `both_ways`: the flag of each, see OrientedRows::both_ways(); or empty.
void Lcc::mark(Worker& worker, Row row, std::span<const std::uint8_t> both_ways) const {
  if (worker.marks.empty()) worker.marks.resize(rows_->known());
  for (std::size_t i = 0; i < row.size(); ++i)
    worker.marks[row[i]] = NeighbourMark(!both_ways.empty() && both_ways[i] != 0);
}

/// Clears the marks of the row and hands over their credit.
void Lcc::unmark(Worker& worker, Row row) {
  for (const std::uint32_t v : row) add_credit(v, std::exchange(worker.marks[v], {}).credit());
}

/// Intersects with the rows of the batch. Vertices of high degree come first, since they take longest.
void Lcc::intersect_with(const RowBatch& batch, std::uint64_t entries, std::uint64_t pass,
                         std::uint64_t passes) {
  const std::uint64_t known = rows_->known();
  hubs_.reset();
  if (!directed_) hubs_.emplace(*rows_, for_each_, batch, entries);
  for_each_piece(for_each_, known, kRowsTaken, [&](int w, std::uint32_t first, std::uint32_t last) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    // Pieces are taken in order, so one worker can report for all.
    if (w == 0 && job_.progress())
      job_.progress()({"intersecting", pass * known + first, passes * known, "vertices"});
    for (std::uint32_t u = first; u < last; ++u) {
      fetch_ahead(u, batch);
      if (!rows_->owns(u) || rows_->row(u).size() < 2) continue;
      if (batch.with_owned) ++worker.vertices;
      if (directed_)
        find_directed_triangles(worker, u, batch);
      else if (wanted_ == Wanted::count)
        find_triangles<false>(worker, u, batch);
      else
        find_triangles<true>(worker, u, batch);
    }
  });
}

/// Prefetches rows that are intersected soon, which lie anywhere.
void Lcc::fetch_ahead(std::uint32_t number, const RowBatch& batch) const {
  if (rows_->known() - number <= 2 * kHeadsAhead) return;
  rows_->prefetch_entries(number + 2 * kHeadsAhead);
  if (!batch.with_owned) return;  // few rows have a place in the batch
  if (rows_->owns(number + kHeadsAhead))
    for (const std::uint32_t v : rows_->row(number + kHeadsAhead)) rows_->prefetch_head(v);
  if (rows_->owns(number + kRowsAhead))
    for (const std::uint32_t v : rows_->row(number + kRowsAhead)) rows_->prefetch_entries(v);
}

std::uint64_t Lcc::credit_of(LocalNumber local) const {
  return credits_[rows_->number_of(KnownNumber(local))].load(std::memory_order_relaxed);
}

/// Sends the credits of boundary vertices to their owners, piece by piece from the lowest bits on.
void Lcc::send_credits() {
  FrontierJob<std::uint32_t> steps(job_);
  const frontier::Boundary& boundary = rows_->boundary();
  const std::uint64_t mask = (std::uint64_t{1} << pieces_.record_bits) - 1;
  for (unsigned shift = 0; shift < 64; shift += pieces_.record_bits)
    steps.exchange(
        [&](int worker, const auto& tell) {
          const auto mine = job_.pool().part(worker, boundary.known() - boundary.owned());
          for (std::uint64_t i = mine.first; i < mine.last; ++i) {
            const KnownNumber known(boundary.owned() + static_cast<std::uint32_t>(i));
            const std::uint64_t credit = credits_[rows_->number_of(known)].load(std::memory_order_relaxed);
            const auto piece = static_cast<std::uint32_t>(credit >> shift & mask);
            if (piece == 0) continue;
            ++workers_[static_cast<std::size_t>(worker)].vertices;
            tell(boundary.home(known), piece);
          }
        },
        [&](KnownNumber owned, std::uint32_t piece) {
          add_credit(rows_->number_of(owned), std::uint64_t{piece} << shift);
          return false;
        });
}

}  // namespace edgewire::kernels
