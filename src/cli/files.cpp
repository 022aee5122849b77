#include "cli/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file_calls.h"
#include "bounds/bound.h"
#include "cli/common.h"
#include "graph/file/vertex_names.h"
#include "graph/write/compress.h"
#include "partition/ownership.h"

namespace edgewire::cli {

namespace {

namespace fs = std::filesystem;

struct FileOption {
  FilesOf files;
  std::optional<Form> form{};      ///< form of an output; none for an input
  const char* variable = nullptr;  ///< variable of the environment that stands for the option
};

std::unordered_map<const CLI::Option*, FileOption>& registered() {
  static std::unordered_map<const CLI::Option*, FileOption> all;
  return all;
}

/// Returns the name of the option as on the command line: "-o", "--json", "graph".
std::string short_name(const CLI::Option& option) {
  if (!option.get_snames().empty()) return "-" + option.get_snames()[0];
  return option.get_lnames().empty() ? option.get_name(true) : "--" + option.get_lnames()[0];
}

/// A file that an option names.
struct Use {
  std::string option;  ///< name of the option; "" is standard output, which all commands have
  std::string path;
  bool written;
};
struct FolderUse {
  Use folder;
  std::vector<std::string> patterns;
  std::string value;  ///< value of the option
};
struct Uses {
  std::vector<Use> files;
  std::vector<FolderUse> folders;

