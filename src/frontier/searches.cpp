#include "frontier/searches.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "launch/packing.h"
#include "options/kernels.h"

namespace edgewire::frontier {

bool Searches::apart(const SearchPlan& plan, std::uint64_t worker_bytes,
                     std::uint64_t source_bytes) noexcept {
  constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;  // most bytes of memory of a process
  if (plan.apart) return *plan.apart;
  const auto processes = static_cast<std::uint64_t>(plan.processes),
             workers = static_cast<std::uint64_t>(plan.workers), all = processes * workers;
  const std::uint64_t kept = plan.sources / processes + 1;
  // Else the rows of the file serve.
  const std::uint64_t rows = kIds64 ? 4 * plan.edges + 8 * plan.vertices : 0;
  return !plan.on_disks && all > 1 && plan.sources >= 2 * all &&
         plan.vertices * (workers * worker_bytes + kept * source_bytes) + rows <= kMostBytes;
}

Searches::Searches(Job& job, Make make)
    : job_(job),
      make_(std::move(make)),
      places_(static_cast<std::size_t>(job.pool().workers())),
      free_(places_.size()) {
  job.expect_tasks();
  if (job.graph().vertices() > kMostOfAProcess)
    throw Error(fmt::format(
        "{}: each process would search all {} vertices alone, but can search at most {}: search with "
        "all processes together ({}), which weighted and {} bc cannot",
        job.graph().path(), job.graph().vertices(), kMostOfAProcess, opt::parallel("levels"),
        opt::deterministic));
  if (kIds64)
    rows_.emplace(partition::Ownership::hash(job.graph().vertices(), 1).count(0), nullptr, job.pool(),
                  [&job](LocalNumber v) {
                    return graph::Row{job.graph(), VertexId(PlainId{v})}.targets();
                  });
  std::iota(free_.rbegin(), free_.rend(), std::size_t{0});
  search_ = registry_.add(
      "search", [this](tasks::Context& task) -> tasks::Task { co_return search(task.argument<Turn>()); });
  all_ = registry_.add("searches", [this](tasks::Context& task) -> tasks::Task {
    std::vector<tasks::Ref> refs;
    const auto processes = static_cast<std::size_t>(job_.bootstrap().size());
    const std::size_t all = places_.size() * processes, count = sources_.size();
    for (std::size_t i = 0; i < (in_order_ ? std::min(all, count) : count); ++i) {
      const Turn turn = in_order_ ? Turn{i, all, i / processes} : Turn{i, count, kAnyPlace};
      refs.push_back(task.spawn(search_, tasks::to_bytes(turn), {}, process_of(i)));
    }
    for (const tasks::Ref& ref : refs) found_.push_back((co_await task.take(ref)).bytes);
    co_return "";
  });
}

std::vector<std::vector<Superstep>> Searches::run(std::span<const VertexId> sources, bool in_order,
                                                  std::size_t later) {
  for (const VertexId source : sources) job_.expect_vertex(source);
  sources_ = sources;
  in_order_ = in_order;
  found_.clear();
  given_ += mine_of(sources.size());
  later_ = mine_of(later);
  run_task(all_);
  std::vector<std::vector<Superstep>> steps;
  std::vector<std::uint64_t> counts;
  for (const std::string& bytes : found_) {
    steps.push_back(launch::unpack<Superstep>(bytes, 0));
    counts.push_back(steps.back().size());
  }
  const auto said = job_.bootstrap().allgather(launch::pack(counts));
  if (job_.rank() > 0)
    for (const std::uint64_t count : launch::unpack<std::uint64_t>(said[0], 0)) steps.emplace_back(count);
  return steps;
}

std::string Searches::search(const Turn& turn) {
  Place& place = borrow(turn.place);
  std::vector<Superstep> did;
  for (std::size_t i = turn.first; i < sources_.size(); i += turn.step) {
    const auto more = place.searcher->search(i, sources_[i]);
    did.insert(did.end(), more.begin(), more.end());
    const std::uint64_t done = searched_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (job_.progress()) job_.progress()({"searching", done, given_ + later_, "sources"});
  }
  if (turn.place == kAnyPlace) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(static_cast<std::size_t>(&place - places_.data()));
  }
  return launch::pack(did);
}

/// Returns the number of `sources` from which this process searches, see process_of().
std::uint64_t Searches::mine_of(std::size_t sources) const noexcept {
  const auto size = static_cast<std::uint64_t>(job_.bootstrap().size());
  return (sources + size - 1 - job_.rank()) / size;
}

/// Returns a free place. There is always one: a worker is in at most one search.
Searches::Place& Searches::borrow(std::size_t index) {
  if (index == kAnyPlace) {
    const std::scoped_lock lock(mutex_);
    index = free_.back();
    free_.pop_back();
  }
  Place& place = places_[index];
  if (!place.searcher) {
    place.alone = launch::alone();
    place.job = std::make_unique<Job>(*place.alone, job_.graph(),
                                      rows_ ? std::optional(rows_->rows()) : std::nullopt);
    place.searcher = make_(*place.job);
  }
  return place;
}

}  // namespace edgewire::frontier
