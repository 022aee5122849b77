#include "edgewire/frontier.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "base/error.h"
#include "frontier/frontier_job.h"
#include "frontier/records.h"
#include "frontier/superstep.h"
#include "library/job_options.h"
#include "partition/gather_values.h"
#include "runs/frontier_kernel.h"

namespace edgewire::detail {

struct FrontierState::Job {
  std::unique_ptr<frontier::FrontierJob> own;  ///< null: it is another one's
  frontier::FrontierJob& job;
  std::size_t record_bytes;
  frontier::SuperstepLog* log;  ///< null: nobody wants to know

  Home home(KnownNumber number) noexcept {
    if (number < job.owned()) return {job.rank(), LocalNumber(std::uint32_t{number})};
    return job.boundary().home(number);
  }
  /// Calls call(tag) with a value of the type that records have.
  template <class Call>
  void with_record(const Call& call) {
    if (record_bytes == sizeof(frontier::ShortRecord))
      call(frontier::ShortRecord{});
    else
      call(frontier::WideRecord{});
  }
};

namespace {

frontier::Options options_of(launch::Bootstrap& bootstrap, const JobOptions& asked, const std::string& kernel,
                             std::size_t record_bytes) {
  expect_only(asked, "a frontier job", {options::Part::graph, options::Part::weights});
  frontier::Options options = runs::frontier_options(job_options(bootstrap, asked));
  options.kernel =
      fmt::format("{}, records of {} bytes{}", kernel, record_bytes, asked.weighted ? ", weights" : "");
  options.record_bytes = record_bytes;
  options.disks.weighted = asked.weighted;
  return options;
}

/// Makes a function that takes a record of any type of `take`, which takes its bytes.
auto as_bytes(const std::function<void(const std::byte*)>& take) {
  return [&take](const auto& record) { take(reinterpret_cast<const std::byte*>(&record)); };
}

}  // namespace

FrontierState::FrontierState(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                             const std::string& kernel, std::size_t record_bytes, const JobOptions& options) {
  auto own = std::make_unique<frontier::FrontierJob>(bootstrap, graph,
                                                     options_of(bootstrap, options, kernel, record_bytes));
  auto& job = *own;
  job.make_rows();
  job_.reset(new Job{std::move(own), job, record_bytes, nullptr});
}

FrontierState::FrontierState(frontier::FrontierJob& within, std::size_t record_bytes,
                             frontier::SuperstepLog& log)
    : job_(new Job{nullptr, within, record_bytes, &log}) {
  within.expect_records(record_bytes);
  within.make_rows();
}

FrontierState::~FrontierState() = default;

const graph::GraphFile& FrontierState::graph() const noexcept { return job_->job.graph(); }

std::uint32_t FrontierState::owned() const noexcept { return job_->job.owned(); }

VertexId FrontierState::vertex(LocalNumber local) const noexcept {
  return job_->job.ownership().vertex(rank(), local);
}

Home FrontierState::home(VertexId vertex) const noexcept { return job_->job.ownership().home(vertex); }

std::uint64_t FrontierState::sum(std::uint64_t mine) { return job_->job.sum_of_all(std::array{mine})[0]; }

std::uint32_t FrontierState::rank() const noexcept { return job_->job.rank(); }

void FrontierState::send(int worker, std::uint32_t process, const std::byte* record, const Take& take) {
  job_->with_record([&]<class Any>(Any copy) {
    std::memcpy(&copy, record, sizeof copy);
    job_->job.records().send(worker, static_cast<int>(process), copy, as_bytes(take));
  });
}

void FrontierState::run(std::span<const LocalNumber> frontier,
                        const std::function<void(int, const FrontierRow&)>& visit, const Take& take) {
  const auto other = std::ranges::find_if(frontier, [&](LocalNumber v) { return v >= owned(); });
  if (other != frontier.end())
    throw UsageError(fmt::format("frontier: {} is no local number of rank {}, which owns {} vertices",
                                 std::uint32_t{*other}, rank(), owned()));
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> edges{0};
  const auto list = numbered<KnownNumber>(plain(frontier));
  const auto work = [&](int worker) {
    std::vector<Home> homes;
    std::uint64_t followed = 0;
    job_->job.each_shared_row(worker, list, next, [&](const frontier::KnownEdges& row) {
      homes.clear();
      for (const KnownNumber target : row.targets) homes.push_back(job_->home(target));
      followed += homes.size();
      visit(worker, {row.vertex, homes, row.weights});
    });
    edges += followed;
    job_->with_record([&]<class Any>(Any) { job_->job.records().finish<Any>(worker, as_bytes(take)); });
  };
  if (job_->log == nullptr) return job_->job.pool().run(work);
  job_->log->step(0, [&](frontier::Superstep& done) {
    job_->job.pool().run(work);
    done.frontier = frontier.size();
    done.edges = edges;
  });
}

void FrontierState::gather(std::span<const std::byte> mine, std::size_t value_bytes,
                           const std::function<std::byte*(std::uint64_t)>& room) {
  if (mine.size() != owned() * value_bytes)
    throw UsageError(fmt::format("gather: rank {} owns {} vertices, and has {} values", rank(), owned(),
                                 mine.size() / value_bytes));
  partition::gather_bytes(job_->job.bootstrap(), job_->job.ownership(), mine, value_bytes, room);
}

}  // namespace edgewire::detail
