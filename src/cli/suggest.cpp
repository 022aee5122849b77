#include "cli/suggest.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "error.h"

namespace edgewire::cli {
namespace {

/// Characters to insert, delete, replace or swap with their neighbour (optimal string alignment).
std::size_t typing_errors(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    if (!sub->get_group().empty()) names.push_back(sub->get_name());
  return names;
}

/// "NAME: VALUE not in {a,b,c}", as CLI::IsMember says it: VALUE, and what could stand there.
std::string meant_value(std::string_view message) {
  constexpr std::string_view kBefore = ": ", kMiddle = " not in {";
  const auto start = message.find(kBefore), middle = message.find(kMiddle), end = message.rfind('}');
  if (start == message.npos || middle == message.npos || end == message.npos || middle < start) return {};
  const std::string value(message.substr(start + kBefore.size(), middle - start - kBefore.size()));
  std::string list(message.substr(middle + kMiddle.size(), end - middle - kMiddle.size()));
  if (const auto arrow = list.find("->"); arrow != list.npos) return {};  // a map shows numbers, too
  return nearest(value, CLI::detail::split(list, ','));
}

}  // namespace

std::string nearest(const std::string& word, std::span<const std::string> candidates) {
  const auto begins = [&](const std::string& one) { return word.size() >= 3 && one.starts_with(word); };
  if (word.size() >= 3 && std::ranges::count_if(candidates, begins) == 1 && !word.ends_with('-'))
    return *std::ranges::find_if(candidates, begins);
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& one : candidates) {
    if (const std::size_t errors = typing_errors(word, one); errors < least) {
      least = errors;
      best = one;
    }
  }
  return best;
}

std::string did_you_mean(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  std::string meant = meant_value(error.what());
  for (const std::string& word : app.remaining(true)) {
    if (!meant.empty()) break;
    if (word.starts_with("--"))
      meant = nearest(word.substr(0, word.find('=')), option_names(*command));
    else if (!word.starts_with("-"))
      meant = nearest(word, subcommand_names(*command));
  }
  return meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
}

void check_names(std::span<char* const> words) {
  constexpr std::array<std::string_view, 11> kNames{"--secret-file", "-o",       "--output", "--json",
                                                    "--csv",         "--trace",  "--hosts",  "--profile-page",
                                                    "--checkpoint",  "--resume", "--temp"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    // As of "$graph" in a script, where the variable has no value.
    if (word.empty() && i > 0 && *words[i - 1] != '-')
      throw UsageError("the name of a file or folder is empty");
    for (const std::string_view name : kNames) {
      const bool is_empty = word == name && i + 1 < words.size() && *words[i + 1] == '\0';
      if (is_empty || (word.size() == name.size() + 1 && word.starts_with(name) && word.ends_with('=')))
        throw UsageError(fmt::format("{}: the name is empty", name));
    }
  }
}

}  // namespace edgewire::cli
