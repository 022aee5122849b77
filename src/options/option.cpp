#include "options/option.h"

#include <algorithm>
#include <atomic>

namespace edgewire::options {

namespace {

std::atomic<Face> face = Face::cpp;

/// Returns a value as it stands in a program: numbers as they are, and texts in quotes.
std::string literal(std::string_view value) {
  const bool number = value == "nan" || value == "inf" ||
                      (!value.empty() && value.find_first_not_of("0123456789.+-e") == value.npos);
  return number ? std::string(value) : fmt::format("'{}'", value);
}

}  // namespace

void speak(Face one) noexcept { face = one; }
Face spoken() noexcept { return face; }

std::string_view in_words_of_face(std::string_view cpp, std::string_view command_line,
                                  std::string_view python) noexcept {
  switch (spoken()) {
    case Face::cpp:
      return cpp;
    case Face::command_line:
      return command_line;
    case Face::python:
      return python;
  }
  return {};
}

std::string columns_in_python(std::string_view columns) {
  if (columns.starts_with("SOURCE"))
    return "src= and dst=";  // no columns, but the arguments that stand for them
  std::string arguments;
  for (const char* const argument : {"src", "dst", "weight"}) {
    // As the shell takes it, a name with commas or blanks is '"in quotes"'.
    const bool quoted = columns.starts_with("'\"");
    const std::size_t end = quoted ? columns.find("\"'") : columns.find(',');
    const std::string_view column = columns.substr(quoted ? 2 : 0, quoted ? end - 2 : end);
    if (column.empty()) break;
    arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ", ", argument, literal(column));
    columns.remove_prefix(end == columns.npos ? columns.size()
                                              : std::min(end + (quoted ? 3 : 1), columns.size()));
  }
  return arguments;
}

bool Option::is_known() const noexcept { return !in_words_of_face(cpp, name, python).empty(); }

std::string Option::said() const {
  if (!is_known() || spoken() == Face::command_line) return fmt::format("--{}", name);
  if (spoken() == Face::cpp) return std::string(cpp);
  return fmt::format("{}={}", python, flag ? "True" : "");
}

std::string Option::with(std::string_view value) const {
  if (!is_known() || spoken() == Face::command_line) return fmt::format("--{} {}", name, value);
  if (spoken() == Face::cpp) return fmt::format("{} = {}", cpp, value);
  return in_python != nullptr ? in_python(value) : fmt::format("{}={}", python, literal(value));
}

std::string Option::hint(std::string_view text, std::string_view value) const {
  if (!is_known()) return {};
  return fmt::format(fmt::runtime(text), value.empty() ? said() : with(value));
}

bool has_word(std::string_view list, std::string_view word) {
  return fmt::format(" {} ", list).find(fmt::format(" {} ", word)) != std::string::npos;
}

std::vector<std::string> split_words(std::string_view words) {
  std::vector<std::string> all;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('|'), words.size());
    all.emplace_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return all;
}

std::string together(const std::string& one, const std::string& other) {
  return fmt::format("{}{} {}", one, spoken() == Face::command_line ? "" : ",", other);
}

std::string conversion_with(const std::string& option) {
  return fmt::format(
      fmt::runtime(in_words_of_face("convert() with {}", "`edgewire convert {}`", "read() with {}")), option);
}

UsageError wrong(std::string_view option, std::string_view problem, std::string_view remedy) {
  return UsageError(fmt::format("{}: {}{}{}", option, problem, remedy.empty() ? "" : "; ", remedy));
}

}  // namespace edgewire::options

namespace edgewire {

std::size_t check_word(const options::Option& option, std::string_view value) {
  const auto words = options::split_words(option.words);
  const auto found = std::ranges::find(words, value);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  throw UsageError(fmt::format("{} is none of {}", option(value), all));
}

}  // namespace edgewire
