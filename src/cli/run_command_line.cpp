// This file runs the program in one process, from its command line to its exit status.
#include "base/rooms.h"
#include "edgewire/own_kernel.h"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <exception>
#include <memory>
#include <sstream>
#include <string>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/help.h"
#include "cli/own_kernels.h"
#include "cli/program.h"
#include "cli/suggest.h"
#include "edgewire/detail/cpu_level.h"
#include "options/option.h"
#include "topology/shell.h"

namespace edgewire {

namespace cli {

namespace {

/// Runs the command line.
void run(CLI::App& app, int argc, char** argv) {
  topology::cpu_level();  // refuses a wrong EDGEWIRE_CPU before anything starts
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    std::ostringstream text;
    app.exit(asked, text);
    write_whole("-", text.str());
  }
  write_whole("-", "");  // throws if stdout could not take the printed text
}

/// Ends the process with a line that names an exception which no code catches. A thread without memory throws
/// such a one.
[[noreturn]] void end_with_a_line() {
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
    say_failure("ended for an unknown cause");
  } catch (const std::exception& error) {
    say_failure(line_of(error));
  } catch (...) {
    say_failure("ended for an unknown cause");
  }
  _exit(1);
}

/// Leaves plug-ins of hwloc out. It would load them, and with them libX11 and libOpenCL, before it can be
/// told.
void leave_plugins_out() {
  setenv("HWLOC_PLUGINS_BLACKLIST",
         "hwloc_gl hwloc_opencl hwloc_cuda hwloc_nvml hwloc_rsmi hwloc_levelzero hwloc_pci", 0);
}

}  // namespace

}  // namespace cli

int run_command_line(int argc, char** argv, const std::vector<OwnKernel>& kernels) {
  using namespace cli;
  std::set_terminate(end_with_a_line);
  options::speak(options::Face::command_line);
  leave_plugins_out();
  Program app{
      "Kernels on a graph that is spread over processes, such as PageRank, and how close a run comes to what "
      "the network allows. edgewire help COMMAND explains a command."};
  app.formatter(std::make_shared<Help>());
  app.require_subcommand(1);
  return status_of([&] {
    std::vector<Command> own;
    for (const auto& one : kernels) own.push_back(command_of(one));
    add_commands(app, std::move(own));
    topology::settle_in_shell();
    try {
      run(app, argc, argv);
    } catch (const CLI::RuntimeError&) {
      throw;
    } catch (const CLI::ParseError& error) {
      throw UsageError(usage_line(app, error));
    }
  });
}

}  // namespace edgewire
