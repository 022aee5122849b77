// Nothing but subcommands: see src/cli.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "cli/commands.h"
#include "error.h"

int main(int argc, char** argv) {
  CLI::App app{"Edgewire: a zero-copy, communication-bound graph kernel"};
  app.set_version_flag("--version", "edgewire " EDGEWIRE_VERSION);
  app.require_subcommand(1);
  edgewire::cli::add_topology(app);
  edgewire::cli::add_generate(app);
  edgewire::cli::add_pagerank(app);
  edgewire::cli::add_profile(app);
  edgewire::cli::add_convert(app);
  edgewire::cli::add_info(app);
  edgewire::cli::add_bound(app);
  edgewire::cli::add_compare(app);
  edgewire::cli::add_transports(app);
  edgewire::cli::add_netbench(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::fprintf(stderr, "edgewire: %s (--help shows what there is)\n", error.what());
    return 2;
  } catch (const edgewire::OutputClosed&) {
    return edgewire::kOutputClosedStatus;
  } catch (const edgewire::UsageError& error) {
    std::fprintf(stderr, "edgewire: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "edgewire: %s\n", error.what());
    return 1;
  }
}
