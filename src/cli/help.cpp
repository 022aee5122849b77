#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/rooms.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/suggest.h"
#include "edgewire/detail/cpu_level.h"

namespace edgewire::cli {
namespace {

/// Returns the text for an option's value: the choices, a name in capitals, or nothing for a flag.
std::string value_of(const CLI::Option& option) {
  if (option.get_type_size() == 0) return {};
  if (const auto words = choices(option); !words.empty()) return fmt::format("{}", fmt::join(words, "|"));
  const std::string name = option.get_type_name();
  return name.substr(0, name.find_first_of(":[ "));
}

/// Returns the usage of the program, and its commands, with those that belong together on one line.
std::string overview(const std::string& name) {
  std::string text = fmt::format("\nUsage: {} [--version] COMMAND [OPTIONS]\n\nCommands:\n", name);
  for (const Family& one : families()) text += fmt::format("  {:<23}  {}\n", one.commands, one.purpose);
  return text;
}

}  // namespace

std::string path_of(const CLI::App& command) {
  if (command.get_parent() == nullptr) return {};
  const std::string above = path_of(*command.get_parent());
  return above.empty() ? command.get_name() : above + " " + command.get_name();
}

std::vector<OptionGroup> groups_of(const CLI::App& command) {
  std::vector<const CLI::Option*> first;
  for (const std::string& name : most_used(path_of(command))) first.push_back(command.get_option(name));
  std::vector<OptionGroup> groups{{"Most used", first}, {"Arguments", {}}};
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty() || std::ranges::find(first, option) != first.end()) continue;
    const std::string& name = option->get_positional() ? groups[1].name : option->get_group();
    auto group = std::ranges::find(groups, name, &OptionGroup::name);
    if (group == groups.end()) group = groups.insert(group, {name, {}});
    group->options.push_back(option);
  }
  std::erase_if(groups, [](const OptionGroup& one) { return one.options.empty(); });
  return groups;
}

std::vector<std::string> choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto start = type.find('{'), end = type.rfind('}');
  if (start == type.npos || end == type.npos || end < start) return {};
  return CLI::detail::split(type.substr(start + 1, end - start - 1), ',');
}

std::string heading(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true, false);
  std::string text;
  for (const std::string& name : option.get_snames()) text += (text.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) text += (text.empty() ? "--" : ", --") + name;
  if (const std::string value = value_of(option); !value.empty()) text += " " + value;
  if (option.get_required())
    text += " (required)";
  else if (const std::string usual = option.get_default_str(); !usual.empty() && usual != "\"\"")
    text += fmt::format(" (default {})", usual);
  return text;
}

std::vector<const CLI::App*> visible_commands(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

std::vector<std::string> names_below(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : visible_commands(command)) names.push_back(sub->get_name());
  return names;
}

std::string wrapped(const std::string& text, std::size_t indent) {
  constexpr std::size_t kColumns = 80;
  std::string result, line;
  const auto end_line = [&] {
    if (!line.empty()) result += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  std::istringstream lines(text);
  for (std::string whole; std::getline(lines, whole);) {
    std::istringstream words(whole);
    for (std::string word; words >> word;) {
      if (!line.empty() && indent + line.size() + 1 + word.size() > kColumns) end_line();
      line += (line.empty() ? "" : " ") + word;
    }
    end_line();
  }
  return result;
}

std::string Help::make_help(const CLI::App* command, std::string name, CLI::AppFormatMode mode) const {
  const bool program = command->get_parent() == nullptr;  // the help of the program fits a screen
  std::string text = make_description(command);
  const auto examples = examples_of(path_of(*command), !program);
  if (!examples.empty()) text += "\n";
  for (const Example& one : examples)
    text += fmt::format("  {}\n{}", one.line, program ? "" : wrapped(one.meaning, 8));
  if (program) return text + overview(name);
  text += "\n" + make_usage(command, std::move(name));
  for (const auto& [group, options] : groups_of(*command)) {
    text += fmt::format("\n{}:\n", group);
    for (const CLI::Option* option : options) text += make_option(option, option->get_positional());
  }
  text += make_subcommands(command, mode);
  const std::string footer = make_footer(command);
  return footer.empty() ? text : text + "\n" + footer;
}

std::string Help::make_option(const CLI::Option* option, bool /*is_positional*/) const {
  return "  " + heading(*option) + "\n" + wrapped(option->get_description(), 8);
}

std::string Help::make_subcommand(const CLI::App* command) const {
  return "  " + command->get_name() + "\n" + wrapped(command->get_description(), 8);
}

std::string Help::make_description(const CLI::App* command) const {
  return wrapped(command->get_description(), 0);
}

std::string Help::make_footer(const CLI::App* command) const { return wrapped(command->get_footer(), 0); }

void add_help(CLI::App& app) {
  CLI::App* help = app.add_subcommand("help", "explain a command, as COMMAND --help does");
  const auto words = std::make_shared<std::vector<std::string>>();
  help->add_option("command", *words,
                   "the command, such as pagerank or tasks metg; without one: the program");
  help->callback([words, &app] {
    const CLI::App* command = &app;
    std::string path;
    for (const std::string& word : *words) {
      const auto below = visible_commands(*command);
      const auto found = std::ranges::find(below, word, [](const CLI::App* one) { return one->get_name(); });
      if (below.empty())
        throw UsageError(fmt::format("help: {} has no commands, and so no '{}'", path, word));
      if (found == below.end()) throw UsageError(no_such_command(*command, path, word));
      command = *found;
      path += (path.empty() ? "" : " ") + word;
    }
    const std::string name = app.get_name() + (path.empty() ? "" : " " + path);
    write_whole("-", app.get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal));
  });
}

void add_version(CLI::App& app) {
  CLI::Option* option = app.set_version_flag("--version", [] {
    const std::string commit = *kCommit == '\0' ? "" : fmt::format(" ({})", kCommit);
    return fmt::format("edgewire " EDGEWIRE_VERSION "{} for {}", commit, name_of(topology::cpu_level()));
  });
  if (app.get_parent() != nullptr) option->group("");
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) add_version(*command);
}

void add_manual(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "manual", "a man page, such as edgewire-pagerank.1, or the completion for a shell (bash, zsh or fish)");
  command->group("");  // it is for the build
  const auto kind = std::make_shared<std::string>();
  command->add_option("kind", *kind, "by default the names of all pages");
  command->callback([kind, &app] {
    if (*kind == "bash") return write_whole("-", bash_completion(app));
    if (*kind == "zsh") return write_whole("-", zsh_completion(app));
    if (*kind == "fish") return write_whole("-", fish_completion(app));
    const auto pages = man_pages(app);
    if (std::ranges::find(pages, *kind) != pages.end()) return write_whole("-", man_page(app, *kind));
    if (!kind->empty()) throw UsageError(fmt::format("manual: there is no page {}", *kind));
    write_whole("-", fmt::format("{}\n", fmt::join(pages, "\n")));
  });
}

}  // namespace edgewire::cli
