// This file makes the answers of runs from the results of processes: see report/answer.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "frontier/frontier_job.h"
#include "graph/file/vertex_names.h"
#include "launch/bootstrap.h"
#include "process/top_k.h"
#include "report/answer.h"

namespace edgewire::runs {

/// A run of a kernel that follows a frontier, to which an answer belongs.
struct AnsweredRun {
  frontier::Job& job;
  std::span<const frontier::Superstep> supersteps;  ///< supersteps of this process
  double seconds;                                   ///< time of this process
  const std::optional<std::uint64_t>& top;          ///< number of vertices that are asked for
  const graph::VertexNames& names;
};

/// The number of vertices that a kernel lists unasked.
inline constexpr std::uint64_t kTop = 10;

report::VertexName name_of(const graph::VertexNames& names, std::uint64_t vertex);

/// Returns the `count` first vertices of all processes, at rank 0; elsewhere nothing. candidate(i), for i
/// below `items`, returns an std::optional of a Candidate. All give the same count. Collective.
template <class CandidateOf>
auto first_of_all(launch::Bootstrap& bootstrap, std::uint64_t count, std::uint64_t items,
                  const CandidateOf& candidate, process::Order order = process::Order::value) {
  using Value = decltype(candidate(0)->value);
  process::TopK<Value> mine(count, order);
  for (std::uint64_t i = 0; count > 0 && i < items; ++i)
    if (const auto one = candidate(i)) mine.add(*one);
  return process::top_k_of_all(bootstrap, count, mine.take(), order);
}

/// Returns the Euclidean norm of all values, infinite only if no double is as large. Collective.
double norm_of_all(launch::Bootstrap& bootstrap, std::span<const double> values);
/// Returns a number of an answer: whole ones stay exact.
template <class Value>
report::Number as_number(Value value) {
  if constexpr (std::is_integral_v<Value>)
    return std::uint64_t{value};
  else
    return double{value};
}
/// Sets the list of an answer. `top`: Candidates. `order`: in a word. `listed`: whether it was asked for.
template <class Candidates>
void set_top(report::Answer& answer, const char* order, const Candidates& top,
             const graph::VertexNames& names, bool listed) {
  answer.order = order;
  answer.listed = listed;
  answer.top.emplace();
  for (const auto& one : top) answer.top->push_back({name_of(names, one.vertex), as_number(one.value)});
}
/// Returns the path of an answer. `vertices`: from the source to the target; empty: there is no path.
report::Path named_path(const graph::VertexNames& names, const std::vector<VertexId>& vertices,
                        VertexId source, VertexId target, report::Number length);
/// Returns the answer of sssp: the number of reached vertices, and the longest distance. `distances`: by
/// local number; float, double or std::uint64_t. Collective.
template <class Distance>
report::Answer distance_answer(const AnsweredRun& run, std::span<const Distance> distances,
                               Distance unreached);
/// Returns the answer of kernels whose values are labels: the number of groups, the largest one, and the
/// number of vertices that are alone. `labels`: by local number. `one`, `several`: the names of groups. The
/// records of the job hold a label. Collective.
report::Answer group_answer(const AnsweredRun& run, std::span<const PlainId> labels, const char* one,
                            const char* several);
/// Sets the list of vertices with the highest values, double or std::uint64_t. `values`: by local number; or
/// by vertex, with `of_all`, where rank 0 has all values and the others have none. `by_default`: the number
/// that it lists unasked. Collective.
template <class Value>
void set_highest(report::Answer& answer, const AnsweredRun& run, std::span<const Value> values,
                 std::uint64_t by_default, bool of_all = false);

}  // namespace edgewire::runs
