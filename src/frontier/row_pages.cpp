#include "frontier/row_pages.h"

#include <fmt/core.h>

#include <filesystem>
#include <limits>
#include <span>

#include "base/array_file.h"
#include "base/checksum.h"
#include "base/error.h"
#include "disk/queue.h"
#include "frontier/row_code.h"
#include "options/kernels.h"

namespace edgewire::frontier {

namespace {

static_assert(kPageBytes == disk::kAlignment);

template <class File, class Index>
void sections(File& file, Index& index) {
  file(index.begins);
  file(index.lengths);
  file(index.checksums);
  file.value(index.weights);
  file(index.boundary);
}

ForEach on(topology::WorkerPool& pool) {
  return [&pool](std::uint64_t count, const auto& work) { pool.for_each(count, work); };
}

std::uint64_t checksum_of(const std::string& text) { return checksum(text.data(), text.size()); }

constexpr std::uint64_t kStripeBytes = kStripePages * kPageBytes;
// Number of edges that a worker encodes before all are written.
constexpr std::uint64_t kEdgesAtOnce = 1 << 20, kLeastEdgesAtOnce = 1 << 14;
constexpr std::uint64_t kBytesAnEdge = 16;  // most bytes of an edge: codes, and their copies

/// The rows of one process, by local number.
struct ProcessRows {
  partition::OwnedRows rows;
  const partition::Ownership& ownership;
  std::uint32_t rank;

  std::uint32_t count() const noexcept { return ownership.count(rank); }
  VertexId vertex(LocalNumber local) const noexcept { return ownership.vertex(rank, local); }
};

/// A writer that encodes the rows of a process, which it reads twice, into a file on each device. Throws
/// Error with the path of a file that cannot be written, or of a damaged graph.
class RowWriter {
 public:
  RowWriter(topology::WorkerPool& pool, const ProcessRows& rows, const RowDisks& disks,
            const std::vector<std::string>& paths, std::uint64_t generation)
      : pool_(pool), rows_(rows), weighted_(disks.weighted), files_(paths, generation) {
    const auto workers = static_cast<std::uint64_t>(pool.workers());
    const std::uint64_t rest =
        disks.budget({rows.count(), 0}).rest_or(2 * kBytesAnEdge * kEdgesAtOnce * workers);
    edges_at_once_ =
        std::clamp<std::uint64_t>(rest / 2 / kBytesAnEdge / workers, kLeastEdgesAtOnce, kEdgesAtOnce);
    index_.begins.resize(rows.count());
    index_.lengths.resize(rows.count());
  }

  std::pair<RowIndex, disk::SegmentFiles> write() {
    for (const bool short_ones : {true, false})
      for (LocalNumber first{}; first < rows_.count();) first = write_some(first, short_ones);
    stream_.resize((stream_.size() + kPageBytes - 1) / kPageBytes * kPageBytes);
    keep(stream_);
    auto files = files_.commit();
    return {std::move(index_), std::move(files)};
  }

 private:
  /// The codes of rows side by side.
  struct Piece {
    std::vector<std::byte> codes;
    WeightFigures weights;
  };

  graph::Row row(LocalNumber local) const noexcept { return rows_.rows[rows_.vertex(local)]; }

  /// Encodes the next rows, a piece in each worker, and writes whole stripes of them. Returns the next.
  LocalNumber write_some(LocalNumber first, bool short_ones) {
    const auto bounds = cut(first, short_ones);
    std::vector<Piece> pieces(bounds.size() - 1);
    pool_.for_each(pieces.size(),
                   [&](int, std::uint64_t i) { pieces[i] = encode(bounds[i], bounds[i + 1], short_ones); });
    for (const Piece& piece : pieces) {
      stream_.insert(stream_.end(), piece.codes.begin(), piece.codes.end());
      index_.weights.sum += piece.weights.sum;
      index_.weights.least = std::min(index_.weights.least, piece.weights.least);
    }
    for (LocalNumber local = first; local < bounds.back(); ++local) {
      if (is_short_row(row(local).degree()) != short_ones) continue;
      index_.begins[local] = end_;
      end_ += index_.lengths[local];
    }
    const std::uint64_t whole = stream_.size() / kStripeBytes * kStripeBytes;
    keep(std::span(stream_).first(whole));
    stream_.erase(stream_.begin(), stream_.begin() + static_cast<std::ptrdiff_t>(whole));
    return bounds.back();
  }

