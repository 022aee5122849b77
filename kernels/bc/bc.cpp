#include "kernels/bc/bc.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "kernels/bc/levels.h"

namespace edgewire::kernels {

namespace {

template <class Number>
std::unique_ptr<BcSearch> make_search(frontier::Job& job, const BcOptions& options) {
  if (options.weighted) return weighted_search<Number>(job, options.endpoints);
  return std::make_unique<BcLevels<Number>>(job, options.endpoints);
}

}  // namespace

Bc::Bc(frontier::Job& job, const BcOptions& options)
    : job_(job), options_(options), search_(make_search<double>(job, options)) {
  sums_.scores.resize(job.owned());
}

void Bc::resume(std::vector<double> scores) {
  if (scores.size() != sums_.scores.size()) throw Error("the scores are those of other vertices");
  sums_.scores = std::move(scores);
}

std::vector<frontier::Superstep> Bc::run(std::span<const VertexId> sources,
                                         const std::function<void(std::size_t)>& after_source) {
  for (const VertexId source : sources) job_.expect_vertex(source);
  for (std::size_t done = 0; done < sources.size();) {
    const VertexId source = sources[done];
    if (!search_->add(source, sums_)) {
      search_.reset();
      search_ = make_search<Scaled>(job_, options_);
      search_->add(source, sums_);
    }
    after_source(++done);
  }
  job_.wait_for_all();
  auto steps = std::exchange(sums_.forward, {});
  const auto& backward = sums_.backward;
  if (!backward.empty()) steps.insert(steps.end(), backward.rbegin(), backward.rend() - 1);
  sums_.backward.clear();
  return steps;
}

BcScale normalized_scale(std::uint64_t vertices, bool endpoints, std::uint64_t samples) {
  if (vertices < (endpoints ? 2U : 3U)) return {};  // no pair, and no score but 0
  const double targets = static_cast<double>(vertices - (endpoints ? 1 : 2));
  const auto scale = [targets](std::uint64_t sources) {
    return sources == 0 ? 0 : 1 / (static_cast<double>(sources) * targets);
  };
  if (samples > 0 && !endpoints) return {scale(samples - 1), scale(samples)};
  if (samples == 0) samples = endpoints ? vertices : vertices - 1;
  return {scale(samples), scale(samples)};
}

void scale_scores(const frontier::Job& job, std::span<double> scores, bool of_all, const BcScale& by,
                  std::span<const VertexId> sources) {
  for (std::uint64_t i = 0; i < scores.size(); ++i) {
    const VertexId v = of_all
                           ? VertexId(static_cast<PlainId>(i))
                           : job.ownership().vertex(job.rank(), LocalNumber(static_cast<std::uint32_t>(i)));
    scores[i] *= std::ranges::binary_search(sources, v) ? by.sources : by.others;
  }
}

}  // namespace edgewire::kernels
