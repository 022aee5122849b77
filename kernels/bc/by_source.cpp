#include "kernels/bc/by_source.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/seconds.h"
#include "launch/packing.h"

namespace edgewire::kernels {

namespace {

constexpr std::uint64_t kBytesOfAVertex = 40;  // bytes of a worker's search and scores for each vertex

class BcSearcher final : public frontier::Searcher {
 public:
  BcSearcher(frontier::Job& alone, const BcOptions& options) : sums_(alone, options) {}

  std::vector<frontier::Superstep> search(std::size_t, VertexId source) override {
    frontier::Superstep sum;
    for (const frontier::Superstep& step : sums_.run(std::span(&source, 1))) {
      if (step.kind == Bc::kForward) sum.frontier += step.frontier;
      sum.edges += step.edges;
    }
    return {sum};
  }
  const std::vector<double>& scores() const { return sums_.scores(); }

 private:
  Bc sums_;
};

/// Adds the time and bytes since `start`, and tells the job's listener.
void stop(frontier::Job& job, const frontier::Searches& searches, Clock::time_point start,
          frontier::Superstep& done) {
  done.seconds = seconds_since(start);
  const std::uint64_t record_bytes = done.sent.record_bytes;
  done.sent = searches.sent();
  done.sent.record_bytes = record_bytes;
  job.tell(done);
}

}  // namespace

bool BcBySource::chosen(const frontier::SearchPlan& plan, const BcOptions& options) {
  return options.deterministic || options.weighted || frontier::Searches::apart(plan, kBytesOfAVertex);
}

/// The sums add up as a tree: process p takes the sums of processes 2p + 1 and 2p + 2, and so on.
BcBySource::BcBySource(frontier::Job& job, const BcOptions& options)
    : job_(job), in_order_(options.deterministic), searches_(job, [options](frontier::Job& alone) {
        return std::make_unique<BcSearcher>(alone, options);
      }) {
  if (options.weighted) expect_positive_weights(job);
  sums_ = searches_.registry().add("sums", [this](tasks::Context& task) -> tasks::Task {
    const int first = 2 * task.process() + 1;
    std::vector<tasks::Ref> theirs;
    for (int child = first; child < std::min(first + 2, task.processes()); ++child)
      theirs.push_back(task.spawn(sums_, {}, {}, child));
    std::vector<double> sums = own_sums();
    for (const tasks::Ref& ref : theirs) {
      const tasks::Result found = co_await task.take(ref);
      if (found.bytes.size() != sums.size() * sizeof(double))
        throw Error("a process has sent sums of other vertices");
      for (std::size_t v = 0; v < sums.size(); ++v) {
        double more = 0;
        std::memcpy(&more, &found.bytes[v * sizeof more], sizeof more);
        sums[v] += more;
      }
    }
    co_return launch::pack(sums);
  });
  searches_.connect();
}

std::vector<double> BcBySource::own_sums() const {
  std::vector<double> sums(job_.graph().vertices());
  searches_.for_each_searcher([&](const frontier::Searcher& searcher) {
    const auto& scores = static_cast<const BcSearcher&>(searcher).scores();
    for (std::size_t v = 0; v < sums.size(); ++v) sums[v] += scores[v];
  });
  return sums;
}

void BcBySource::resume(std::vector<double> scores) {
  if (scores.size() != (job_.rank() == 0 ? job_.graph().vertices() : 0))
    throw Error("the scores are those of other vertices");
  before_ = std::move(scores);
}

std::vector<frontier::Superstep> BcBySource::run(std::span<const VertexId> sources, std::size_t later) {
  std::vector<frontier::Superstep> steps(2);
  steps[0].kind = kSearches;
  steps[0].step = sources.size();
  auto start = Clock::now();
  for (const auto& did : searches_.run(sources, in_order_, later))
    for (const frontier::Superstep& one : did) steps[0] += one;
  stop(job_, searches_, start, steps[0]);
  steps[1].kind = kSums;
  start = Clock::now();
  scores_ = launch::unpack<double>(searches_.run_task(sums_), 0);
  for (std::size_t v = 0; v < before_.size(); ++v) scores_[v] += before_[v];
  if (job_.rank() > 0) {
    steps[1].frontier = job_.graph().vertices();
    steps[1].sent.record_bytes = steps[1].frontier * sizeof(double);
  }
  stop(job_, searches_, start, steps[1]);
  return steps;
}

}  // namespace edgewire::kernels
