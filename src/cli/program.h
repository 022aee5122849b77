#pragma once

#include <CLI/CLI.hpp>

#include "cli/files.h"
#include "cli/id_width.h"

namespace edgewire::cli {

/// A command line whose files are looked at before a command does anything.
class Program : public CLI::App {
 public:
  using CLI::App::App;

 protected:
  void pre_callback() override {
    check_files(*this);
    hand_over_other_ids(files_read(*this));
  }
};

/// Adds all subcommands.
void add_commands(CLI::App& app);

}  // namespace edgewire::cli
