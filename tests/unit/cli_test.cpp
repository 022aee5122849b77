#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/help.h"
#include "cli/job_options.h"
#include "cli/option.h"
#include "cli/program.h"
#include "cli/suggest.h"

namespace edgewire::cli {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "edgewire-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

auto files_in(const fs::path& path) { return std::distance(fs::directory_iterator(path), {}); }

TEST_CASE("processes take 1G, or three quarters of what a host has for each where that is less") {
  constexpr std::uint64_t kMiB = 1 << 20;
  CHECK(usual_share(~std::uint64_t{0}, 1) == 1024 * kMiB);
  CHECK(usual_share(400 * kMiB + 5, 2) == 150 * kMiB);
  CHECK(usual_share(0, 4) == 0);
}

TEST_CASE("write_whole replaces a file and leaves nothing beside it") {
  const Folder folder;
  const fs::path file = folder.path / "report.json";
  write_whole(file, "old and longer");
  write_whole(file, "new\n");
  CHECK(contents(file) == "new\n");
  CHECK(files_in(folder.path) == 1);
}

TEST_CASE("write_whole gives a new file no name but its own, and check_writable none") {
  const Folder folder;
  const int unnamed = open(folder.path.c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (unnamed < 0) return;  // this file system has no files without a name
  close(unnamed);
  const int events = inotify_init1(IN_NONBLOCK);
  REQUIRE(inotify_add_watch(events, folder.path.c_str(), IN_CREATE | IN_MOVE | IN_DELETE) >= 0);
  const auto names = [&] {
    std::string found;
    alignas(inotify_event) char buffer[4096];
    const ssize_t got = read(events, buffer, sizeof buffer);
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      found += std::string(event->name) + " ";
      at += static_cast<ssize_t>(sizeof *event + event->len);
    }
    return found;
  };
  check_writable((folder.path / "report.json").string());
  CHECK(names().empty());
  write_whole((folder.path / "report.json").string(), "new\n");
  CHECK(names() == "report.json ");
  close(events);
}

TEST_CASE("write_whole names a path that cannot be written") {
  CHECK_THROWS_WITH_AS(write_whole("/nowhere/report.json", "x"),
                       "/nowhere/report.json: cannot write: No such file or directory", Error);
}

TEST_CASE("write_whole keeps the old file when the new one does not fit") {
  const Folder folder;
  const fs::path file = folder.path / "report.json";
  write_whole(file, "old");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit tight{4096, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &tight) == 0);
  CHECK_THROWS_AS(write_whole(file, std::string(100'000, 'x')), Error);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(contents(file) == "old");
  CHECK(files_in(folder.path) == 1);
}

TEST_CASE("the nearest name is the one that was begun, or has few typing errors") {
  const std::vector<std::string> options{"--iterations", "--interface", "--transport",
                                         "--rank",       "--rate",      "-o"};
  CHECK(nearest("--iter", options) == "--iterations");
  CHECK(nearest("--int", options) == "--interface");
  CHECK(nearest("--iteratoins", options) == "--iterations");
  CHECK(nearest("--trnasprot", options) == "--transport");
  CHECK(nearest("--damping", options) == "");
  CHECK(nearest("", options) == "");
  const std::vector<std::string> values{"shm", "tcp", "verbs"};
  CHECK(nearest("tpc", values) == "tcp");
  CHECK(nearest("verb", values) == "verbs");
  CHECK(nearest("xyz", values) == "");
}

/// What is said to somebody who types these words.
std::string said(std::vector<std::string> words) {
  CLI::App app;
  app.require_subcommand(1);
  add_commands(app);
  std::ranges::reverse(words);
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return usage_line(app, error);
  }
  return {};
}

TEST_CASE("an option of another name, or of another command, gets a suggestion") {
  const auto suggests = [](const std::string& command, const std::string& option, const std::string& hint) {
    const std::string line = said({command, "g.ew", option});
    CHECK_MESSAGE(
        line.starts_with(command + " has no option " + option + "; " + hint + " (edgewire " + command), line);
  };
  suggests("pagerank", "--threads", "did you mean --workers?");
  suggests("pagerank", "--np", "did you mean --processes?");
  suggests("pagerank", "-np", "did you mean --processes?");
  suggests("bfs", "--root", "did you mean --source?");
  suggests("ppr", "--max-iter", "did you mean --iterations?");
  suggests("ppr", "--alpha", "did you mean --damping?");
  suggests("ppr", "--tol", "did you mean --tolerance?");
  suggests("lcc", "--check", "did you mean --verify?");
  suggests("lcc", "--outfile", "did you mean --output?");
  suggests("pagerank", "-damping", "did you mean --damping?");
  suggests("pagerank", "--weights", "did you mean --weighted?");
  suggests("pagerank", "--iteratoins", "did you mean --iterations?");
  suggests("wcc", "--damping", "--damping is an option of pagerank and ppr");
  suggests("wcc", "--alpha", "--damping is an option of pagerank and ppr");
  suggests("info", "--top", "--top is an option of pagerank, bfs, sssp, ppr, spmv and 6 other commands");
  CHECK(said({"pagerank", "g.ew", "--frobnicate"})
            .starts_with("pagerank has no option --frobnicate (edgewire"));
}

/// Adds the names of the options without a row, or without a line of help, that users see.
void add_unexplained(const CLI::App& command, std::set<std::string>& names) {
  for (const CLI::Option* option : command.get_options()) {
    const options::Option* const row = row_of(option);
    const bool is_seen = !option->get_positional() && !option->get_group().empty();
    if (is_seen && (row == nullptr || option->get_description().empty())) names.insert(option->get_name());
    if (row != nullptr) CHECK(option->check_lname(std::string(row->name)));
  }
  for (const CLI::App* below : command.get_subcommands({})) add_unexplained(*below, names);
}

TEST_CASE("each option has a row, from which the rest follows") {
  CLI::App app;
  add_commands(app);
  std::set<std::string> names;
  add_unexplained(app, names);
  CHECK(names == std::set<std::string>{"--help", "--version"});
}

}  // namespace
}  // namespace edgewire::cli
