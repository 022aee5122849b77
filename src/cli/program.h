#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/files.h"
#include "cli/kernel_options.h"

namespace edgewire::cli {

/// Runs the program of the other width in place of this one where one of these files is a graph with ids of
/// that width. The command line is the same. It takes the program beside this one, else the one in PATH. Each
/// process of a launcher does so by itself. Throws Error where there is no such program, saying what to
/// install or build, and where the files are of both widths.
void hand_over_other_ids(std::span<const std::string> files);

/// Runs a kernel in another way than its command does.
using TakeKernel = std::function<void(KernelOptions& options, const MakeKernel& make)>;

/// A command line whose files are checked before a command does anything.
class Program : public CLI::App {
 public:
  using CLI::App::App;
  TakeKernel take_kernel{};  ///< gets the kernel that a command would run; or null

 protected:
  void pre_callback() override {
    check_files(*this);
    hand_over_other_ids(files_read(*this));
  }
};

/// Does what a command line within the command line of this process asks for: `words` begin with the name of
/// a command that can be profiled. Throws UsageError where they are wrong, and what the command throws.
void run_words(std::vector<std::string> words, TakeKernel take_kernel = {});

/// Does the work, and returns the exit status of a process that has nothing else to do: where the work
/// throws, a line on stderr says why.
int status_of(const std::function<void()>& work);

}  // namespace edgewire::cli
