#include "cli/suggest.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/option.h"

namespace edgewire::cli {
namespace {

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // it is hidden
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string our_command(const std::string& word) {
  const auto found = std::ranges::find_if(
      commands(), [&](const Command& one) { return options::has_word(one.other_names, word); });
  return found == commands().end() ? std::string() : found->path;
}

/// Adds the commands below `command` that have an option of this name.
void add_owners(const CLI::App& command, const std::string& path, const std::string& option,
                std::vector<std::string>& owners) {
  for (const CLI::App* sub : visible_commands(command)) {
    const std::string name = path + sub->get_name();
    const auto names = option_names(*sub);
    if (std::ranges::find(names, option) != names.end()) owners.push_back(name);
    add_owners(*sub, name + " ", option, owners);
  }
}

bool is_kernel(const std::string& path) {
  const auto found = std::ranges::find(commands(), path, &Command::path);
  return found != commands().end() && found->kind == Kind::kernel;
}

/// Returns a text such as "--damping is an option of pagerank and ppr"; empty where no command has it. A user
/// of a kernel hears of other kernels only, if there are some.
std::string owners_of(const CLI::App& app, const std::string& option, bool of_kernel) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> owners;
  add_owners(app, "", option, owners);
  if (of_kernel && std::ranges::any_of(owners, is_kernel)) std::erase_if(owners, std::not_fn(is_kernel));
  if (owners.empty()) return {};
  const std::size_t others = owners.size() > kMost ? owners.size() - kMost + 1 : 0;
  if (others > 0) {
    owners.resize(kMost - 1);
    owners.push_back(fmt::format("{} other commands", others));
  }
  return fmt::format("{} is an option of {}", option, list_of(owners, " and "));
}

/// Returns the hint for an option that `command` does not have.
std::string hint_of_option(const std::string& word, const CLI::App& command, const CLI::App& app) {
  const auto names = option_names(command);
  const auto is_here = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
  if (is_here("-" + word)) return did_you_mean("-" + word);
  const std::string ours = our_option(word);
  if (is_here(ours)) return did_you_mean(ours);
  const std::string near = word.starts_with("--") ? nearest(word, names) : std::string();
  const bool is_begun = near.starts_with(word) || typing_errors(near, word) <= 2;
  if (!near.empty() && is_begun) return did_you_mean(near);
  const bool to_kernel = is_kernel(path_of(command));
  std::string owners = owners_of(app, word, to_kernel);
  if (owners.empty() && !ours.empty()) owners = owners_of(app, ours, to_kernel);
  if (owners.empty()) return did_you_mean(near);
  const auto of_kernel = [&](const Command& one) {
    return one.kind == Kind::kernel && app.get_subcommand(one.path)->get_option_no_throw(word) != nullptr;
  };
  if (command.get_name() == "compare" && std::ranges::any_of(commands(), of_kernel))
    owners += ": those of kernels stand behind --";
  return owners;
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::strchr("0123456789.", word[1]) == nullptr;
}

/// Returns "--top is given 2 times: give it once" or "--sequences takes 2 values, not 1", where CLI11 says
/// "NAME: At Most 1 required but received 2"; else an empty text.
std::string count_problem(std::string_view message) {
  constexpr std::string_view kGiven = " required but received ", kMost = "At Most ", kLeast = "At least ";
  const auto colon = message.find(": "), given = message.find(kGiven);
  if (colon == message.npos || given == message.npos) return {};
  const auto name = message.substr(0, colon), received = message.substr(given + kGiven.size());
  auto wanted = message.substr(colon + 2, given - colon - 2);
  for (const auto word : {kMost, kLeast})
    if (wanted.starts_with(word)) wanted.remove_prefix(word.size());
  if (wanted == "1") return fmt::format("{} is given {} times: give it once", name, received);
  return fmt::format("{} takes {} values, not {}", name, wanted, received);
}

/// Returns "ONE and OTHER do not go together" or "ONE needs OTHER", where CLI11 says "ONE excludes OTHER" or
/// "ONE requires OTHER"; else an empty text.
std::string pair_problem(const CLI::ParseError& error) {
  const std::string message = error.what();
  const auto around = [&](std::string_view word) {
    const auto place = message.find(word);
    return place == message.npos ? std::pair(message, std::string())
                                 : std::pair(message.substr(0, place), message.substr(place + word.size()));
  };
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    const auto [one, other] = around(" excludes ");
    return fmt::format("{} and {} do not go together: leave one of them out", one, other);
  }
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) {
    const auto [one, other] = around(" requires ");
    return fmt::format("{} needs {}", one, other);
  }
  return {};
}

