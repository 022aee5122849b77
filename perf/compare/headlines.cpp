// This file says what follows from a comparison, in a line for each number of processes.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/units.h"
#include "perf/compare/compare.h"

namespace edgewire::perf {

namespace {

/// Two rows over different links, with the same processes and workers. The first one is what the line is
/// about.
struct Pair {
  const CompareRow *one = nullptr, *other = nullptr;
};

/// Chooses the rows of a headline. For dense kernels they are the best strategy over the slowest link, and
/// the best one of 2015 over the fastest. For other kernels they are the best row over the fastest link, and
/// the best one over the slowest. Where there is one link only, it chooses nothing.
Pair choose(const Comparison& comparison, const Cell& like) {
  std::uint64_t slowest = ~std::uint64_t{0}, fastest = 0;
  for (const CompareRow& row : comparison.rows) {
    if (!row.cell.has_processes_of(like)) continue;
    slowest = std::min(slowest, row.cell.link.bits_per_s);
    fastest = std::max(fastest, row.cell.link.bits_per_s);
  }
  const auto best = [&](std::uint64_t rate, bool published) {
    const CompareRow* found = nullptr;
    for (const CompareRow& row : comparison.rows)
      if (row.cell.has_processes_of(like) && row.cell.link.bits_per_s == rate &&
          published == (row.cell.strategy && plan::sends_ids(*row.cell.strategy)) &&
          (found == nullptr || row.seconds.median < found->seconds.median))
        found = &row;
    return found;
  };
  if (slowest == fastest) return {};
  if (comparison.dense()) return {best(slowest, false), best(fastest, true)};
  return {best(fastest, false), best(slowest, false)};
}

std::string name_of(const Comparison& comparison, const CompareRow& row) {
  if (comparison.dense() || row.cell.ownership != "hash")
    return fmt::format("{} with {}", row.cell.link.rate, row.cell.label());
  return row.cell.link.rate;
}

std::string verdict(const Comparison& comparison, const Pair& pair) {
  if (pair.one->above_limit() || pair.other->above_limit()) {
    const CompareRow& above = pair.one->above_limit() ? *pair.one : *pair.other;
    return fmt::format("no conclusion: {} {}", name_of(comparison, above),
                       comparison.dense() ? "was faster than its link allows"
                                          : "sends so little that much of it passes in bursts");
  }
  const auto say = [&](const CompareRow& row) {
    return fmt::format("{} ({})", name_of(comparison, row), readable_seconds(row.seconds.median));
  };
  const Spread &mine = pair.one->seconds, &others = pair.other->seconds;
  const char* found = mine.max < others.min   ? "faster than"
                      : mine.min > others.max ? "slower than"
                                              : "as fast, within the spread of the runs, as";
  return fmt::format("{} is {} {}{}", say(*pair.one), found, say(*pair.other),
                     comparison.dense() ? ", the best strategy of 2015 there" : "");
}

}  // namespace

std::vector<std::string> headlines(const Comparison& comparison) {
  if (comparison.lost_cores()) {
    const profile::LostCores& lost = comparison.lost;
    return {fmt::format(
        "no conclusion: of {} core{} this machine lost {:.2f} while the runs went on ({:.2f} to its "
        "hypervisor, {:.2f} to other programs); compare again when it is quiet",
        comparison.cores, comparison.cores == 1 ? "" : "s", lost.all(), lost.to_hypervisor,
        lost.to_programs)};
  }
  std::vector<std::string> lines;
  std::set<std::pair<int, int>> done;
  for (const CompareRow& row : comparison.rows) {
    const Cell& like = row.cell;
    if (like.processes == 1 || !done.emplace(like.processes, like.workers).second) continue;
    const Pair pair = choose(comparison, like);
    if (pair.one == nullptr || pair.other == nullptr) continue;
    lines.push_back(
        fmt::format("{} processes x {}: {}", like.processes, like.workers, verdict(comparison, pair)));
  }
  return lines;
}

}  // namespace edgewire::perf
