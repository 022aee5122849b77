#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/option.h"
#include "cli/program.h"
#include "options/jobs.h"
#include "options/kernels.h"

namespace edgewire::cli {

namespace {

constexpr const char* kExample = "edgewire profile -o page.html -- pagerank GRAPH ...";

struct ProfileArguments {
  std::vector<std::string> words;
  std::string page_path, trace_path, sample_interval;
  bool quiet = false;
};

std::vector<std::string> profiled_names() {
  std::vector<std::string> names;
  for (const Command& one : commands())
    if (one.kind != Kind::plain) names.push_back(one.path);
  return names;
}

bool is_page(const std::string& path) { return path.ends_with(".html"); }

/// Throws UsageError unless the words begin with a command that can be profiled.
void check_run(const std::vector<std::string>& words) {
  if (words.empty()) throw UsageError(fmt::format("profile: a run is missing, as in {}", kExample));
  const auto names = profiled_names();
  if (std::ranges::find(names, words[0]) != names.end() || words[0].starts_with("--version")) return;
  const std::string meant = nearest(words[0], names);
  throw UsageError(fmt::format("profile runs {}, not {}{}", fmt::join(names, ", "), words[0],
                               meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
}

/// Returns the command line with the options of this command. A page among the run's own options is a page,
/// too: no run writes HTML itself.
std::vector<std::string> words_of(const ProfileArguments& arguments) {
  auto words = arguments.words;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if ((words[i] == "-o" || words[i] == "--output") && is_page(words[i + 1])) words[i] = "--profile-page";
  }
  words.emplace_back("--profile");
  const auto add = [&words](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--profile-page", arguments.page_path);
  add("--trace", arguments.trace_path);
  add("--sample-interval", arguments.sample_interval);
  if (arguments.quiet) words.emplace_back("--quiet");
  return words;
}

}  // namespace

void add_profile(CLI::App& app) {
  auto* command = app.add_subcommand("profile", "run a kernel and say where its time went");
  auto arguments = std::make_shared<ProfileArguments>();
  writes(add(*command, opt::output, arguments->page_path, "write an HTML page with charts"), Form::text);
  writes(add(*command, opt::trace, arguments->trace_path), Form::text);
  add(*command, opt::sample_interval, arguments->sample_interval)->default_str("0.1");
  add(*command, opt::quiet, arguments->quiet, "print nothing, and on stderr only errors");
  command->add_option(
      "run", arguments->words,
      fmt::format("behind --: the run ({}) and its options", fmt::join(profiled_names(), ", ")));
  command->allow_extras();
  command->callback([arguments, command] {
    for (const std::string& word : command->remaining())
      if (word != "--")
        throw UsageError(fmt::format(
            "profile has no option {}: a run and its options stand behind --, as in {}", word, kExample));
    check_run(arguments->words);
    run_words(words_of(*arguments));
  });
}

}  // namespace edgewire::cli
