#include "frontier/local_clustering.h"

#include <algorithm>
#include <array>

#include "base/options.h"
#include "base/release.h"
#include "topology/cpu_level.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kRowsAtOnce = 64;                   // that a worker takes
constexpr std::uint32_t kHeadsAhead = 32, kRowsAhead = 12;  // that are fetched before they are needed

// Of a cell. No row has more than sqrt(2 m) < 2^23 entries, and none is credited more than 4 times as much.
constexpr std::uint32_t kNeighbour = std::uint32_t{1} << 31, kBothWays = std::uint32_t{1} << 30;
constexpr std::uint32_t kCreditMask = kBothWays - 1;

/// A bit is looked up faster than an entry of a row: where no more than so many times as many.
constexpr std::size_t kBitsForEntry = 8;

/// Rows with fewer entries together are merged.
constexpr std::size_t kMergedEntries = 16;

/// Which `numbers` are in `other`; both ascend. Adds 1 to `earned` at their places; returns how many are.
std::uint32_t merge(std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> other,
                    std::uint32_t* earned) {
  std::uint32_t found = 0;
  for (std::size_t i = 0, j = 0; i < numbers.size() && j < other.size();) {
    const std::uint32_t a = numbers[i], b = other[j];
    if (a == b) ++earned[i], ++found;
    i += a <= b ? 1 : 0;
    j += b <= a ? 1 : 0;
  }
  return found;
}

/// Which `numbers` have a bit in `words`. Adds 1 to `earned` at their places; returns how many have.
inline std::uint32_t add_each_bit(std::span<const std::uint32_t> numbers, const std::uint32_t* words,
                                  std::uint32_t* __restrict earned) {
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint32_t bit = words[numbers[i] / 32] >> numbers[i] % 32 & 1;
    earned[i] += bit;
    found += bit;
  }
  return found;
}

/// The same. With gathers, where there are some: the words are in the caches.
std::uint32_t add_bits(std::span<const std::uint32_t> numbers, const std::uint32_t* words,
                       std::uint32_t* earned) {
  return topology::run_for_cpu([=] { return add_each_bit(numbers, words, earned); });
}

}  // namespace

LocalClustering::LocalClustering(FrontierJob& job, const Pieces& pieces)
    : job_(job), pieces_(pieces), workers_(static_cast<std::size_t>(job.pool().workers())), log_(job) {
  job.expect_records(sizeof(Record));
  check_range("record_bits", pieces.record_bits, 1U, 32U);
  if (pieces_.batch_words == 0)
    pieces_.batch_words = BoundaryRows::batch_words(job.graph(), job.bootstrap().size());
}

std::vector<Superstep> LocalClustering::run() {
  log_.step(kOrient, workers_, [this] { orient(); });
  log_.step(kIntersect, workers_, [this] { intersect(); });
  if (job_.bootstrap().size() > 1) log_.step(kCredit, workers_, [this] { send_credits(); });
  job_.wait_for_all();
  return log_.take();
}

std::vector<double> LocalClustering::coefficients() const {
  const double edges_of_pair = job_.graph().symmetric() ? 2 : 1;
  std::vector<double> all(job_.owned());
  job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    for (LocalNumber local = first; local < last; ++local) {
      const std::uint32_t number = rows_->number_of(KnownNumber(local));
      const auto degree = static_cast<double>(rows_->degree(number));
      if (degree < 2) continue;
      const auto found = static_cast<double>(credits_[number].load(std::memory_order_relaxed));
      all[local] = edges_of_pair * found / (degree * (degree - 1));
    }
  });
  return all;
}

double LocalClustering::pairs_of_neighbours() const {
  double pairs = 0;
  for (LocalNumber local{}; local < job_.owned(); ++local) {
    const auto degree = static_cast<double>(rows_->degree(rows_->number_of(KnownNumber(local))));
    pairs += degree * (degree - 1) / 2;
  }
  return pairs;
}

/// A peer that has less to do waits for credits: the link must go on meanwhile.
void LocalClustering::for_each(std::uint64_t count,
                               const std::function<void(int worker, std::uint64_t index)>& work) {
  job_.pool().for_each(count, [&](int w, std::uint64_t index) {
    work(w, index);
    if (w == 0 && (!job_.link().poll() || job_.bootstrap().health().failed()))
      throw Error(job_.bootstrap().health().message());
  });
}

void LocalClustering::orient() {
  rows_.emplace(job_, all_workers_);
  credits_.reset(new std::atomic<std::uint64_t>[rows_->known()]);
  constexpr std::uint64_t kAtOnce = 1 << 14;
  for_each((rows_->known() + kAtOnce - 1) / kAtOnce, [&](int, std::uint64_t piece) {
    const std::uint64_t last = std::min<std::uint64_t>(rows_->known(), (piece + 1) * kAtOnce);
    for (std::uint64_t i = piece * kAtOnce; i < last; ++i) credits_[i].store(0, std::memory_order_relaxed);
  });
  workers_[0].vertices = job_.owned();
  for (LocalNumber local{}; local < job_.owned(); ++local)
    workers_[0].edges += job_.owned_rows().degree(job_.ownership().vertex(job_.rank(), local));
}

