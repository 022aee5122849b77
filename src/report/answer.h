// This file has what people ask of a result first: a few figures, the vertices that stand out, a path.
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

/// What results call a vertex.
struct VertexName {
  std::string text;       ///< its id, or its label
  bool labelled = false;  ///< the text is a label
};

/// A vertex, or a group that is called by one of its vertices.
struct Top {
  VertexName vertex;
  Number value = 0.0;
};

struct Path {
  std::vector<VertexName> vertices;  ///< vertices from the source to the target; empty: no path leads there
  VertexName source, target;
  Number length = 0.0;
};

/// The answer of a run. Its fields are what src/report/schema has for the kernel.
struct Answer {
  using Value = std::variant<std::uint64_t, double, VertexName>;

  std::string text;  ///< figures in a line for people, without its end; may be empty
  std::vector<std::pair<std::string, Value>> fields;
  std::string order;  ///< order of `top`, in a word: "highest"
  /// The vertices that come first in this order. `listed`: --top has asked for them.
  std::optional<std::vector<Top>> top;
  bool listed = false;
  std::optional<Path> path;

  /// Returns whether the kernel has said anything.
  bool empty() const noexcept { return text.empty() && fields.empty() && !top && !path; }
  /// Returns a line for each vertex of `top`, and the path. `of`: the name of the run, where there are
  /// several. `whole`: also all vertices of a long path.
  std::string lists(bool whole, const std::string& of = "") const;
};

void to_json(nlohmann::ordered_json& json, const VertexName& name);
void to_json(nlohmann::ordered_json& json, const Top& top);
/// Makes an object with all of it; a path is the array of its vertices, or null where there is none.
void to_json(nlohmann::ordered_json& json, const Answer& answer);

}  // namespace edgewire::report
