#include "report/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/json_text.h"

namespace edgewire::report {

namespace {

constexpr std::size_t kFirst = 5;

/// Returns whole numbers with all digits, and others with so many.
std::string text_of(const Number& number, int digits) {
  if (const auto* whole = std::get_if<std::uint64_t>(&number)) return fmt::format("{}", *whole);
  return fmt::format("{:.{}g}", std::get<double>(number), digits);
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

std::string Answer::first_lines() const {
  std::string lines = text.empty() ? "" : text + "\n";
  if (!top || top->empty()) return lines;
  lines += order + ":";
  for (std::size_t i = 0; i < std::min(kFirst, top->size()); ++i)
    lines += fmt::format("{} {} ({})", i == 0 ? "" : ",", (*top)[i].vertex.text, text_of((*top)[i].value, 6));
  return lines + "\n";
}

std::string Answer::last_lines(const std::string& of) const {
  std::string lines;
  if (top && listed && !top->empty()) {
    lines += fmt::format("{}{}:\n", order, of);
    for (const Top& one : *top) lines += fmt::format("{}\t{}\n", one.vertex.text, text_of(one.value, 9));
  }
  if (!path) return lines;
  if (path->vertices.empty())
    return lines + fmt::format("no path from {} to {}\n", path->source.text, path->target.text);
  lines += fmt::format("path from {} to {}, length {}: ", path->source.text, path->target.text,
                       std::visit([](auto number) { return fmt::format("{}", number); }, path->length));
  for (std::size_t i = 0; i < path->vertices.size(); ++i)
    lines += (i == 0 ? "" : " -> ") + path->vertices[i].text;
  return lines + "\n";
}

}  // namespace edgewire::report
