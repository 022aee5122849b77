// This file has the answer of a run, which comes first: figures, the vertices that stand out, a path.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace edgewire::report {

using Number = std::variant<std::uint64_t, double>;

/// The name of a vertex in results.
struct VertexName {
  std::string text;       ///< id or label
  bool labelled = false;  ///< whether the text is a label

  friend bool operator==(const VertexName&, const VertexName&) = default;
};

/// A vertex, or a group that is named by one of its vertices.
struct Top {
  VertexName vertex;
  Number value = 0.0;

  friend bool operator==(const Top&, const Top&) = default;
};

struct Path {
  std::vector<VertexName> vertices;  ///< vertices from the source to the target; empty: no path leads there
  VertexName source, target;
  Number length = 0.0;

  friend bool operator==(const Path&, const Path&) = default;
};

/// The answer of a run. Its fields are those of the kernel in src/report/schema.
struct Answer {
  using Value = std::variant<std::uint64_t, double, VertexName>;

  std::string text;  ///< figures in a line for people, without its end; may be empty
  std::vector<std::pair<std::string, Value>> fields;
  std::string order;  ///< order of `top`, in a word: "highest"
  /// The vertices that come first in this order. `listed`: whether --top has asked for them.
  std::optional<std::vector<Top>> top;
  bool listed = false;
  std::optional<Path> path;

  /// Returns whether the kernel has said anything.
  bool empty() const noexcept { return text.empty() && fields.empty() && !top && !path; }
  /// Returns a line for each vertex of `top`, and the path. `of`: the name of the run, where there are
  /// several. `whole`: whether all vertices of a long path are in it.
  std::string lists(bool whole, const std::string& of = "") const;
};

void to_json(nlohmann::ordered_json& json, const VertexName& name);
void to_json(nlohmann::ordered_json& json, const Top& top);
/// Makes a JSON object of the answer; a path is the array of its vertices, or null where there is none.
void to_json(nlohmann::ordered_json& json, const Answer& answer);

}  // namespace edgewire::report