  /// Returns the starts of pieces of about that many edges, one for each worker, and the end of the last one.
  std::vector<LocalNumber> cut(LocalNumber first, bool short_ones) const {
    std::vector<LocalNumber> bounds{first};
    std::uint64_t edges = 0;
    for (LocalNumber local = first;
         local < rows_.count() && bounds.size() <= static_cast<std::size_t>(pool_.workers()); ++local) {
      const std::uint64_t degree = row(local).degree();
      if (is_short_row(degree) == short_ones) edges += degree;
      if (edges < edges_at_once_ && local + 1 < rows_.count()) continue;
      bounds.emplace_back(local + 1);
      edges = 0;
    }
    return bounds;
  }

  Piece encode(LocalNumber first, LocalNumber last, bool short_ones) {
    Piece piece;
    rows_.rows.verify(rows_.vertex(first), std::uint64_t{rows_.vertex(LocalNumber(last - 1))} + 1);
    for (LocalNumber local = first; local < last; ++local)
      if (const auto one = row(local); one.degree() > 0 && is_short_row(one.degree()) == short_ones)
        index_.lengths[local] = encode(one, piece);
    rows_.rows.release_pages(rows_.vertex(first), std::uint64_t{rows_.vertex(LocalNumber(last - 1))} + 1);
    return piece;
  }

  /// Returns the number of bytes that the row takes.
  std::uint32_t encode(const graph::Row& one, Piece& piece) const {
    const std::size_t before = piece.codes.size();
    if (!std::ranges::is_sorted(one.targets()))
      throw Error(fmt::format("{}: the targets of vertex {} are not in order", rows_.rows.graph().path(),
                              PlainId{one.vertex}));
    encode_row(one.vertex, one.targets(), piece.codes);
    if (weighted_) {
      const auto bytes = one.weights().bytes();
      piece.codes.insert(piece.codes.end(), bytes.begin(), bytes.end());
      one.weights().visit([&piece](const auto weights) {
        for (const auto weight : weights) {
          piece.weights.sum += static_cast<double>(weight);
          piece.weights.least = std::min(piece.weights.least, static_cast<double>(weight));
        }
      });
    }
    const std::size_t bytes = piece.codes.size() - before;
    if (bytes > std::numeric_limits<std::uint32_t>::max())
      throw Error(fmt::format("{}: vertex {} has too many edges for {}", rows_.rows.graph().path(),
                              PlainId{one.vertex}, opt::edges("disk")));
    return static_cast<std::uint32_t>(bytes);
  }

  /// Writes pages to their places. Stripes go to the files in turn, as RowPages::piece() expects.
  void keep(std::span<std::byte> pages) {
    const std::uint64_t before = index_.checksums.size();
    index_.checksums.resize(before + pages.size() / kPageBytes);
    std::vector<disk::Segment> stripes;
    for (std::uint64_t at = 0; at < pages.size(); at += kStripeBytes)
      stripes.push_back(files_.place(static_cast<std::uint32_t>(std::min(kStripeBytes, pages.size() - at))));
    pool_.for_each(stripes.size(), [&](int, std::uint64_t s) {
      const auto stripe = pages.subspan(s * kStripeBytes, stripes[s].bytes);
      for (std::uint64_t at = 0; at < stripe.size(); at += kPageBytes)
        index_.checksums[before + (s * kStripeBytes + at) / kPageBytes] = checksum(&stripe[at], kPageBytes);
      files_.write(stripes[s], stripe);
    });
  }