void LocalClustering::intersect() {
  std::optional<BoundaryRows> others;
  std::uint64_t entries = rows_->entries(), passes = 1;
  if (job_.bootstrap().size() > 1) {
    others.emplace(job_, *rows_, all_workers_, pieces_.batch_words);
    passes = std::max<std::uint64_t>(1, others->batches_left());
    if (others->batches_left() > 0) others->fetch();
    entries += others->entries();
  }
  intersect_with({0, rows_->known(), true}, entries, 0, passes);
  for (std::uint64_t pass = 1; pass < passes; ++pass) {
    others->fetch();
    intersect_with({others->first(), others->last(), false}, others->entries(), pass, passes);
  }
  triangles_ = 0;
  for (Worker& worker : workers_) {
    triangles_ += worker.triangles;
    release(worker.cells);
    release(worker.earned);
  }
}

/// Vertices of high degree come first, since they take longest.
void LocalClustering::intersect_with(const Others& others, std::uint64_t entries, std::uint64_t pass,
                                     std::uint64_t passes) {
  const std::uint64_t known = rows_->known();
  hubs_.reset();
  if (job_.graph().symmetric())
    hubs_.emplace(*rows_, all_workers_, others.first, others.last, entries, others.owned);
  for_each((known + kRowsAtOnce - 1) / kRowsAtOnce, [&](int w, std::uint64_t piece) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    const std::uint64_t first = piece * kRowsAtOnce;
    const std::uint64_t last = std::min<std::uint64_t>(known, first + kRowsAtOnce);
    // Pieces are taken in order: one worker can tell for all.
    if (w == 0 && job_.progress())
      job_.progress()({"intersecting", pass * known + first, passes * known, "vertices"});
    for (auto number = static_cast<std::uint32_t>(first); number < last; ++number) {
      fetch_ahead(number, others);
      if (!rows_->owns(number) || rows_->row(number).size() < 2) continue;
      if (others.owned) ++worker.vertices;
      const Places places = places_of(number, others);
      if (places.first == places.last) continue;
      if (job_.graph().symmetric())
        intersect_symmetric(worker, number, places);
      else
        intersect_directed(worker, number, places);
    }
  });
}

LocalClustering::Places LocalClustering::places_of(std::uint32_t number,
                                                   const Others& others) const noexcept {
  const auto row = rows_->row(number);
  if (others.owned) return {0, row.size(), true};
  const auto first = std::lower_bound(row.begin(), row.end(), others.first);
  const auto last = std::lower_bound(first, row.end(), others.last);
  return {static_cast<std::size_t>(first - row.begin()), static_cast<std::size_t>(last - row.begin()), false};
}

/// Rows that are intersected lie anywhere in memory.
void LocalClustering::fetch_ahead(std::uint32_t number, const Others& others) const {
  if (rows_->known() - number <= 2 * kHeadsAhead) return;
  rows_->prefetch_entries(number + 2 * kHeadsAhead);
  if (!others.owned) return;  // one row in many has a place among the others
  if (rows_->owns(number + kHeadsAhead))
    for (const std::uint32_t u : rows_->row(number + kHeadsAhead)) rows_->prefetch_head(u);
  if (rows_->owns(number + kRowsAhead))
    for (const std::uint32_t u : rows_->row(number + kRowsAhead)) rows_->prefetch_entries(u);
}

/// Looks for those neighbours that are also in the row of another one. Only those before it can be.
void LocalClustering::intersect_symmetric(Worker& worker, std::uint32_t number, Places places) {
  const auto row = rows_->row(number).first(places.last);
  if (worker.earned.size() < row.size()) worker.earned.resize(row.size());
  std::uint32_t* const earned = worker.earned.data();
  std::fill(earned, earned + row.size(), 0U);
  std::uint64_t credit = 0;
  bool marked = false;
  for (std::size_t i = std::max<std::size_t>(places.first, 1); i < row.size(); ++i) {
    const auto other = rows_->row(row[i]);
    if (other.empty() || (!places.owned && rows_->degree(row[i]) > 0)) continue;
    std::uint32_t found = 0;
    if (i + other.size() < kMergedEntries) {
      found = merge(row.first(i), other, earned);
      worker.edges += i + other.size();
    } else if (row[i] < hubs_->hubs() && i <= kBitsForEntry * other.size()) {
      found = add_bits(row.first(i), hubs_->words(row[i]), earned);
      worker.edges += i;
    } else {
      if (!marked) mark(worker, row);
      marked = true;
      found = look_up(worker, other);
    }
    earned[i] += found;
    credit += found;
  }
  worker.triangles += credit;
  for (std::size_t i = 0; i < row.size() && credit > 0; ++i) give(row[i], earned[i]);
  if (marked) take_cells(worker, row);
  give(number, credit);
}