/// Returns CLI11's message about options and their values in our words.
std::string value_problem(const CLI::App& command, const CLI::ParseError& error) {
  std::string message = error.what();
  if (std::string line = count_problem(message); !line.empty()) return line;
  if (std::string line = pair_problem(error); !line.empty()) return line;
  constexpr std::string_view kConversion = "Could not convert: ";
  if (message.starts_with(kConversion)) {
    const std::string rest = message.substr(kConversion.size());
    const auto equals = rest.find(" = ");
    if (equals != rest.npos)
      return fmt::format("{}: cannot understand '{}'", rest.substr(0, equals), rest.substr(equals + 3));
  }
  const auto colon = message.find(": ");
  if (message.ends_with(" missing") && colon != message.npos) {
    const std::string name = message.substr(0, colon);
    const CLI::Option* option = command.get_option_no_throw(name);
    const auto values = option == nullptr ? std::vector<std::string>() : choices(*option);
    return fmt::format("{} needs a value{}", name, values.empty() ? "" : ": " + list_of(values));
  }
  return message;
}

struct Problem {
  std::string line, hint;  ///< message, and a hint, which may be empty

  std::string text(const std::string& path) const {
    return fmt::format("{}{} (edgewire {}--help shows what there is)", line, hint.empty() ? "" : "; " + hint,
                       path.empty() ? "" : path + " ");
  }
};

/// Returns the problem of a command line without the subcommand that it needs.
Problem missing_command(const CLI::App& command, const std::string& path, const std::string& word) {
  const auto names = names_below(command);
  if (word.empty())
    return {path.empty() ? "a command is missing" : fmt::format("{}: say what: {}", path, list_of(names)),
            ""};
  if (path.empty() && word == "version") return {"there is no command 'version'", did_you_mean("--version")};
  const std::string ours = path.empty() ? our_command(word) : std::string();
  return {path.empty() ? fmt::format("there is no command '{}'", word)
                       : fmt::format("{}: there is no '{}', but {}", path, word, list_of(names)),
          did_you_mean(ours.empty() ? nearest(word, names) : ours)};
}

/// Returns the problem of a command line. `command` is the one that was named last, at `path`. A word that no
/// option takes is the cause of other missing ones, so it comes first.
Problem problem_of(const CLI::App& app, const CLI::App& command, const std::string& path,
                   const CLI::ParseError& error) {
  const std::string message = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr &&
      dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) {
    return {value_problem(command, error), ""};
  }
  const auto words = app.remaining(true);
  const bool is_early = &command != &app && !app.remaining(false).empty();
  if (is_early)
    return {fmt::format("{} stands before the command {}: options and files go behind it",
                        app.remaining(false)[0], path),
            ""};
  if (const auto word = std::ranges::find_if(words, is_option); word != words.end()) {
    const std::string name = word->substr(0, word->find('='));
    return {fmt::format("{} has no option {}", path.empty() ? "edgewire" : path, name),
            hint_of_option(name, command, app)};
  }
  if (message == "A subcommand is required")
    return missing_command(command, path, words.empty() ? "" : words[0]);
  if (words.empty()) return {path.empty() ? message : fmt::format("{}: {}", path, message), ""};
  const CLI::Option* cache = command.get_option_no_throw("--plan-cache");  // --plan-cache needs no value
  const bool is_folder = cache != nullptr && cache->count() > 0;
  return {fmt::format("{}: '{}' is one argument too many{}", path, words[0],
                      is_folder ? fmt::format(" (a folder is --plan-cache={})", words[0]) : ""),
          ""};
}

}  // namespace

std::string did_you_mean(const std::string& name) {
  return name.empty() ? "" : fmt::format("did you mean {}?", name);
}

std::string no_such_command(const CLI::App& command, const std::string& path, const std::string& word) {
  return missing_command(command, path, word).text(path);
}

std::string usage_line(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string path;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += (path.empty() ? "" : " ") + command->get_name();
  }
  return problem_of(app, *command, path, error).text(path);
}

}  // namespace edgewire::cli
