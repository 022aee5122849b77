#include "cli/program.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/suggest.h"
#include "edgewire/graph.h"
#include "edgewire/numbering.h"

namespace edgewire::cli {

namespace {

constexpr int kBits = kIds64 ? 64 : 32, kOtherBits = kIds64 ? 32 : 64;
constexpr const char* kOther = kIds64 ? "edgewire" : "edgewire-wide";
/// The name of a program that the other one has started, so that it does not start that one again.
constexpr const char* kCalled = kIds64 ? "edgewire-wide (for edgewire)" : "edgewire (for edgewire-wide)";
constexpr const char* kOtherCalled = kIds64 ? "edgewire (for edgewire-wide)" : "edgewire-wide (for edgewire)";

/// Returns the words of this process's command line.
std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> words;
  for (std::size_t at = 0; at < all.size(); at += words.back().size() + 1)
    words.emplace_back(all.substr(at, all.find('\0', at) - at));
  return words;
}

/// Starts the other program, and returns why it did not start. `words`: the words of the command line.
std::string run_other(std::vector<std::string> words) {
  std::error_code none;
  const auto beside = std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / kOther;
  words[0] = kOtherCalled;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(beside.c_str(), arguments.data());
  if (errno != ENOENT) return fmt::format("{}: {}", beside.string(), reason(errno));
  execvp(kOther, arguments.data());
  if (errno != ENOENT) return fmt::format("{}: {}", kOther, reason(errno));
  return fmt::format(
      "that program is neither beside this one nor in PATH: build it with `meson setup -Did_bits={}`",
      kOtherBits);
}

}  // namespace

void hand_over_other_ids(std::span<const std::string> files) {
  for (const std::string& path : files) {
    if (graph::id_bits_of(path) != kOtherBits) continue;
    const auto words = command_line();
    if (words.empty()) throw Error("cannot read /proc/self/cmdline");
    if (words[0] == kCalled)
      throw Error(fmt::format("{}: its vertex ids have {} bits, and those of another graph here have {}",
                              path, kOtherBits, kBits));
    const std::string why = run_other(words);
    throw Error(fmt::format("{}: its vertex ids have {} bits, which {} reads, and {}", path, kOtherBits,
                            kOther, why));
  }
}

void run_words(std::vector<std::string> words, TakeKernel take_kernel) {
  Program app("the run behind --");
  app.take_kernel = std::move(take_kernel);
  app.formatter(std::make_shared<Help>());
  app.require_subcommand(1);
  for (const Command& one : commands())
    if (one.kind != Kind::plain) one.add(app);
  add_version(app);
  std::ranges::reverse(words);  // as CLI11 wants them
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp& help) {
    app.exit(help);
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::RuntimeError&) {
    throw;
  } catch (const CLI::ParseError& error) {
    throw UsageError(usage_line(app, error));
  }
}

int status_of(const std::function<void()>& work) {
  try {
    work();
    return 0;
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const OutputClosed&) {
    return kOutputClosedStatus;
  } catch (const UsageError& error) {
    say_failure(error.what());
    return 2;
  } catch (const std::exception& error) {
    say_failure(line_of(error));
    return 1;
  }
}

}  // namespace edgewire::cli
