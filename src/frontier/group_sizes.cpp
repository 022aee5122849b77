#include "frontier/group_sizes.h"

#include <array>
#include <atomic>
#include <bit>
#include <functional>

#include "base/error.h"
#include "base/mixing.h"
#include "launch/packing.h"

namespace edgewire::frontier {

namespace {

constexpr std::size_t kKept = 1024;

/// Counts by label that a worker has not passed on. Most vertices have one of a few labels, so most counts
/// are large when they leave.
class Kept {
 public:
  /// Adds a vertex to the count of its label. It calls pass(label, count) for what has to leave.
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
  std::array<Record, kKept> places_{};  ///< (label, count)
};
static_assert(kKept == std::size_t{1} << (32 - 22));

PlainId number_in(const Record& record) { return record.value; }
PlainId number_in(const WideRecord& record) {
  return static_cast<PlainId>(std::bit_cast<std::uint64_t>(record.value));
}
void set_number(Record& record, PlainId number) { record.value = number; }
void set_number(WideRecord& record, PlainId number) { record = {record.vertex, std::uint64_t{number}}; }

/// [local number]: how many vertices have this vertex as their label. Records are of type Any.
template <class Any>
std::vector<std::atomic<PlainId>> count(FrontierJob& job, std::span<const PlainId> labels) {
  std::vector<std::atomic<PlainId>> counts(job.owned());
  const auto take = [&](const Any& record) {
    if (record.vertex >= counts.size()) throw Error("a process has counted a label that does not exist");
    counts[record.vertex].fetch_add(number_in(record), std::memory_order_relaxed);
  };
  job.pool().run([&](int lane) {
    const auto [first, last] = job.pool().part(lane, labels.size());
    const auto mine = labels.subspan(first, last - first);
    job.ownership().visit([&](const auto& scheme) {
      const auto pass = [&](PlainId label, PlainId number) {
        const Home home = scheme.home(VertexId(label));
        Any record;
        record.vertex = home.local;
        set_number(record, number);
        if (home.owner == job.rank())
          take(record);
        else
          job.records().send(lane, static_cast<int>(home.owner), record, take);
      };
      Kept kept;
      for (const PlainId label : mine) kept.add(label, pass);
      kept.pass_all(pass);
    });
    if (job.bootstrap().size() > 1) job.records().template finish<Any>(lane, take);
  });
  return counts;
}

}  // namespace

GroupSizes count_groups(FrontierJob& job, std::span<const PlainId> labels, std::uint64_t largest) {
  const bool wide = job.record_bytes() == sizeof(WideRecord);
  if (!wide) job.expect_records(sizeof(Record));
  const auto counts = wide ? count<WideRecord>(job, labels) : count<Record>(job, labels);
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
