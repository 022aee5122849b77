#include "kernels/bfs/by_source.h"

#include <memory>
#include <string>
#include <utility>

#include "launch/packing.h"

namespace edgewire::kernels {

class BfsBySource::Searcher final : public frontier::Searcher {
 public:
  Searcher(BfsBySource& all, frontier::Job& alone)
      : all_(all), alone_(alone), search_(alone, all.options_.parents) {}

  std::vector<frontier::Superstep> search(std::size_t number, VertexId source) override {
    auto supersteps = search_.run(source);
    all_.answers_[number] = answer_of(alone_, search_, source, all_.options_.question);
    if (all_.options_.checksum) all_.checksums_[number] = all_.options_.checksum(search_.levels());
    if (all_.options_.keep) all_.found_[number] = {search_.levels(), search_.parents()};
    return supersteps;
  }

 private:
  BfsBySource& all_;
  frontier::Job& alone_;
  Bfs search_;
};

bool BfsBySource::chosen(const frontier::SearchPlan& plan, Bfs::Parents parents) {
  constexpr std::uint64_t kBytesOfASearch = kIds64 ? 24 : 16;  // bytes for a vertex in the search of a worker
  return frontier::Searches::apart(plan, kBytesOfASearch,
                                   parents == Bfs::Parents::none ? 4 : 4 + sizeof(PlainId));
}

BfsBySource::BfsBySource(frontier::Job& job, BfsBySourceOptions options)
    : options_(std::move(options)),
      searches_(job, [this](frontier::Job& alone) { return std::make_unique<Searcher>(*this, alone); }) {
  options_.keep = process::count_of_rank_0(job.bootstrap(), options_.keep ? 1 : 0) != 0;
  options_.question.farthest = process::count_of_rank_0(job.bootstrap(), options_.question.farthest);
  give_ = searches_.registry().add("give", [this](tasks::Context& task) -> tasks::Task {
    const BfsFound found = std::exchange(found_[task.argument<std::size_t>()], {});
    co_return launch::pack(found.levels) + launch::pack(found.parents);
  });
  bring_ = searches_.registry().add("bring", [this](tasks::Context& task) -> tasks::Task {
    co_return task.tail_spawn(give_, std::string(task.arguments()), {},
                              searches_.process_of(task.argument<std::size_t>()));
  });
  searches_.connect();
}

std::vector<std::vector<frontier::Superstep>> BfsBySource::run(std::span<const VertexId> sources) {
  found_.resize(sources.size());
  answers_.resize(sources.size());
  checksums_.resize(sources.size());
  return searches_.run(sources, false);
}

BfsFound BfsBySource::bring(std::size_t number) {
  const std::string bytes = searches_.run_task(bring_, tasks::to_bytes(number));
  if (options_.parents == Bfs::Parents::none) return {launch::unpack<std::uint32_t>(bytes, 0), {}};
  constexpr std::size_t kLevelBytes = sizeof(std::uint32_t), kBytesOfBoth = kLevelBytes + sizeof(PlainId);
  const std::size_t of_levels = bytes.size() / kBytesOfBoth * kLevelBytes;
  return {launch::unpack<std::uint32_t>(bytes.substr(0, of_levels), 0),
          launch::unpack<PlainId>(bytes.substr(of_levels), 0)};
}

}  // namespace edgewire::kernels
