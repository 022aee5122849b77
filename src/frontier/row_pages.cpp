#include "frontier/row_pages.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/array_file.h"
#include "base/checksum.h"
#include "base/error.h"
#include "disk/queue.h"
#include "frontier/boundary.h"

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

/// Returns why the files cannot be used: something is missing, damaged or made of something else. Returns an
/// empty text if all are open.
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
    auto [index, files] = write_rows(pool_, {rows_, ownership_, rank_}, disks, names.paths, generation);
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
