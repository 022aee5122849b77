#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "cli/files.h"

namespace edgewire::cli {

/// Runs the program of the other width in place of this one where one of these files is a graph with ids of
/// that width. The command line is the same. It takes the program beside this one, else the one in PATH. Each
/// process of a launcher does so by itself. Throws Error where there is no such program, saying what to
/// install or build, and where the files are of both widths.
void hand_over_other_ids(std::span<const std::string> files);

/// A command line whose files are checked before a command does anything.
class Program : public CLI::App {
 public:
  using CLI::App::App;

 protected:
  void pre_callback() override {
    check_files(*this);
    hand_over_other_ids(files_read(*this));
  }
};

}  // namespace edgewire::cli
