#include "frontier/row_pages.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "base/checksum.h"
#include "base/error.h"
#include "disk/segment_file.h"
#include "edgewire/graph.h"
#include "frontier/row_code.h"
#include "options/kernels.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kStripeBytes = kStripePages * kPageBytes;
// Number of edges that a worker encodes before all are written.
constexpr std::uint64_t kEdgesAtOnce = 1 << 20, kLeastEdgesAtOnce = 1 << 14;
constexpr std::uint64_t kBytesAnEdge = 16;  // most bytes of an edge: codes, and their copies

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

  /// Encodes the next rows, a piece in each worker, and writes whole stripes of them. Returns the first of
  /// the rest.
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

std::pair<RowIndex, disk::SegmentFiles> write_rows(topology::WorkerPool& pool, const ProcessRows& rows,
                                                   const RowDisks& disks,
                                                   const std::vector<std::string>& paths,
                                                   std::uint64_t generation) {
  return RowWriter(pool, rows, disks, paths, generation).write();
}

}  // namespace edgewire::frontier
