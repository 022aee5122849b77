// Nothing but subcommands: see src/cli.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <exception>
#include <memory>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/quiet.h"
#include "cli/common.h"
#include "cli/help.h"
#include "cli/program.h"
#include "cli/suggest.h"
#include "edgewire/detail/cpu_level.h"
#include "topology/shell.h"

namespace {

/// Does what the command line asks for.
void run(CLI::App& app, int argc, char** argv) {
  using edgewire::cli::write_whole;
  edgewire::topology::cpu_level();  // refuses a wrong EDGEWIRE_CPU before anything starts
  try {
    edgewire::cli::check_names({argv, static_cast<std::size_t>(argc)});
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    std::ostringstream text;
    app.exit(asked, text);
    write_whole("-", text.str());
  }
  write_whole("-", "");  // what was printed may not have found room
}

/// What nobody can catch, such as a thread of its own without memory, ends the process with a line all the
/// same.
[[noreturn]] void end_with_a_line() {
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
    edgewire::say_failure("ended for an unknown cause");
  } catch (const std::exception& error) {
    edgewire::say_failure(edgewire::line_of(error));
  } catch (...) {
    edgewire::say_failure("ended for an unknown cause");
  }
  _exit(1);
}

/// hwloc loads its plug-ins before it can be told what to leave out, and with them libX11 and libOpenCL.
void leave_plugins_out() {
  setenv("HWLOC_PLUGINS_BLACKLIST",
         "hwloc_gl hwloc_opencl hwloc_cuda hwloc_nvml hwloc_rsmi hwloc_levelzero hwloc_pci", 0);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_with_a_line);
  leave_plugins_out();
  edgewire::cli::Program app{
      "Kernels on a graph that is spread over processes, such as PageRank, and how close a run comes to what "
      "the network allows. edgewire help COMMAND explains a command."};
  app.formatter(std::make_shared<edgewire::cli::Help>());
  app.require_subcommand(1);
  edgewire::cli::add_commands(app);
  try {
    edgewire::topology::settle_in_shell();
    run(app, argc, argv);
    return 0;
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    edgewire::say_failure(edgewire::cli::usage_line(app, error));
    return 2;
  } catch (const edgewire::OutputClosed&) {
    return edgewire::kOutputClosedStatus;
  } catch (const edgewire::UsageError& error) {
    edgewire::say_failure(error.what());
    return 2;
  } catch (const std::exception& error) {
    edgewire::say_failure(edgewire::line_of(error));
    return 1;
  }
}
