#include "frontier/betweenness_apart.h"

#include <atomic>

#include "exchange/barrier.h"
#include "frontier/betweenness.h"
#include "frontier/superstep.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kBytesOfAVertex = 40;                 // in the searches of a worker
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;  // of a process
constexpr std::uint64_t kRowsAtOnce = 1 << 14;

}  // namespace

bool BetweennessApart::pays(FrontierJob& job, std::size_t sources) {
  const auto workers = static_cast<std::uint64_t>(job.pool().workers());
  const auto all = workers * static_cast<std::uint64_t>(job.bootstrap().size());
  return all > 1 && sources >= 2 * all && workers * job.graph().vertices() * kBytesOfAVertex <= kMostBytes;
}

BetweennessApart::BetweennessApart(FrontierJob& job)
    : job_(job), sums_(static_cast<std::size_t>(job.pool().workers())), scores_(job.owned()) {
  const std::uint64_t vertices = job.graph().vertices();
  job.pool().for_each((vertices + kRowsAtOnce - 1) / kRowsAtOnce, [&](int, std::uint64_t piece) {
    job_.graph().verify_rows(piece * kRowsAtOnce, std::min(vertices, (piece + 1) * kRowsAtOnce));
  });
}

std::vector<Superstep> BetweennessApart::run(std::span<const std::uint32_t> sources) {
  std::vector<Superstep> steps(2);
  steps[0].kind = kSearches;
  steps[1].kind = kSums;
  {
    const Meter meter(job_);
    search(sources, steps[0]);
    meter.stop(steps[0]);
  }
  const Meter meter(job_);
  std::vector<Superstep> sent(sums_.size());
  job_.pool().run([&](int lane) { send_sums(lane, sent[static_cast<std::size_t>(lane)]); });
  for (const Superstep& one : sent) steps[1].frontier += one.frontier;
  meter.stop(steps[1]);
  exchange::barrier(job_.bootstrap(), job_.link());
  return steps;
}

/// Processes take the sources in turn; in a process a worker takes the next one when it is free.
void BetweennessApart::search(std::span<const std::uint32_t> sources, Superstep& done) {
  const auto processes = static_cast<std::size_t>(job_.bootstrap().size());
  std::vector<Superstep> found(sums_.size());
  std::atomic<std::size_t> next{0};
  job_.pool().run([&](int w) {
    const auto worker = static_cast<std::size_t>(w);
    const auto take = [&] { return next.fetch_add(1) * processes + job_.rank(); };
    std::size_t at = take();
    if (at >= sources.size()) return;
    try {
      Betweenness betweenness(job_, true);
      for (; at < sources.size(); at = take()) betweenness.search_from(sources[at], found[worker]);
      sums_[worker] = betweenness.scores();
    } catch (...) {
      next = sources.size();  // the others stop
      throw;
    }
  });
  for (const Superstep& one : found) {
    done.frontier += one.frontier;
    done.edges += one.edges;
  }
}

/// To the owners. A lane has the same vertices in all processes, so it alone adds to their scores.
void BetweennessApart::send_sums(int lane, Superstep& done) {
  const std::uint64_t vertices = job_.graph().vertices(), lanes = sums_.size();
  const auto i = static_cast<std::uint64_t>(lane);
  const auto take = [this](const WideRecord& record) { scores_[record.vertex] += record.number(); };
  for (auto v = static_cast<std::uint32_t>(vertices * i / lanes); v < vertices * (i + 1) / lanes; ++v) {
    double sum = 0;
    for (const auto& one : sums_) sum += one.empty() ? 0 : one[v];
    if (sum == 0) continue;
    const plan::Place place = job_.ownership().place(v);
    if (place.owner == job_.rank()) {
      scores_[place.local] += sum;
      continue;
    }
    ++done.frontier;
    job_.records().send(lane, static_cast<int>(place.owner), WideRecord(place.local, sum), take);
  }
  if (job_.bootstrap().size() > 1) job_.records().finish<WideRecord>(lane, take);
}

}  // namespace edgewire::frontier
