#include "edgewire/frontier.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "frontier/frontier_engine.h"
#include "frontier/frontier_job.h"
#include "frontier/records.h"
#include "partition/gather_values.h"

namespace edgewire::detail {

FrontierState::FrontierState(const std::shared_ptr<frontier::Job>& job, std::size_t record_bytes,
                             frontier::SuperstepLog* log, const frontier::Boundary* boundary)
    : rank_(job->rank()),
      owned_(job->owned()),
      known_(boundary != nullptr ? boundary->known() : job->known()),
      record_bytes_((record_bytes + job->record_bytes() - 1) / job->record_bytes() * job->record_bytes()),
      waiting_(known_ / 64 + std::size_t{1}),
      news_(static_cast<std::size_t>(job->pool().workers())) {
  job->expect_records(job->record_bytes());
  engine_ = std::make_unique<Engine>(*this, job, log, boundary != nullptr ? *boundary : job->boundary());
}

FrontierState::~FrontierState() = default;

bool FrontierState::is_only() const noexcept { return engine_->job().is_only(); }

const Graph& FrontierState::graph() const noexcept { return engine_->job().graph(); }

std::vector<LocalNumber> FrontierState::all() const {
  std::vector<std::uint32_t> numbers(owned());
  std::iota(numbers.begin(), numbers.end(), 0U);
  return {numbers.begin(), numbers.end()};
}

VertexId FrontierState::vertex(LocalNumber local) const noexcept {
  return engine_->job().ownership().vertex(rank(), local);
}

VertexId FrontierState::vertex(KnownNumber number) const noexcept {
  return number < owned() ? vertex(LocalNumber(number)) : engine_->boundary().vertex(number);
}

Home FrontierState::home(VertexId vertex) const noexcept { return engine_->job().ownership().home(vertex); }

std::uint64_t FrontierState::degree(LocalNumber local) const noexcept { return engine_->job().degree(local); }

std::uint64_t FrontierState::sum(std::uint64_t mine) { return engine_->job().sum_of_all(mine); }

Totals FrontierState::totals(std::span<const LocalNumber> frontier) {
  engine_->expect(frontier);
  return engine_->totals(frontier);
}

std::vector<LocalNumber> FrontierState::pull(std::span<const LocalNumber> frontier,
                                             std::span<std::uint64_t> wanted, const Reach& reach,
                                             const MorePulls& more) {
  engine_->expect(frontier);
  if (wanted.size() * 64 < known())
    throw UsageError(fmt::format("pull: {} words have no room for {} vertices", wanted.size(), known()));
  return engine_->pull(frontier, wanted, reach, more);
}

void FrontierState::set_kind(std::uint64_t kind) noexcept { engine_->set_kind(kind); }

std::vector<LocalNumber> FrontierState::superstep(std::span<const LocalNumber> frontier, const Calls& calls) {
  engine_->expect(frontier);
  std::vector<LocalNumber> next;
  engine_->superstep(frontier, calls, next);
  return next;
}

std::vector<LocalNumber> FrontierState::follow(std::vector<LocalNumber> frontier, const Calls& calls,
                                               const More& more) {
  engine_->expect(frontier);
  return engine_->follow(std::move(frontier), calls, more);
}

std::vector<LocalNumber> FrontierState::settle(std::vector<LocalNumber> frontier, const Calls& calls,
                                               std::uint64_t most_supersteps) {
  engine_->expect(frontier);
  return engine_->settle(std::move(frontier), calls, most_supersteps);
}

void FrontierState::settle_in_order(std::span<const LocalNumber> frontier, const Calls& calls) {
  engine_->expect(frontier);
  engine_->settle_in_order(frontier, calls);
}

std::vector<LocalNumber> FrontierState::within(std::span<const LocalNumber> frontier, const Calls& calls) {
  engine_->expect(frontier);
  return engine_->within(frontier, calls);
}

std::vector<KnownNumber> FrontierState::broadcast(std::span<const std::uint64_t> which, const Calls& calls) {
  if (which.size() * 64 < owned())
    throw UsageError(fmt::format("broadcast: {} words have no room for {} vertices", which.size(), owned()));
  return engine_->broadcast(which, calls);
}

void FrontierState::answer(std::span<const Told> told, const Calls& calls) { engine_->answer(told, calls); }

std::vector<LocalNumber> FrontierState::exchange(const std::function<void(int)>& work, const Calls& calls) {
  return engine_->exchange(work, calls);
}

void FrontierState::tell(int worker, KnownNumber vertex, Record& record, const Calls& calls) {
  engine_->tell(worker, vertex, record, calls);
}

void FrontierState::tell(int worker, Home vertex, Record& record, const Calls& calls) {
  engine_->tell(worker, vertex, record, calls);
}

void FrontierState::gather(std::span<const std::byte> mine, std::size_t value_bytes,
                           const std::function<std::byte*(std::uint64_t)>& room) {
  if (mine.size() != owned() * value_bytes)
    throw UsageError(fmt::format("gather: rank {} owns {} vertices, and has {} values", rank(), owned(),
                                 mine.size() / value_bytes));
  partition::gather_bytes(engine_->job().bootstrap(), engine_->job().ownership(), mine, value_bytes, room);
}

}  // namespace edgewire::detail