  topology::WorkerPool& pool_;
  ProcessRows rows_;
  bool weighted_;
  std::uint64_t edges_at_once_ = 0;
  disk::SegmentWriter files_;
  RowIndex index_;
  std::vector<std::byte> stream_;  ///< bytes that are not written yet
  std::uint64_t end_ = 0;          ///< end of all that was encoded
};

}  // namespace

RowPages::RowPages(topology::WorkerPool& pool, partition::OwnedRows rows,
                   const partition::Ownership& ownership, int rank, const RowDisks& disks)
    : pool_(pool),
      rows_(std::move(rows)),
      graph_(rows_.graph()),
      ownership_(ownership),
      rank_(static_cast<std::uint32_t>(rank)),
      weighted_(disks.weighted),
      devices_(disks.devices.size()) {
  const std::string name =
      fmt::format("{}.{}rows-{}-of-{}", std::filesystem::path(graph_.path()).filename().string(),
                  weighted_ ? "weighted-" : "", rank, ownership.processes());
  index_path_ = std::filesystem::path(disks.devices[0]) / name;
  const Names names{disk::device_paths(disks.devices, name), key()};
  if (const std::string why = open(names); !why.empty()) write(names, disks, why);
  check();
  find_firsts();
}

/// Returns all that the pages depend on, a line each.
std::string RowPages::key() const {
  std::vector<VertexId> owned(ownership_.count(rank_));
  for (LocalNumber local{}; local < owned.size(); ++local) owned[local] = ownership_.vertex(rank_, local);
  return fmt::format("program {}\nweights {}\ngraph {:016x}\nowned vertices {} ({:016x})\ndevices {}\n",
                     EDGEWIRE_VERSION, weighted_ ? graph::name_of(graph_.weights().type()) : "no",
                     graph_.checksum(), owned.size(),
                     edgewire::checksum(owned.data(), owned.size() * sizeof owned[0]), devices_);
}

/// Returns why the files cannot be used: missing, damaged or of something else. Empty: all are open.
std::string RowPages::open(const Names& names) {
  try {
    ArrayFileReader file(index_path_, names.key, on(pool_));
    sections(file, index_);
    files_.emplace(names.paths, checksum_of(names.key));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Writes the files. `why`: the reason why the rows that are there cannot be used.
void RowPages::write(const Names& names, const RowDisks& disks, const std::string& why) {
  const std::uint64_t generation = checksum_of(names.key);
  try {
    auto [index, files] =
        RowWriter(pool_, {rows_, ownership_, rank_}, disks, names.paths, generation).write();
    index_ = std::move(index);
    files_.emplace(std::move(files));
  } catch (const Error& error) {
    std::error_code none;
    if (!std::filesystem::exists(index_path_, none)) throw;
    throw Error(fmt::format("{}; the rows that are there are of no use: {}", error.what(), why));
  }
  if (ownership_.processes() > 1)
    index_.boundary = boundary_ids(
        graph_, [this](LocalNumber local, auto&) { return rows_.row(ownership_.vertex(rank_, local)); },
        ownership_, rank_, pool_);
  ArrayFileWriter file;
  sections(file, index_);
  try {
    file.write(index_path_, names.key, generation, on(pool_));
  } catch (const Error&) {  // pages without an index are of no use
    std::error_code none;
    for (const auto& path : names.paths) std::filesystem::remove(path, none);
    throw;
  }
  bytes_written_ = files_->bytes();
}

/// Checks the index. Checksums detect damage, but not a file that somebody forged or a faulty program wrote.
void RowPages::check() {
  const std::uint32_t owned = ownership_.count(rank_);
  bool right = index_.begins.size() == owned && index_.lengths.size() == owned;
  for (LocalNumber local{}; right && local < owned; ++local) {
    const std::uint64_t degree = rows_.degree(ownership_.vertex(rank_, local));
    right = (index_.lengths[local] > 0) == (degree > 0) && index_.begins[local] <= bytes() &&
            index_.lengths[local] <= bytes() - index_.begins[local];
    longest_ = std::max<std::uint64_t>(longest_, index_.lengths[local]);
  }
  const auto& ids = index_.boundary;
  right = right && std::ranges::adjacent_find(ids, std::ranges::greater_equal()) == ids.end() &&
          (ids.empty() || ids.back() < graph_.vertices()) &&
          std::ranges::none_of(ids, [&](VertexId v) { return ownership_.home(v).owner == rank_; });
  if (!right)
    throw Error(
        fmt::format("{}: faulty rows; remove the file, and the next run writes it anew", index_path_));
  const std::uint64_t pages = index_.checksums.size();
  for (std::uint64_t page = 0; page < pages; page += kStripePages)
    files_->check(piece(page, pages - page).first);
}

void RowPages::find_firsts() {
  firsts_.resize(index_.checksums.size());
  long_begin_ = bytes();
  std::uint64_t page = 0;  // first page that no row has reached yet
  for (const bool short_ones : {true, false}) {
    for (LocalNumber local{}; local < index_.begins.size(); ++local) {
      if (index_.lengths[local] == 0 ||
          is_short_row(rows_.degree(ownership_.vertex(rank_, local))) != short_ones)
        continue;
      const std::uint64_t begin = index_.begins[local], end = begin + index_.lengths[local];
      if (!short_ones) long_begin_ = std::min(long_begin_, begin);
      for (; page * kPageBytes < end; ++page) firsts_[page] = local;
    }
  }
}

std::pair<disk::Segment, std::uint64_t> RowPages::piece(std::uint64_t first,
                                                        std::uint64_t count) const noexcept {
  const std::uint64_t stripe = first / kStripePages, within = first % kStripePages;
  const std::uint64_t pages = std::min(count, kStripePages - within);
  disk::Segment segment;
  segment.file = static_cast<std::uint32_t>(stripe % devices_);
  segment.offset = kPageBytes + (stripe / devices_ * kStripePages + within) * kPageBytes;
  segment.bytes = static_cast<std::uint32_t>(pages * kPageBytes);
  return {segment, pages};
}

}  // namespace edgewire::frontier
