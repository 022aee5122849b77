#include "frontier/betweenness_apart.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/seconds.h"
#include "frontier/betweenness.h"
#include "frontier/betweenness_weighted.h"
#include "launch/packing.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kBytesOfAVertex = 40;  // in the searches of a worker: of Betweenness, and scores

class ScoredSearcher : public Searcher {
 public:
  virtual const std::vector<double>& scores() const = 0;
};

template <class Kernel>
class BetweennessSearcher final : public ScoredSearcher {
 public:
  BetweennessSearcher(FrontierJob& alone, bool endpoints) : kernel_(alone, endpoints) {}

  std::vector<Superstep> search(std::size_t, VertexId source) override {
    Superstep sum;
    for (const Superstep& step : kernel_.run(std::span(&source, 1))) {
      if (step.kind == Betweenness::kForward) sum.frontier += step.frontier;
      sum.edges += step.edges;
    }
    return {sum};
  }
  const std::vector<double>& scores() const override { return kernel_.scores(); }

 private:
  Kernel kernel_;
};

std::unique_ptr<Searcher> make_searcher(FrontierJob& alone, const BetweennessApartOptions& options) {
  if (!options.weighted) return std::make_unique<BetweennessSearcher<Betweenness>>(alone, options.endpoints);
  if (graph::is_whole(alone.graph().weights().type()))
    return std::make_unique<BetweennessSearcher<BetweennessWeighted<std::uint64_t>>>(alone,
                                                                                     options.endpoints);
  return std::make_unique<BetweennessSearcher<BetweennessWeighted<double>>>(alone, options.endpoints);
}

/// Adds the time and bytes since `start`, and tells the job's listener.
void stop(FrontierJob& job, const Searches& searches, Clock::time_point start, Superstep& done) {
  done.seconds = seconds_since(start);
  const std::uint64_t record_bytes = done.sent.record_bytes;
  done.sent = searches.sent();
  done.sent.record_bytes = record_bytes;
  job.tell(done);
}

}  // namespace

bool BetweennessApart::chosen(const SearchPlan& plan, const BetweennessApartOptions& options) {
  return options.in_order || options.weighted || Searches::apart(plan, kBytesOfAVertex);
}

/// The sums of processes p, 2p + 1 and 2p + 2, and so on.
BetweennessApart::BetweennessApart(FrontierJob& job, const BetweennessApartOptions& options)
    : job_(job),
      in_order_(options.in_order),
      searches_(job, [options](FrontierJob& alone) { return make_searcher(alone, options); }) {
  if (options.weighted) expect_positive_weights(job);
  sums_ = searches_.registry().add("sums", [this](tasks::Context& task) -> tasks::Task {
    const int first = 2 * task.process() + 1;
    std::vector<tasks::Ref> theirs;
    for (int child = first; child < std::min(first + 2, task.processes()); ++child)
      theirs.push_back(task.spawn(sums_, {}, {}, child));
    std::vector<double> sums = own_sums();
    for (const tasks::Ref& ref : theirs) {
      const tasks::Result found = co_await task.take(ref);
      if (found.bytes.size() != sums.size() * sizeof(double)) throw Error("a process has other sums");
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

std::vector<double> BetweennessApart::own_sums() const {
  std::vector<double> sums(job_.graph().vertices());
  searches_.for_each_searcher([&](const Searcher& searcher) {
    const auto& scores = static_cast<const ScoredSearcher&>(searcher).scores();
    for (std::size_t v = 0; v < sums.size(); ++v) sums[v] += scores[v];
  });
  return sums;
}

void BetweennessApart::take_up(std::vector<double> scores) {
  if (scores.size() != (job_.rank() == 0 ? job_.graph().vertices() : 0))
    throw Error("there are scores of other vertices");
  before_ = std::move(scores);
}

std::vector<Superstep> BetweennessApart::run(std::span<const VertexId> sources, std::size_t later) {
  std::vector<Superstep> steps(2);
  steps[0].kind = kSearches;
  steps[0].step = sources.size();
  auto start = Clock::now();
  for (const auto& did : searches_.run(sources, in_order_, later))
    for (const Superstep& one : did) {
      steps[0].frontier += one.frontier;
      steps[0].edges += one.edges;
    }
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

}  // namespace edgewire::frontier
