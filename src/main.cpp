// Nothing but subcommands: see src/cli.
#include <sys/resource.h>
#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <sstream>
#include <string>

#include "cli/common.h"
#include "cli/help.h"
#include "cli/program.h"
#include "cli/suggest.h"
#include "error.h"
#include "topology/cpu_level.h"

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

/// As many as the hard limit allows. The soft one is low for programs that use select(), and nothing here
/// does.
void allow_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// hwloc loads its plug-ins before it can be told what to leave out, and with them libX11 and libOpenCL.
void leave_plugins_out() {
  setenv("HWLOC_PLUGINS_BLACKLIST",
         "hwloc_gl hwloc_opencl hwloc_cuda hwloc_nvml hwloc_rsmi hwloc_levelzero hwloc_pci", 0);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // who writes says so
  allow_open_files();
  leave_plugins_out();
  edgewire::cli::Program app{
      "Kernels on a graph that is spread over processes, such as PageRank, and how close a run comes to what "
      "the network allows. edgewire COMMAND --help explains a command."};
  app.formatter(std::make_shared<edgewire::cli::Help>());
  app.set_version_flag("--version", [] {
    return std::string("edgewire " EDGEWIRE_VERSION " for ") + name_of(edgewire::topology::cpu_level());
  });
  app.require_subcommand(1);
  edgewire::cli::add_commands(app);
  try {
    run(app, argc, argv);
    return 0;
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "edgewire: %s%s (--help shows what there is)\n", error.what(),
                 edgewire::cli::did_you_mean(app, error).c_str());
    return 2;
  } catch (const edgewire::OutputClosed&) {
    return edgewire::kOutputClosedStatus;
  } catch (const edgewire::UsageError& error) {
    std::fprintf(stderr, "edgewire: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "edgewire: %s\n", edgewire::line_of(error).c_str());
    return 1;
  }
}
