#include "runs/answer_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include "kernels/check/check.h"
#include "runs/answers.h"

namespace edgewire::runs {

namespace {

/// Vertices, or groups by their labels, with their values.
template <class Value>
using Valued = std::vector<std::pair<std::uint64_t, Value>>;

/// Returns the first vertices by key(value). `all`: in the order of their ids.
template <class Value, class Key>
std::vector<report::Top> first_of(const Asked& asked, Valued<Value> all, std::uint64_t count,
                                  const Key& key) {
  std::ranges::stable_sort(all, [&](const auto& a, const auto& b) { return key(a.second) > key(b.second); });
  all.resize(std::min<std::uint64_t>(count, all.size()));
  std::vector<report::Top> top;
  for (const auto& [vertex, value] : all) top.push_back({name_of(asked.names, vertex), as_number(value)});
  return top;
}

constexpr auto kItself = [](auto value) { return value; };

std::string text_of(const report::VertexName& name) { return name.text; }
template <class Number>
std::string text_of(Number number) {
  return fmt::format("{}", number);
}
template <class... Values>
std::string text_of(const std::variant<Values...>& value) {
  return std::visit([](const auto& one) { return text_of(one); }, value);
}

bool same(const report::VertexName& a, const report::VertexName& b) { return a == b; }
bool same(std::uint64_t a, std::uint64_t b) { return a == b; }
bool same(double a, double b) {
  constexpr double kRounding = 1e-9;
  return a == b || std::fabs(a - b) <= kRounding * std::fabs(b);
}
template <class A, class B>
bool same(const A&, const B&) {
  return false;
}
template <class... Values>
bool same(const std::variant<Values...>& a, const std::variant<Values...>& b) {
  return std::visit([](const auto& one, const auto& other) { return same(one, other); }, a, b);
}

std::string field_fault(const report::Answer& found, const report::Answer& expected) {
  for (const auto& [name, value] : expected.fields) {
    const auto at = std::ranges::find(found.fields, name, [](const auto& field) { return field.first; });
    if (at == found.fields.end()) return fmt::format("it has no {}", name);
    if (!same(at->second, value))
      return fmt::format("{} is {}, but the values say {}", name, text_of(at->second), text_of(value));
  }
  return {};
}

std::string top_fault(const std::vector<report::Top>& found, const std::vector<report::Top>& expected) {
  if (found.size() != expected.size())
    return fmt::format("it lists {} vertices, not {}", found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] != expected[i])
      return fmt::format("number {} of its list is {} ({}), but by the values {} ({})", i + 1,
                         found[i].vertex.text, text_of(found[i].value), expected[i].vertex.text,
                         text_of(expected[i].value));
  return {};
}

}  // namespace

std::string answer_fault(const report::Answer& found, const report::Answer& expected) {
  std::string fault = field_fault(found, expected);
  if (!fault.empty()) return fault;
  if (found.top.has_value() != expected.top.has_value() ||
      found.path.has_value() != expected.path.has_value())
    return "it has a list or a path that was not asked for, or lacks one";
  if (found.top) fault = top_fault(*found.top, *expected.top);
  if (fault.empty() && found.path != expected.path)
    return fmt::format("the path from {} to {} is not the one along the parents", expected.path->source.text,
                       expected.path->target.text);
  return fault;
}

report::Answer expected_of_levels(const Asked& asked, std::span<const std::uint32_t> levels) {
  Valued<std::uint64_t> reached;
  std::uint64_t edges = 0, depth = 0;
  for (VertexId v{}; v < levels.size(); ++v) {
    if (levels[v] == kernels::kNoLevel) continue;
    reached.emplace_back(v, levels[v]);
    edges += graph::Row{asked.graph, v}.degree();
    depth = std::max<std::uint64_t>(depth, levels[v]);
  }
  report::Answer answer;
  answer.fields = {{"reached", std::uint64_t{reached.size()}},
                   {"depth", depth},
                   {"traversed_edges", asked.graph.symmetric() ? edges / 2 : edges}};
  if (const std::uint64_t count = asked.top.value_or(0); count > 0)
    answer.top = first_of(asked, std::move(reached), count, kItself);
  return answer;
}

template <class Distance>
report::Answer expected_of_distances(const Asked& asked, std::span<const Distance> distances,
                                     Distance unreached) {
  using Value = std::conditional_t<std::is_integral_v<Distance>, std::uint64_t, double>;
  Valued<Value> reached;
  for (VertexId v{}; v < distances.size(); ++v)
    if (distances[v] != unreached) reached.emplace_back(v, Value{distances[v]});
  report::Answer answer;
  answer.fields = {{"reached", std::uint64_t{reached.size()}}};
  const std::uint64_t count = asked.top.value_or(0);
  auto top = first_of(asked, std::move(reached), std::max<std::uint64_t>(count, 1), kItself);
  if (!top.empty()) {
    answer.fields.emplace_back(
        "longest", std::visit([](auto number) { return report::Answer::Value(number); }, top[0].value));
    answer.fields.emplace_back("farthest", top[0].vertex);
  }
  if (count > 0) answer.top = std::move(top);
  return answer;
}

template report::Answer expected_of_distances(const Asked&, std::span<const float>, float);
template report::Answer expected_of_distances(const Asked&, std::span<const double>, double);
template report::Answer expected_of_distances(const Asked&, std::span<const std::uint64_t>, std::uint64_t);

report::Answer expected_of_groups(const Asked& asked, std::span<const PlainId> labels, const char* several) {
  std::map<PlainId, std::uint64_t> sizes;
  for (const PlainId label : labels) ++sizes[label];
  Valued<std::uint64_t> groups(sizes.begin(), sizes.end());
  const auto singles = std::ranges::count_if(groups, [](const auto& group) { return group.second == 1; });
  report::Answer answer;
  answer.fields = {{several, std::uint64_t{groups.size()}}, {"singles", static_cast<std::uint64_t>(singles)}};
  const std::uint64_t count = asked.top.value_or(0);
  auto top = first_of(asked, std::move(groups), std::max<std::uint64_t>(count, 1), kItself);
  if (!top.empty()) {
    answer.fields.emplace_back("largest_size", std::get<std::uint64_t>(top[0].value));
    answer.fields.emplace_back("largest_label", top[0].vertex);
  }
  if (count > 0) answer.top = std::move(top);
  return answer;
}

template <class Value>
report::Answer expected_highest(const Asked& asked, std::span<const Value> values, std::uint64_t by_default,
                                bool by_magnitude) {
  report::Answer answer;
  const std::uint64_t count = asked.top.value_or(by_default);
  if (count == 0) return answer;
  Valued<Value> all;
  for (std::size_t v = 0; v < values.size(); ++v) all.emplace_back(v, values[v]);
  answer.top = first_of(asked, std::move(all), count,
                        [&](Value value) { return by_magnitude && value < 0 ? -value : value; });
  return answer;
}

template report::Answer expected_highest(const Asked&, std::span<const double>, std::uint64_t, bool);
template report::Answer expected_highest(const Asked&, std::span<const std::uint64_t>, std::uint64_t, bool);

report::Path expected_path(const Asked& asked, std::span<const PlainId> parents, VertexId source,
                           VertexId target, report::Number length) {
  report::Path path{{}, name_of(asked.names, source), name_of(asked.names, target), length};
  if (parents[target] == kNoVertex) return path;
  for (PlainId at = target; at != source; at = parents[at]) path.vertices.push_back(name_of(asked.names, at));
  path.vertices.push_back(path.source);
  std::ranges::reverse(path.vertices);
  return path;
}

}  // namespace edgewire::runs
