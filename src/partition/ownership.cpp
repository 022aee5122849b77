#include "partition/ownership.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "base/checksum.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/search.h"
#include "options/kernels.h"
#include "partition/column_addresses.h"

namespace edgewire::partition {

HashOwnership::HashOwnership(std::uint64_t vertices, std::uint32_t processes)
    : vertices_(vertices), processes_(processes), reciprocal_(processes == 1 ? 0 : ~0ULL / processes + 1) {}

std::uint32_t HashOwnership::count(std::uint32_t owner) const noexcept {
  const auto whole = static_cast<std::uint32_t>(vertices_ / processes_);
  const std::uint64_t rest = vertices_ % processes_;
  return whole + (vertex(owner, LocalNumber(whole)) - std::uint64_t{whole} * processes_ < rest ? 1 : 0);
}

namespace {

/// The weight of edges in cut_evenly(). A range's part of the edges decides what its owner computes, and its
/// part of the vertices more than that of the edges how many values it sends. With this weight both are even
/// enough: at most 1.13 times the mean of values on Kronecker graphs (4 to 256 processes), and 1.21 times the
/// mean of edges on crawls (8).
constexpr std::uint64_t kEdgesBeforeVertices = 4;
constexpr std::string_view kAuto = "auto,";
constexpr std::string_view kRange = "range";  ///< another name of "ranges"

void check_owned(std::uint64_t vertices) {
  if (vertices > kMostOfAProcess)
    throw Error(fmt::format("one process would own {} vertices, more than {}: use more processes", vertices,
                            kMostOfAProcess));
}

}  // namespace

std::vector<PlainId> cut_evenly(std::span<const std::uint64_t> offsets, std::uint32_t parts) {
  const std::uint64_t vertices = offsets.size() - 1, first = offsets.front(), edges = offsets.back() - first;
  // The sum of both parts, times vertices x edges. Where vertices are more, an edge counts as four of them.
  const auto before = [&](std::uint64_t vertex) {
    return static_cast<Uint128>(offsets[vertex] - first) * kEdgesBeforeVertices * vertices +
           static_cast<Uint128>(vertex) * std::max(edges, vertices);
  };
  std::vector<PlainId> bounds{0};
  for (std::uint32_t part = 1; part < parts; ++part) {
    const Uint128 wanted = before(vertices) / parts * part;
    const std::uint64_t cut = first_of(std::uint64_t{bounds.back()}, vertices,
                                       [&](std::uint64_t v) { return before(v) >= wanted; });
    bounds.push_back(static_cast<PlainId>(cut));
  }
  bounds.push_back(static_cast<PlainId>(vertices));
  return bounds;
}

RangeOwnership::RangeOwnership(std::vector<PlainId> bounds) : bounds_(std::move(bounds)) {
  const PlainId vertices = bounds_.back();
  const auto width = static_cast<unsigned>(std::bit_width(vertices));
  shift_ = width > 16 ? width - 16 : 0;
  for (std::uint64_t first = 0; first < vertices; first += std::uint64_t{1} << shift_) {
    std::uint32_t p = hint_.empty() ? 0 : hint_.back();
    while (first >= bounds_[p + 1]) ++p;
    hint_.push_back(p);
  }
}

Ownership::Ownership(Scheme scheme, std::uint64_t vertices, int processes)
    : scheme_(std::move(scheme)), vertices_(vertices), processes_(processes) {
  const auto parts = static_cast<std::uint64_t>(processes);
  if (hashed() != nullptr) check_owned((vertices + parts - 1) / parts);
  if (const auto* const ranges = std::get_if<RangeOwnership>(&scheme_))
    for (std::size_t p = 0; p < parts; ++p) check_owned(ranges->bounds()[p + 1] - ranges->bounds()[p]);
}

Ownership Ownership::hash(std::uint64_t vertices, int processes) {
  return {HashOwnership(vertices, static_cast<std::uint32_t>(processes)), vertices, processes};
}

Ownership Ownership::ranges(std::span<const std::uint64_t> offsets, int processes) {
  return ranges(offsets.size() - 1, offsets.back(), processes, [offsets](std::uint64_t edge) {
    return std::lower_bound(offsets.begin(), offsets.end() - 1, edge) - offsets.begin();
  });
}

Ownership Ownership::ranges(std::uint64_t vertices, std::uint64_t edges, int processes,
                            const std::function<std::uint64_t(std::uint64_t)>& first_from) {
  const auto parts = static_cast<std::size_t>(processes);
  std::vector<PlainId> bounds(parts + 1);
  for (std::size_t p = 1; p <= parts; ++p) {
    const std::uint64_t cut = edges == 0 ? share(vertices, p, parts) : first_from(share(edges, p, parts));
    bounds[p] = std::max(bounds[p - 1], static_cast<PlainId>(cut));
  }
  bounds.back() = static_cast<PlainId>(vertices);
  return {RangeOwnership(std::move(bounds)), vertices, processes};
}

std::uint32_t Ownership::count_below(std::uint32_t owner, std::uint64_t end) const noexcept {
  return visit([&](const auto& scheme) {
    return first_of(0U, scheme.count(owner), [&](std::uint32_t local) {  // local numbers ascend with ids
      return scheme.vertex(owner, LocalNumber(local)) >= end;
    });
  });
}

Ownership Ownership::even_ranges(std::span<const std::uint64_t> offsets, int processes) {
  return {RangeOwnership(cut_evenly(offsets, static_cast<std::uint32_t>(processes))), offsets.size() - 1,
          processes};
}

bool Ownership::is_name_of_ranges(std::string_view how) noexcept { return how == "ranges" || how == kRange; }

Ownership Ownership::create(const std::string& how, std::span<const std::uint64_t> offsets, int processes) {
  if (how == "hash") return hash(offsets.size() - 1, processes);
  if (is_name_of_ranges(how)) return ranges(offsets, processes);
  if (owns_edges(how)) return even_ranges(offsets, processes);
  check_ownership_name(how, kVertexOwnershipNames);
  if (partition_file(how) != how)
    throw UsageError(
        fmt::format("{}: nothing is chosen here: name hash, ranges, hilbert, grid or a partition file",
                    opt::ownership(how)));
  return from_file(how, offsets.size() - 1, processes);
}

void check_ownership_name(const std::string& how, std::span<const std::string_view> offered) {
  if (how.empty())
    throw UsageError(fmt::format(
        "{}: it is empty; name hash, ranges, hilbert, grid, auto or a partition file", opt::ownership));
  const std::string path = partition_file(how);
  if (path.empty()) {
    if (!how.starts_with(kAuto)) return;
    throw UsageError(fmt::format("{}: name a partition file behind auto, as in auto,parts.txt or auto,./hash",
                                 opt::ownership(how)));
  }
  std::error_code none;
  const bool is_missing = std::filesystem::status(path, none).type() == std::filesystem::file_type::not_found;
  if (path.find('/') != std::string::npos || !is_missing) return;
  if (path != how)
    throw UsageError(fmt::format("{}: there is no file {} here; name a file elsewhere with its path",
                                 opt::ownership(how), path));
  const std::vector<std::string> names(offered.begin(), offered.end());
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
  const std::string meant = nearest(how, names);
  throw UsageError(fmt::format(
      "{}: it is none of {}, and no file here{} (name a partition file with its path, as ./{})",
      opt::ownership(how), list, meant.empty() ? "" : fmt::format("; did you mean {}?", meant), how));
}

bool owns_edges(std::string_view ownership) noexcept { return ownership == "hilbert" || ownership == "grid"; }

std::string partition_file(const std::string& how) {
  const std::string name = how.starts_with(kAuto) ? how.substr(kAuto.size()) : how;
  return name == kRange || std::ranges::find(kOwnershipNames, name) != kOwnershipNames.end() ? "" : name;
}

std::string fact_of(const std::string& how) {
  const std::string path = partition_file(how);
  std::error_code cause;
  const auto status = std::filesystem::status(path, cause);
  if (!path.empty() && status.type() == std::filesystem::file_type::none)
    throw Error(fmt::format("{}: cannot read the partition file: {}", path, reason(cause.value())));
  if (!std::filesystem::is_regular_file(status)) return how;
  const MappedFile file(path);
  return fmt::format("{}a partition file with checksum {:016x}", path == how ? "" : "auto,",
                     checksum(file.data(), file.bytes()));
}

}  // namespace edgewire::partition
