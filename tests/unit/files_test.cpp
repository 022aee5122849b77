#include "cli/files.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/program.h"

namespace edgewire::cli {
namespace {

namespace fs = std::filesystem;

struct Scratch {
  fs::path path;
  Scratch() {
    std::string name = (fs::temp_directory_path() / "edgewire-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = fs::canonical(name);
  }
  ~Scratch() { fs::remove_all(path); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string operator/(const std::string& name) const { return path / name; }
};

/// Parses "work ..." with a graph, a list, a text output, a page, a report, a folder, and a graph to write.
/// Returns what is wrong with the files; "" when the command runs.
std::string fault(std::vector<std::string> words) {
  Program program;
  CLI::App* const work = program.add_subcommand("work");
  std::string graph, list, output, json, folder, binary;
  bool parts = false, ran = false;
  reads(work->add_option("graph", graph), graph_and_labels);
  reads(work->add_option("--sources", list), listed_in);
  reads(work->add_option("--ownership", list), partition_files);
  writes(work->add_option("-o,--output", output), Form::text,
         [&](const std::string& path) { return std::vector{parts ? parts_of(path) : NamedFile{path}}; });
  work->add_flag("--output-parts", parts);
  writes(work->add_option("--json", json), Form::text);
  writes(work->add_option("--checkpoint", folder), Form::folder, inside(checkpoint_names()));
  writes(work->add_option("--graph", binary), Form::binary);
  work->callback([&] { ran = true; });
  words.insert(words.begin(), "work");
  std::ranges::reverse(words);
  try {
    program.parse(words);
  } catch (const Error& error) {
    CHECK(!ran);
    return error.what();
  }
  CHECK(ran);
  return {};
}

TEST_CASE("a command does not write over what it reads, whatever the name") {
  const Scratch folder;
  const std::string graph = folder / "g.ew";
  std::ofstream(graph) << "kept";
  fs::create_symlink("g.ew", folder / "link");
  fs::create_directory_symlink(".", folder / "here");
  fs::create_hard_link(graph, folder / "hard");
  for (const char* const name : {"g.ew", "link", "hard", "here/g.ew", "./here/./g.ew", "here/g.ew.labels"})
    for (const char* const option : {"-o", "--json", "--graph"})
      CHECK(fault({graph, option, folder / name}) == folder / name + ": input and output are the same file");
  CHECK(fault({graph, "--sources", "@" + (folder / "list"), "--json", folder / "here/list"}) ==
        folder / "here/list" + ": input and output are the same file");
  CHECK(fault({graph, "--ownership", "auto," + (folder / "list"), "-o", folder / "list"}) ==
        folder / "list" + ": input and output are the same file");
  CHECK(fault({graph, "--sources", "g.ew", "--ownership", "hash", "-o", "hash"}).empty());
  CHECK(fault({graph, "-o", folder / "other"}).empty());
}

TEST_CASE("two outputs are not one file") {
  const Scratch folder;
  fs::create_directory_symlink(".", folder / "here");
  CHECK(fault({"-o", folder / "f", "--json", folder / "here/f"}) ==
        folder / "here/f: -o and --json would write the same file");
  std::ofstream(folder / "f") << "older";
  CHECK(!fault({"-o", folder / "here/f", "--json", folder / "f"}).empty());
  CHECK(fault({"-o", "/dev/null", "--json", "/dev/null"}).empty());
  CHECK(fault({"-o", "-", "--json", "/dev/null"}).empty());
  CHECK(fault({"-o", "-", "--json", "/dev/stdout"}) == "-o - and --json -: only one of them can have stdout");
}

TEST_CASE("files that the program names in a folder are compared, too") {
  const Scratch folder;
  fs::create_directory_symlink(".", folder / "here");
  const std::string graph = folder / "values.1.0";
  CHECK(!fault({graph, "--checkpoint", folder / "here"}).empty());
  CHECK(!fault({"--checkpoint", folder / "here", "--json", folder / "manifest"}).empty());
  CHECK(!fault({"--checkpoint", folder / "new", "--json", folder / "new"}).empty());
  CHECK(fault({folder / "g.ew", "--checkpoint", folder / "here", "--json", folder / "report"}).empty());
  const std::string part = folder / "r[1].tsv.0001-of-0002";
  CHECK(!fault({part, "--output-parts", "-o", folder / "here/r[1].tsv"}).empty());
  CHECK(!fault({"--output-parts", "-o", folder / "r[1].tsv", "--json", part}).empty());
  CHECK(fault({"--output-parts", "-o", folder / "r.tsv", "--json", folder / "r.tsv"}).empty());
}

TEST_CASE("links that the program would write through are compared, too") {
  const Scratch folder;
  std::ofstream(folder / "g.ew") << "kept";
  fs::create_directory(folder / "in");
  for (const char* const link : {"in/values.1.0", "r.0000-of-0002"})
    fs::create_symlink(folder / "g.ew", folder / link);
  CHECK(fault({folder / "g.ew", "--checkpoint", folder / "in"}) ==
        folder / "in/values.1.0" + ": input and output are the same file");
  CHECK(!fault({folder / "g.ew", "--output-parts", "-o", folder / "r"}).empty());
  CHECK(!fault({"--output-parts", "-o", folder / "r", "--json", folder / "g.ew"}).empty());
  fs::create_symlink(folder / "g.ew", folder / "r.0001-of-0002");
  CHECK(!fault({"--output-parts", "-o", folder / "r"}).empty());
  CHECK(fault({"--output-parts", "-o", folder / "r.0001"}).empty());
}

TEST_CASE("an output can be what its name says") {
  const Scratch folder;
  CHECK(fault({"-o", folder / "f.tsv.gz"}).empty());
  for (const char* const ending : {".gz", ".zst", ".xz", ".bz2"}) {
    CHECK(fault({"--graph", folder / "g.ew" + ending}).find("output is not compressed") != std::string::npos);
    CHECK(!fault({"--checkpoint", folder / "c" + ending}).empty());
  }
  CHECK(!fault({"-o", folder / "f.xz"}).empty());
  for (const char* const option : {"--graph", "--checkpoint"})
    for (const char* const name : {"-", "/dev/stdout", "/dev/fd/1"})
      if (option != std::string("--checkpoint") || name == std::string("-"))
        CHECK(fault({option, name}).find("not stdout") != std::string::npos);
}

/// All options that help shows and whose value is free text, but those that name files.
void collect(const CLI::App& command, std::set<std::string>& free) {
  for (const CLI::Option* option : command.get_options())
    if (option->get_type_name() == "TEXT" && !option->get_group().empty() && !names_files(option))
      free.insert(option->get_name());
  for (const CLI::App* below : command.get_subcommands({})) collect(*below, free);
}

TEST_CASE("all options that name files say so: add reads() or writes() to a new one") {
  Program program;
  add_commands(program);
  std::set<std::string> free;
  collect(program, free);
  const std::set<std::string> others{"--blocks",
                                     "--columns",
                                     "--compute-rate",
                                     "--core-rate",
                                     "--cores",
                                     "--dpdk-args",
                                     "--disk-write-rate",
                                     "--dpdk-port",
                                     "--dpdk-udp",
                                     "--disk-read-rate",
                                     "--edges",
                                     "--framing",
                                     "--interface",
                                     "--key",
                                     "--latency",
                                     "--layout",
                                     "--memory",
                                     "--memory-rate",
                                     "--port",
                                     "--processes",
                                     "--rank",
                                     "--rate",
                                     "--source",
                                     "--strategy",
                                     "--sample-interval",
                                     "--threads",
                                     "--transport",
                                     "--verbs-device",
                                     "--vertices",
                                     "--wire",
                                     "--workers",
                                     "command",
                                     "kind",
                                     "run"};
  std::string unknown;
  for (const std::string& name : free)
    if (!others.contains(name)) unknown += name + " ";
  CHECK(unknown == "");
}

}  // namespace
}  // namespace edgewire::cli