void LocalClustering::mark(Worker& worker, std::span<const std::uint32_t> row) const {
  if (worker.cells.empty()) worker.cells.assign(rows_->known(), 0);
  for (const std::uint32_t u : row) worker.cells[u] = kNeighbour;
}

/// How many entries of a row are marked in the worker's cells. No branch depends on what is found: the
/// uppermost bit of a cell is what is added to it.
std::uint32_t LocalClustering::look_up(Worker& worker, std::span<const std::uint32_t> other) {
  std::uint32_t* const cells = worker.cells.data();
  std::uint32_t found = 0;
  for (const std::uint32_t w : other) {
    const std::uint32_t cell = cells[w], is_neighbour = cell >> 31;
    cells[w] = cell + is_neighbour;
    found += is_neighbour;
  }
  worker.edges += other.size();
  return found;
}

/// As look_up() does, for all neighbours. A corner of a triangle is credited the edges between the two
/// others, one or two.
void LocalClustering::intersect_directed(Worker& worker, std::uint32_t number, Places places) {
  const auto row = rows_->row(number).first(places.last);
  const auto both_ways = rows_->both_ways(number);
  mark(worker, row);
  std::uint32_t* const cells = worker.cells.data();
  for (std::size_t i = 0; i < row.size(); ++i) cells[row[i]] |= both_ways[i] != 0 ? kBothWays : 0;
  std::uint64_t credit = 0;
  for (std::size_t i = places.first; i < row.size(); ++i) {
    const auto other = rows_->row(row[i]);
    if (other.empty() || (!places.owned && rows_->degree(row[i]) > 0)) continue;
    const auto other_both_ways = rows_->both_ways(row[i]);
    const std::uint32_t edges_here = std::uint32_t{1} + both_ways[i];
    std::uint32_t found = 0, edges_to_others = 0;
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::uint32_t cell = cells[other[j]], is_neighbour = cell >> 31;
      cells[other[j]] = cell + is_neighbour * edges_here;
      found += is_neighbour;
      edges_to_others += is_neighbour + (cell >> 30 & is_neighbour);
      credit += is_neighbour * (std::uint32_t{1} + other_both_ways[j]);
    }
    cells[row[i]] += edges_to_others;
    worker.triangles += found;
    worker.edges += other.size();
  }
  take_cells(worker, row);
  give(number, credit);
}

/// Clears the cells of the row and hands over what they hold.
void LocalClustering::take_cells(Worker& worker, std::span<const std::uint32_t> row) {
  for (const std::uint32_t u : row) {
    give(u, worker.cells[u] & kCreditMask);
    worker.cells[u] = 0;
  }
}

void LocalClustering::give(std::uint32_t number, std::uint64_t credit) {
  if (credit > 0) credits_[number].fetch_add(credit, std::memory_order_relaxed);
}

void LocalClustering::send_credits() {
  job_.pool().run([this](int lane) {
    for (unsigned shift = 0; shift < 64; shift += pieces_.record_bits) send_pieces(lane, shift);
  });
  triangles_ = job_.sum_of_all(std::array{triangles_})[0];
}

/// Sends those bits of the credits of others that begin at `shift`.
void LocalClustering::send_pieces(int lane, unsigned shift) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const std::uint64_t mask = (std::uint64_t{1} << pieces_.record_bits) - 1;
  const auto take = [&](Record record) {
    if (record.vertex >= job_.owned())
      throw Error("a process has sent a credit for a vertex that does not exist");
    give(rows_->number_of(KnownNumber(local_of(record))), std::uint64_t{record.value} << shift);
  };
  const Boundary& boundary = rows_->boundary();
  const auto mine = job_.pool().part(lane, boundary.known() - boundary.owned());
  for (std::uint64_t i = mine.first; i < mine.last; ++i) {
    const KnownNumber known(boundary.owned() + static_cast<std::uint32_t>(i));
    const std::uint64_t credit = credits_[rows_->number_of(known)].load(std::memory_order_relaxed);
    const auto piece = static_cast<std::uint32_t>(credit >> shift & mask);
    if (piece == 0) continue;
    const partition::Place place = boundary.place(known);
    ++worker.vertices;
    job_.records().send(lane, static_cast<int>(place.owner), Record{place.local, piece}, take);
  }
  job_.records().finish(lane, take);
}

}  // namespace edgewire::frontier
