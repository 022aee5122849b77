#include "report/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace edgewire::report {

namespace {

constexpr std::size_t kFirst = 5;

nlohmann::ordered_json name_json(const VertexName& name) {
  if (name.labelled) return name.text;
  return std::stoull(name.text);
}

/// Whole numbers with all digits, others with so many.
std::string text_of(const Number& number, int digits) {
  if (const auto* whole = std::get_if<std::uint64_t>(&number)) return fmt::format("{}", *whole);
  return fmt::format("{:.{}g}", std::get<double>(number), digits);
}

nlohmann::ordered_json number_json(const Number& number) {
  return std::visit([](auto value) { return nlohmann::ordered_json(value); }, number);
}

}  // namespace

nlohmann::ordered_json to_json(const std::vector<Top>& top) {
  auto list = nlohmann::ordered_json::array();
  for (const Top& one : top)
    list.push_back({{"id", name_json(one.vertex)}, {"value", number_json(one.value)}});
  return list;
}

nlohmann::ordered_json Answer::to_json() const {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : fields) {
    if (const auto* vertex = std::get_if<VertexName>(&value))
      json[name] = name_json(*vertex);
    else if (const auto* count = std::get_if<std::uint64_t>(&value))
      json[name] = *count;
    else
      json[name] = std::get<double>(value);
  }
  if (top) json["top"] = report::to_json(*top);
  if (path) {
    auto& vertices = json["path"];  // null
    for (const VertexName& one : path->vertices) vertices.push_back(name_json(one));
    auto& length = json["path_length"];  // null
    if (!path->vertices.empty()) length = number_json(path->length);
  }
  return json;
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
