// This file makes the runs of a comparison, each in a process that is forked for it: its memory, threads and
// hosts go with it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "edgewire/graph.h"
#include "perf/compare/compare.h"
#include "profile/core_watch.h"

namespace edgewire::perf {

using TakeReport = std::function<void(const report::RunReport&)>;
/// Runs the kernel as a cell wants it, with so many iterations, in the process that was forked for it, and
/// returns the exit status of that process. Rank 0 passes its report on.
using RunCell = std::function<int(const Cell& cell, int iterations, const TakeReport& take)>;

/// A run has failed. What it said is on stderr already.
struct RunFailed {
  int status = 1;  ///< status that ProgramEnd has
};

class CompareRuns {
 public:
  /// `graph` and `settings` outlive this.
  CompareRuns(const CompareSettings& settings, const Matrix& matrix, const Graph& graph, RunCell run_cell);

  /// Makes `repeat` runs of every cell, which takes its turn in each round, with a line on stderr for each.
  /// Returns false where another rank has the results. No thread may exist. Throws Error, and RunFailed.
  bool run(int repeat);
  /// Returns the comparison, after a run() that returned true. Throws Error.
  Comparison result();

 private:
  bool run_cell(const std::string& turn, std::size_t c);
  std::optional<RunFigures> run_once(std::size_t c);
  void explain_local_hosts(int cores);
  void note(const std::string& text);

  const CompareSettings& settings_;
  const Graph& graph_;
  RunCell run_cell_;
  std::vector<Cell> cells_;
  std::vector<std::vector<RunFigures>> runs_;  ///< [cell]
  std::vector<int> iterations_;                ///< [cell]: iterations of a run
  profile::CoreWatch watch_;
  std::vector<std::string> notes_;
};

}  // namespace edgewire::perf
