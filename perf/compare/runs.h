// This file makes the runs of a comparison: each is this program, run again as a cell of the matrix wants
// it.
#pragma once

#include <string>
#include <vector>

#include "edgewire/graph.h"
#include "perf/compare/compare.h"
#include "profile/core_watch.h"

namespace edgewire::perf {

/// What all runs have in common.
struct CompareSettings {
  std::string kernel = "pagerank";
  std::vector<std::string> kernel_options;  ///< passed on as they are
  std::string graph;                        ///< name that the user gives it
  std::string graph_path;                   ///< path where the runs find it
  int repeat = 3;
  int iterations = 20;                            ///< iterations of a dense kernel and of cdlp
  std::string layout = "auto", encoding = "f32";  ///< settings of a dense kernel
  /// The path of the list of hosts. Empty: the hosts are network namespaces of this machine. What follows
  /// goes with a list.
  std::string hosts_path{};
  std::string rank{}, secret_path{}, port{};

  bool local() const { return hosts_path.empty(); }
  bool has_iterations() const { return kernels::descriptor_of(kernel).has_iterations; }
};

/// A run has failed. What it said is on stderr already.
struct RunFailed {
  int status = 1;  ///< status that ProgramEnd has
};

/// Returns the command line of a cell's run. `iterations`: see CompareSettings.
std::vector<std::string> run_words(const Cell& cell, const CompareSettings& settings, int iterations);

class CompareRuns {
 public:
  /// `graph` is what graph_path names; it and `settings` outlive this.
  CompareRuns(const CompareSettings& settings, const Matrix& matrix, const Graph& graph);

  /// Makes all runs, every cell taking its turn in each round, with a line on stderr for each. Returns false
  /// where another rank has the results. Throws Error, and RunFailed.
  bool run();
  /// Returns the comparison, after a run() that returned true. Throws Error.
  Comparison result();

 private:
  bool run_cell(int round, std::size_t c);
  std::string run_once(std::size_t c);
  void explain_local_hosts(int cores);
  std::string in_users_words(std::string text) const;
  void note(const std::string& text);

  const CompareSettings& settings_;
  const Graph& graph_;
  std::vector<Cell> cells_;
  std::vector<std::vector<RunFigures>> runs_;  ///< [cell]
  std::vector<int> iterations_;                ///< [cell]: iterations of a run
  profile::CoreWatch watch_;
  std::vector<std::string> notes_;
};

}  // namespace edgewire::perf
