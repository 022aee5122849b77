// This file knows the files that a command line names. Options declare those that they read and write, and
// one check looks at all of them before a command does anything.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace edgewire::cli {

/// A file, or several files of a folder.
struct NamedFile {
  std::string path;                     ///< path; "-" is stdin for inputs, stdout for outputs
  std::vector<std::string> patterns{};  ///< names (fnmatch) in the folder `path`; empty: `path` is the file
  std::string given{};                  ///< text of the option; empty: the same as `path`
};
/// A function that returns the files which a value of an option names.
using FilesOf = std::function<std::vector<NamedFile>(const std::string& value)>;

/// The form of an output.
enum class Form {
  text,    ///< text that may go to stdout; compressed where its name ends in .gz or .zst
  graph,   ///< a graph in one of several formats, which may go to stdout
  binary,  ///< a file that is mapped or filled at several places: never stdout
  folder,  ///< files that the program names
};

/// Returns the same text for all names of a file or folder, links and bind mounts, also where it does not
/// exist yet: the numbers of the nearest folder that does, and the rest of the path.
std::string place_of(const std::string& path);

/// Returns the value itself.
std::vector<NamedFile> itself(const std::string& value);
/// Returns the files of a graph that is read or written: itself, its parts, and the table of names beside it.
std::vector<NamedFile> graph_and_labels(const std::string& value);
/// Returns no files: it is for folders of files without names.
std::vector<NamedFile> no_names(const std::string& value);
/// Returns the file of "@FILE"; else none.
std::vector<NamedFile> listed_in(const std::string& value);
/// Returns the files of "FILE" and "auto,FILE" in --ownership.
std::vector<NamedFile> partition_files(const std::string& value);
/// Returns the files of a list of ownerships. "{}" in a name stands for each number of processes.
std::vector<NamedFile> partition_files_of(const std::string& ownerships, std::span<const int> processes);
/// Returns a function that finds files with such names in the folder that the value names.
FilesOf inside(std::vector<std::string> patterns);
/// Returns the parts that processes write, see part_path().
NamedFile parts_of(const std::string& path);
/// Returns the names of plans and edges in the folders where they are kept for the next run.
std::vector<std::string> kept_names();
/// Returns the names of a checkpoint's files in its folder.
std::vector<std::string> checkpoint_names();

/// Declares that the values of `option` name files that the command reads, or writes, which is all that their
/// checks need. `variable` of the environment stands for an option that is not given.
void reads(CLI::Option* option, FilesOf files = itself, const char* variable = nullptr);
void writes(CLI::Option* option, Form form, FilesOf files = itself);
/// Forgets the options of an earlier command line: a process has one command line at a time.
void forget_file_options();
/// Returns whether reads() or writes() knows the option.
bool names_files(const CLI::Option* option);
/// Returns whether this value of the option names a file.
bool names_files(const CLI::Option* option, const std::string& value);

/// Checks all files that the parsed command line names. Throws Error when the command would write over a file
/// that it reads, or write a file twice: by any of their names, and also where they do not exist yet. Throws
/// UsageError when several outputs want stdout, or an output cannot have the form of its name.
void check_files(const CLI::App& program);
/// Does the same when `option`, which is an output of the command, turns out to write `files`. Throws Error.
void check_files(const CLI::App& command, const std::string& option, const std::vector<NamedFile>& files);
/// Returns the files that the parsed command line reads, but not stdin and not those in folders.
std::vector<std::string> files_read(const CLI::App& program);

}  // namespace edgewire::cli
