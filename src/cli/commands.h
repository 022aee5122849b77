// The cli folder is the front. It has one file for each subcommand, or one for several that share most. Each
// is a thin layer over the libraries below it.
#pragma once

#include <CLI/CLI.hpp>

namespace edgewire::cli {

/// Each function adds one subcommand whose callback does the work. Callbacks throw Error or UsageError, or
/// CLI::RuntimeError to end with a given exit status.
void add_generate(CLI::App& app);
void add_convert(CLI::App& app);
void add_info(CLI::App& app);
void add_bound(CLI::App& app);
void add_compare(CLI::App& app);
void add_pagerank(CLI::App& app);
void add_bfs(CLI::App& app);
void add_sssp(CLI::App& app);
void add_ppr(CLI::App& app);
void add_spmv(CLI::App& app);
void add_wcc(CLI::App& app);
void add_scc(CLI::App& app);
void add_bc(CLI::App& app);
void add_cdlp(CLI::App& app);
void add_lcc(CLI::App& app);
void add_sort(CLI::App& app);
void add_tasks(CLI::App& app);
void add_profile(CLI::App& app);
void add_topology(CLI::App& app);
void add_netbench(CLI::App& app);
void add_diskbench(CLI::App& app);
void add_transports(CLI::App& app);
/// Adds the command that prints the help of `app`, which must outlive it, and of its commands.
void add_help(CLI::App& app);
/// Adds a hidden command that prints the man pages and the completions of `app`, which must outlive it.
void add_manual(CLI::App& app);

}  // namespace edgewire::cli
