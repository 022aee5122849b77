// The cli folder is the front. It has one file for each subcommand, or one for several that share most. Each
// is a thin layer over the libraries below it. This file lists the commands, and the texts of help, man pages
// and messages on them beside their options.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace edgewire::cli {

struct Example {
  std::string line;  ///< line for a shell, which begins with the command; the first one is the simplest
  std::string meaning;
};

enum class Kind { plain, profiled, kernel };  ///< kind of a command; kernels can be profiled, too

struct Command {
  std::string path;  ///< path such as "pagerank" or "tasks metg"; "" is the program
  /// Adds the command, whose callback does the work; null where the command above it adds it. Callbacks throw
  /// Error or UsageError, or CLI::RuntimeError to end with a given exit status.
  std::function<void(CLI::App&)> add{};
  Kind kind = Kind::plain;
  std::string most_used{};         ///< options that most users need; a command with few options has no list
  std::string_view other_names{};  ///< names in other programs
  /// The examples, to be run in a folder with edges.txt and names.tsv, those of generate and convert first.
  std::vector<Example> examples{};
  std::string purpose{};  ///< text of the help of the program, where no family has the command
};

/// Returns all commands, in the order in which help lists their options.
const std::vector<Command>& commands();
/// Adds all of them, with `more`, from a caller of the library. Throws UsageError where two commands have one
/// name, and passes on what their functions throw.
void add_commands(CLI::App& app, std::vector<Command> more = {});

/// Returns the examples of the command at this path. `below`: also those of the commands below it.
std::vector<Example> examples_of(const std::string& path, bool below);

/// Returns the names of the options that most users of a command need.
std::vector<std::string> most_used(const std::string& path);

/// Commands that belong together, for the help of the program.
struct Family {
  std::string_view commands, purpose;
};
std::vector<Family> families();

// Each function adds one command.
void add_generate(CLI::App& app);
void add_convert(CLI::App& app);
void add_info(CLI::App& app);
void add_bound(CLI::App& app);
void add_compare(CLI::App& app);
void add_pagerank(CLI::App& app);
void add_bfs(CLI::App& app);
void add_sssp(CLI::App& app);
void add_ppr(CLI::App& app);
void add_spmv(CLI::App& app);
void add_bc(CLI::App& app);
void add_cdlp(CLI::App& app);
void add_sort(CLI::App& app);
void add_tasks(CLI::App& app);
void add_profile(CLI::App& app);
void add_topology(CLI::App& app);
void add_netbench(CLI::App& app);
void add_diskbench(CLI::App& app);
void add_transports(CLI::App& app);
/// Adds the command that prints the help of `app`, which must outlive it, and of its commands.
void add_help(CLI::App& app);
/// Adds a hidden command that prints the man pages and the completions of `app`, which must outlive it.
void add_manual(CLI::App& app);

}  // namespace edgewire::cli
