#include "report/answer.h"

#include <fmt/format.h>

#include "options/kernels.h"
#include "report/json_text.h"

namespace edgewire::report {

namespace {

constexpr std::size_t kMostOfPath = 20;  ///< most vertices of a path on the first screen

/// Returns whole numbers with all digits, and others with nine.
std::string text_of(const Number& number) {
  if (const auto* whole = std::get_if<std::uint64_t>(&number)) return fmt::format("{}", *whole);
  return fmt::format("{:.9g}", std::get<double>(number));
}

}  // namespace

void to_json(Json& json, const VertexName& name) {
  if (name.labelled)
    json = name.text;
  else
    json = std::stoull(name.text);
}

void to_json(Json& json, const Top& top) {
  json["id"] = top.vertex;
  add_field(json, "value", top.value);
}

void to_json(Json& json, const Answer& answer) {
  json = Json::object();
  for (const auto& [name, value] : answer.fields) add_field(json, name, value);
  add_field(json, "top", answer.top);
  if (!answer.path) return;
  json["path"] = nullptr;
  json["path_length"] = nullptr;
  if (answer.path->vertices.empty()) return;
  json["path"] = answer.path->vertices;
  add_field(json, "path_length", answer.path->length);
}

std::string Answer::lists(bool whole, const std::string& of) const {
  std::string lines;
  if (top && !top->empty()) {
    lines += fmt::format("{}{}:\n", order, of);
    for (const Top& one : *top) lines += fmt::format("{}\t{}\n", one.vertex.text, text_of(one.value));
  }
  if (!path) return lines;
  const auto& vertices = path->vertices;
  if (vertices.empty())
    return lines + fmt::format("no path from {} to {}\n", path->source.text, path->target.text);
  lines += fmt::format("path from {} to {}, length {}: ", path->source.text, path->target.text,
                       std::visit([](auto number) { return fmt::format("{}", number); }, path->length));
  const bool cut = !whole && vertices.size() > kMostOfPath;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (cut && i == kMostOfPath / 2) {
      i = vertices.size() - kMostOfPath / 2;
      lines += fmt::format(" -> ({} more, which {} shows)", vertices.size() - kMostOfPath, opt::verbose);
    }
    lines += (i == 0 ? "" : " -> ") + vertices[i].text;
  }
  return lines + "\n";
}

}  // namespace edgewire::report
