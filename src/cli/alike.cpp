#include "cli/job_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/files.h"
#include "cli/option.h"

namespace edgewire::cli {
namespace {

/// Returns the text that is compared. Numbers are compared by their value. A file is only called "a file",
/// since it may have another path on another host.
std::string comparable(const CLI::Option& option, const std::string& value) {
  if (value.find('/') != value.npos || names_files(&option, value)) return "a file";
  double number = 0;
  const auto [end, bad] = std::from_chars(value.data(), value.data() + value.size(), number);
  return bad == std::errc() && end == value.data() + value.size() ? fmt::format("{}", number) : value;
}

std::string given_or_default(const CLI::Option& option) {
  if (option.count() == 0) {
    const std::string value = option.get_default_str();
    return value.empty() ? value : comparable(option, value);
  }
  std::string text;
  for (const std::string& one : option.results()) text += (text.empty() ? "" : ",") + comparable(option, one);
  return text == "false" ? "" : text;
}

/// Returns whether the command is profiled. A profile is shown by rank 0 alone, but all processes measure
/// for it together.
bool is_profiled(const CLI::App& command) {
  return std::ranges::any_of(std::array{"--profile", "--profile-page", "--trace"}, [&](const char* name) {
    const CLI::Option* option = command.get_option_no_throw(name);
    return option != nullptr && option->count() > 0;
  });
}

}  // namespace

std::vector<launch::Fact> alike(const CLI::App& command) {
  std::string name = command.get_name();
  const CLI::App* parent = command.get_parent();
  if (parent != nullptr && parent->get_parent() != nullptr) name = parent->get_name() + " " + name;
  std::vector<launch::Fact> facts{{"the command", name}, {"the version", EDGEWIRE_VERSION}};
  facts.push_back({"--profile, --profile-page or --trace", is_profiled(command) ? "given" : ""});
  for (const CLI::Option* option : command.get_options()) {
    const options::Option* const row = row_of(option);
    if (!option->get_positional() && (row == nullptr || row->scope == options::Scope::job))
      facts.push_back({option->get_name(), given_or_default(*option)});
  }
  return facts;
}

}  // namespace edgewire::cli
