#include "cli/program.h"

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/help.h"

namespace edgewire::cli {

void add_commands(CLI::App& app) {
  forget_file_options();
  add_topology(app);
  add_generate(app);
  add_pagerank(app);
  add_bfs(app);
  add_sssp(app);
  add_ppr(app);
  add_spmv(app);
  add_wcc(app);
  add_scc(app);
  add_bc(app);
  add_cdlp(app);
  add_lcc(app);
  add_sort(app);
  add_tasks(app);
  add_profile(app);
  add_convert(app);
  add_info(app);
  add_bound(app);
  add_compare(app);
  add_transports(app);
  add_netbench(app);
  add_diskbench(app);
  add_help(app);
  add_manual(app);
  add_version(app);
}

}  // namespace edgewire::cli
