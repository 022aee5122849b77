#include "runs/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "frontier/group_sizes.h"
#include "launch/packing.h"

namespace edgewire::runs {

report::VertexName name_of(const graph::VertexNames& names, std::uint64_t vertex) {
  return {names(VertexId(static_cast<PlainId>(vertex))), names.labelled()};
}

report::Path named_path(const graph::VertexNames& names, const std::vector<VertexId>& vertices,
                        VertexId source, VertexId target, report::Number length) {
  report::Path path{{}, name_of(names, source), name_of(names, target), length};
  for (const VertexId vertex : vertices) path.vertices.push_back(name_of(names, vertex));
  return path;
}

report::Answer group_answer(const AnsweredRun& run, std::span<const PlainId> labels, const char* one,
                            const char* several) {
  auto& bootstrap = run.job.bootstrap();
  const std::uint64_t count = process::count_of_rank_0(bootstrap, run.top.value_or(0));
  auto sizes = frontier::count_groups(run.job, labels, std::max<std::uint64_t>(1, count));
  report::Answer answer;
  if (bootstrap.rank() > 0) return answer;
  answer.fields = {{several, sizes.groups}, {"singles", sizes.singles}};
  answer.text = fmt::format("{} {}", sizes.groups, sizes.groups == 1 ? one : several);
  if (!sizes.largest.empty()) {
    const auto label = name_of(run.names, sizes.largest[0].vertex);
    const std::uint64_t size = sizes.largest[0].value;
    answer.fields.emplace_back("largest_size", size);
    answer.fields.emplace_back("largest_label", label);
    answer.text +=
        fmt::format(", the largest has {} vert{} (label {}), {} ha{} a single vertex", size,
                    size == 1 ? "ex" : "ices", label.text, sizes.singles, sizes.singles == 1 ? "s" : "ve");
  }
  if (count > 0) set_top(answer, "largest", sizes.largest, run.names, true);
  return answer;
}

/// Returns the norm. Values are divided by the largest one, so that no square is too large or too small.
double norm_of_all(launch::Bootstrap& bootstrap, std::span<const double> values) {
  double largest = 0, sum = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  largest = launch::allreduce(bootstrap, largest, std::ranges::max);
  for (const double value : values) sum += largest == 0 ? 0 : (value / largest) * (value / largest);
  return largest * std::sqrt(launch::allreduce(bootstrap, sum, std::plus<>()));
}

template <class Distance>
report::Answer distance_answer(const AnsweredRun& run, std::span<const Distance> distances,
                               Distance unreached) {
  auto& job = run.job;
  const std::uint64_t count = process::count_of_rank_0(job.bootstrap(), run.top.value_or(0));
  using Value = std::conditional_t<std::is_integral_v<Distance>, std::uint64_t, double>;
  using Candidate = process::Candidate<Value>;
  const auto farthest =
      first_of_all(job.bootstrap(), std::max<std::uint64_t>(1, count), job.owned(), [&](std::uint64_t i) {
        const LocalNumber local(static_cast<std::uint32_t>(i));
        return distances[local] == unreached
                   ? std::optional<Candidate>()
                   : Candidate{Value{distances[local]}, job.ownership().vertex(job.rank(), local)};
      });
  const auto unreached_here = static_cast<std::size_t>(std::ranges::count(distances, unreached));
  const std::uint64_t reached =
      launch::allreduce(job.bootstrap(), distances.size() - unreached_here, std::plus<>());
  report::Answer answer;
  if (job.rank() > 0) return answer;
  // It exists, as the source is always reached.
  const auto longest = static_cast<Distance>(farthest.at(0).value);
  const auto name = name_of(run.names, farthest[0].vertex);
  answer.text = fmt::format("reached {} of {} vertices, the longest distance is {} (to {})", reached,
                            job.graph().vertices(), longest, name.text);
  answer.fields = {
      {"reached", reached},
      {"longest", std::visit([](auto number) { return report::Answer::Value(number); }, as_number(longest))},
      {"farthest", name}};
  if (count > 0) set_top(answer, "farthest", farthest, run.names, true);
  return answer;
}

template report::Answer distance_answer(const AnsweredRun&, std::span<const float>, float);
template report::Answer distance_answer(const AnsweredRun&, std::span<const double>, double);
template report::Answer distance_answer(const AnsweredRun&, std::span<const std::uint64_t>, std::uint64_t);

template <class Value>
void set_highest(report::Answer& answer, const AnsweredRun& run, std::span<const Value> values,
                 std::uint64_t by_default, bool of_all) {
  auto& job = run.job;
  const std::uint64_t count = process::count_of_rank_0(job.bootstrap(), run.top.value_or(by_default));
  const auto highest = first_of_all(job.bootstrap(), count, values.size(), [&](std::uint64_t i) {
    const VertexId vertex =
        of_all ? VertexId(static_cast<PlainId>(i))
               : job.ownership().vertex(job.rank(), LocalNumber(static_cast<std::uint32_t>(i)));
    return std::optional(process::Candidate<Value>{values[i], vertex});
  });
  if (job.rank() == 0 && count > 0) set_top(answer, "highest", highest, run.names, run.top.has_value());
}

template void set_highest(report::Answer&, const AnsweredRun&, std::span<const double>, std::uint64_t, bool);
template void set_highest(report::Answer&, const AnsweredRun&, std::span<const std::uint64_t>, std::uint64_t,
                          bool);

}  // namespace edgewire::runs
