#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace edgewire::cli {

/// The formatter of help in 80 columns: examples, the most used options, then all others by group. Each
/// option has its names, values and default, and its text below them.
class Help final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* command, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_description(const CLI::App* command) const override;
  std::string make_footer(const CLI::App* command) const override;
};

/// Returns a heading such as "-p, --processes N (default 1)"; for a positional option it is "GRAPH".
std::string heading(const CLI::Option& option);
/// Returns the values of an option that takes one of a set; else an empty list.
std::vector<std::string> choices(const CLI::Option& option);
/// The options that stand together in help and man pages.
struct OptionGroup {
  std::string name;
  std::vector<const CLI::Option*> options;
};
/// Returns the options of a command that are not hidden, in the order in which they are shown: the most used
/// ones, then the arguments, then the others by group.
std::vector<OptionGroup> groups_of(const CLI::App& command);
/// Returns the names of the command and of those above it, except the program: "tasks metg".
std::string path_of(const CLI::App& command);
/// Returns the commands below `command` that are not hidden.
std::vector<const CLI::App*> visible_commands(const CLI::App& command);
/// Returns the names of these commands.
std::vector<std::string> names_below(const CLI::App& command);
/// Returns `text` in lines of at most 80 columns, with `indent` blanks before each. A line break stays.
std::string wrapped(const std::string& text, std::size_t indent);
/// Adds --version to the program and, unseen in help, to all commands.
void add_version(CLI::App& app);
/// Returns the files of the program's man pages, such as "edgewire-pagerank.1": one for the program, one for
/// the options that all jobs have, and one for each command.
std::vector<std::string> man_pages(const CLI::App& app);
/// Returns one of these pages, in man(7).
std::string man_page(const CLI::App& app, const std::string& page);
/// Returns the program's completion for a shell.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace edgewire::cli
