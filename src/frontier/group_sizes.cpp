#include "frontier/group_sizes.h"

#include <array>
#include <atomic>
#include <functional>

#include "base/mixing.h"
#include "edgewire/frontier.h"
#include "frontier/records.h"
#include "launch/packing.h"

namespace edgewire::frontier {

namespace {

constexpr std::size_t kKept = 1024;

/// Counts by label that a worker keeps. Few labels have most vertices, so most counts are large at last.
class Kept {
 public:
  /// Adds a vertex to the count of its label. It calls pass(label, count) for a count that has to leave.
  template <class Pass>
  void add(PlainId label, const Pass& pass) {
    Record& place = places_[folded(label) * kGolden32 >> 22];
    if (place.value > 0 && place.vertex != label) {
      pass(place.vertex, place.value);
      place.value = 0;
    }
    place.vertex = label;
    ++place.value;
  }
  template <class Pass>
  void pass_all(const Pass& pass) {
    for (const Record& place : places_)
      if (place.value > 0) pass(place.vertex, place.value);
  }

 private:
  std::array<Record, kKept> places_{};  ///< records (label, count)
};
static_assert(kKept == std::size_t{1} << (32 - 22));

/// Returns the number of vertices that have an owned vertex as their label, by local number.
std::vector<std::atomic<PlainId>> count(Job& job, std::span<const PlainId> labels) {
  std::vector<std::atomic<PlainId>> counts(job.owned());
  edgewire::FrontierJob<PlainId>(job).exchange(
      [&](int lane, const auto& tell) {
        const auto [first, last] = job.pool().part(lane, labels.size());
        job.ownership().visit([&, first = first, last = last](const auto& scheme) {
          const auto pass = [&](PlainId label, PlainId number) {
            tell(scheme.home(VertexId(label)), number);
          };
          Kept kept;
          for (const PlainId label : labels.subspan(first, last - first)) kept.add(label, pass);
          kept.pass_all(pass);
        });
      },
      [&counts](KnownNumber label, PlainId number) {
        counts[label].fetch_add(number, std::memory_order_relaxed);
        return false;
      });
  return counts;
}

}  // namespace

GroupSizes count_groups(Job& job, std::span<const PlainId> labels, std::uint64_t largest) {
  const auto counts = count(job, labels);
  GroupSizes sizes;
  process::TopK<std::uint64_t> highest(largest);
  for (LocalNumber local{}; local < counts.size(); ++local) {
    const PlainId size = counts[local].load(std::memory_order_relaxed);
    if (size == 0) continue;
    ++sizes.groups;
    sizes.singles += size == 1 ? 1 : 0;
    highest.add({size, job.ownership().vertex(job.rank(), local)});
  }
  sizes.groups = launch::allreduce(job.bootstrap(), sizes.groups, std::plus<>());
  sizes.singles = launch::allreduce(job.bootstrap(), sizes.singles, std::plus<>());
  sizes.largest = process::top_k_of_all(job.bootstrap(), largest, highest.take());
  return sizes;
}

}  // namespace edgewire::frontier