  void add(const std::string& option, NamedFile named, bool written) {
    Use use{option, std::move(named.path), written};
    if (named.patterns.empty())
      files.push_back(std::move(use));
    else
      folders.push_back({use, std::move(named.patterns), named.given.empty() ? use.path : named.given});
  }
};

Uses uses_of(const CLI::App& command) {
  Uses uses;
  uses.add("", {"-"}, true);
  for (const CLI::Option* option : command.get_options()) {
    const auto known = registered().find(option);
    if (known == registered().end()) continue;
    auto values = option->results();
    if (const char* const variable = known->second.variable; values.empty() && variable != nullptr)
      if (const char* const value = std::getenv(variable); value != nullptr && *value != '\0')
        values.emplace_back(value);
    for (const std::string& value : values) {
      // Such a value comes from "$graph" in a script, where the variable has none.
      if (value.empty()) throw UsageError(short_name(*option) + ": the name is empty");
      for (NamedFile& named : known->second.files(value))
        if (!named.path.empty())
          uses.add(short_name(*option), std::move(named), known->second.form.has_value());
    }
  }
  return uses;
}

/// Returns the location of a path without links, as far as it exists; "" where that is unknown.
fs::path location(const std::string& path) {
  std::error_code none;
  return fs::weakly_canonical(fs::absolute(path, none), none);
}

/// Returns the same text for all names of a file. Returns "" for devices, pipes and terminals, and for stdin
/// and stdout when they are no file: these may be read and written several times.
std::string identity(const Use& use) {
  struct stat status {};
  const bool is_stream = use.path == "-";
  if (is_stream ? fstat(use.written ? STDOUT_FILENO : STDIN_FILENO, &status) == 0
                : stat(use.path.c_str(), &status) == 0) {
    if (S_ISBLK(status.st_mode)) return fmt::format("device {}", status.st_rdev);
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return {};
    return fmt::format("{}:{}", status.st_dev, status.st_ino);
  }
  return is_stream ? std::string() : place_of(use.path);
}

[[noreturn]] void refuse(const Use& one, const Use& other) {
  if (!one.written || !other.written)
    throw Error(fmt::format("{}: input and output are the same file",
                            one.written && one.path != "-" ? one.path : other.path));
  const Use& file = one.path == "-" ? other : one;
  if (one.option.empty() || other.option.empty() || one.path == "-" || other.path == "-")
    throw Error(fmt::format("{}: {} would write over the output on stdout", file.path, file.option));
  throw Error(fmt::format("{}: {} and {} would write the same file", other.path, one.option, other.option));
}

/// Checks files against files.
void check_names(const std::vector<Use>& files) {
  std::unordered_map<std::string, const Use*> seen;  // the output of a file, where there is one
  for (const Use& use : files) {
    const std::string file = identity(use);
    if (file.empty()) continue;
    const auto [known, first] = seen.emplace(file, &use);
    if (first) continue;
    const bool both_stdout = use.path == "-" && known->second->path == "-" && use.written;
    if ((use.written || known->second->written) && !both_stdout) refuse(*known->second, use);
    if (use.written) known->second = &use;
  }
}

/// Returns whether the program may give a file of this name to the folder.
bool is_named_by(const FolderUse& folder, const std::string& name) {
  return std::ranges::any_of(folder.patterns, [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

/// Returns the links in a folder that the program would write through.
std::vector<Use> links_in(const FolderUse& folder) {
  std::vector<Use> links;
  std::error_code none, error;
  if (!folder.folder.written) return links;
  for (const auto& entry : entries_of(location(folder.folder.path), error))
    if (entry.is_symlink(none) && is_named_by(folder, entry.path().filename().string()))
      links.push_back({folder.folder.option, entry.path().string(), true});
  const auto unknown = {std::errc::no_such_file_or_directory, std::errc::not_a_directory,
                        std::errc::permission_denied};  // a failing write gives the cause
  if (error && std::find(unknown.begin(), unknown.end(), error) == unknown.end())
    throw Error(fmt::format("{}: cannot read: {}", folder.folder.path, reason(error.value())));
  return links;
}

/// Checks files against those that the program names in a folder.
void check_folder(const FolderUse& folder, const std::vector<Use>& files) {
  const std::string place = place_of(folder.folder.path);
  for (const Use& use : files) {
    if (use.path == "-" || !(use.written || folder.folder.written)) continue;
    const fs::path file = location(use.path);
    if (file.empty() || use.option == folder.folder.option) continue;
    const bool is_folder = use.written && folder.folder.written && place_of(file) == place;
    if (is_folder || (is_named_by(folder, file.filename().string()) && place_of(file.parent_path()) == place))
      throw Error(fmt::format("{}: {} {} this file, and {} {} {} files of this name in {}", use.path,
                              use.option, use.written ? "writes" : "reads", folder.folder.option,
                              folder.value, folder.folder.written ? "writes" : "reads",
                              location(folder.folder.path).string()));
  }
}

void check(const Uses& uses) {
  std::vector<Use> files = uses.files;
  for (const FolderUse& folder : uses.folders)
    for (Use& link : links_in(folder)) files.push_back(std::move(link));
  check_names(files);
  for (const FolderUse& folder : uses.folders) check_folder(folder, uses.files);
}

/// Checks stdout: only one output can have it.
void check_stdout(const Uses& uses) {
  std::string first;
  for (const Use& use : uses.files) {
    if (!use.written || use.path != "-" || use.option.empty()) continue;
    if (!first.empty())
      throw UsageError(fmt::format("{} - and {} -: only one of them can have stdout", first, use.option));
    first = use.option;
  }
}

/// Checks whether an output can have the form of its name.
void check_form(const std::string& option, Form form, const std::string& path) {
  if (form == Form::text) return graph::check_packed_ending(path);
  if (form == Form::graph) return;  // the check of its format reports it
  if (const auto ending = graph::packed_ending(path); !ending.empty())
    throw UsageError(fmt::format(
        "{}: output is not compressed; write to a name without {} and compress that file", path, ending));
  if (path != "-") return;
  throw UsageError(
      form == Form::folder
          ? fmt::format("{} -: several files are written, which need a folder, not stdout", option)
          : fmt::format("{0} -: graph files (.ew) need a file, not stdout: write one, and `edgewire "
                        "convert FILE --to el -o -` shows its edges",
                        option));
}

void check_forms(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (const auto known = registered().find(option); known != registered().end() && known->second.form)
      for (const std::string& value : option->results())
        check_form(short_name(*option), *known->second.form, value);
}

/// Returns the command of the command line.
const CLI::App& asked_command(const CLI::App& program) {
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

}  // namespace

std::vector<std::string> files_read(const CLI::App& program) {
  std::vector<std::string> paths;
  for (const Use& use : uses_of(asked_command(program)).files)
    if (!use.written && use.path != "-") paths.push_back(use.path);
  return paths;
}

std::string place_of(const std::string& path) {
  std::string rest;
  struct stat status {};
  fs::path at = location(path);
  for (; stat(at.c_str(), &status) != 0; at = at.parent_path()) {
    if (!at.has_relative_path()) return path;
    if (at.has_filename()) rest = fmt::format("/{}{}", at.filename().string(), rest);
  }
  return fmt::format("{}:{}{}", status.st_dev, status.st_ino, rest);
}

std::vector<NamedFile> itself(const std::string& value) { return {{value}}; }

std::vector<NamedFile> graph_and_labels(const std::string& value) {
  if (value == "-" || value.empty()) return {{value}};
  std::vector<NamedFile> files = {{value}, {graph::labels_path(value)}};
  if (std::error_code none; !fs::is_regular_file(value, none)) files.push_back({value, {"[0-9]*-of-[0-9]*"}});
  return files;
}

std::vector<NamedFile> no_names(const std::string&) { return {}; }

std::vector<NamedFile> listed_in(const std::string& value) {
  if (!value.starts_with('@')) return {};
  return {{value.substr(1)}};
}

std::vector<NamedFile> partition_files(const std::string& value) {
  const std::string file = partition::partition_file(value);
  if (file.empty()) return {};
  return {{file}};
}

std::vector<NamedFile> partition_files_of(const std::string& ownerships, std::span<const int> processes) {
  std::vector<NamedFile> files;
  for (const auto& ownership : split(ownerships, "--ownership"))
    for (const int p : processes)
      for (NamedFile& file : partition_files(bounds::partition_path(ownership, p)))
        files.push_back(std::move(file));
  return files;
}

FilesOf inside(std::vector<std::string> patterns) {
  return [patterns = std::move(patterns)](const std::string& value) {
    return std::vector{NamedFile{value, patterns}};
  };
}

NamedFile parts_of(const std::string& path) {
  const fs::path whole = path;
  const std::string name = backslashed(whole.filename().string(), "*?[\\");
  return {whole.has_parent_path() ? whole.parent_path().string() : ".", {name + ".[0-9]*-of-[0-9]*"}, path};
}

std::vector<std::string> kept_names() { return {"*.plan-*-of-*", "*.edges-*-of-*", "*rows-*-of-*"}; }

std::vector<std::string> checkpoint_names() { return {"manifest", "values.*", "ids.*"}; }

void forget_file_options() { registered().clear(); }

void reads(CLI::Option* option, FilesOf files, const char* variable) {
  registered()[option] = {std::move(files), {}, variable};
}

void writes(CLI::Option* option, Form form, FilesOf files) {
  registered()[option] = {std::move(files), form};
  if (form == Form::folder) return;
  option->transform([](const std::string& value) {
    const bool is_stdout = value == "/dev/stdout" || value == "/dev/fd/1" || value == "/proc/self/fd/1";
    return is_stdout ? std::string("-") : value;
  });
}

bool names_files(const CLI::Option* option) { return registered().contains(option); }

bool names_files(const CLI::Option* option, const std::string& value) {
  const auto known = registered().find(option);
  return known != registered().end() && !known->second.files(value).empty();
}

void check_files(const CLI::App& program) {
  const CLI::App& command = asked_command(program);
  check_forms(command);
  const Uses uses = uses_of(command);
  check_stdout(uses);
  check(uses);
}

void check_files(const CLI::App& command, const std::string& option, const std::vector<NamedFile>& files) {
  Uses uses = uses_of(command);
  std::erase_if(uses.files, [&](const Use& use) { return use.option == option; });
  std::erase_if(uses.folders, [&](const FolderUse& use) { return use.folder.option == option; });
  for (const NamedFile& file : files) uses.add(option, file, true);
  check(uses);
}

}  // namespace edgewire::cli
