// This file has what the commands of all dense kernels share: options, the processes, output.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "cli/kernel_options.h"
#include "runs/dense.h"

namespace edgewire::cli {

inline constexpr const char* kBesideGraph = "next to the graph";

struct DenseSettings : KernelOptions {
  std::string strategy = "auto";
  double compute_rate = 0;
  std::string encoding = "f32";
  std::string precision = "f32";
  bool weighted = false;
  std::string direction = "out";
  std::string layout = "auto", order = "auto";
  std::string plan_cache;  ///< folder, or kBesideGraph; empty: none

  /// Adds the graph, and the options of the job.
  void add_to(CLI::App& command);
  bool doubles() const { return precision == "f64"; }
  /// Returns the options for one process, with "auto" resolved. Throws UsageError. Collective.
  job::DenseOptions dense(launch::Bootstrap& bootstrap) const;
  /// Throws what job::check() says of the options that are known before the processes start: one message
  /// instead of one from each process.
  void check(const graph::GraphFile& graph) const;

 private:
  /// Returns the options that are known before the processes start, but not where plan and edges are.
  job::DenseOptions known() const;
  /// Returns the folder of the plan cache; empty: there is none.
  std::string plan_folder() const;
  /// Returns how --wire and --precision let values travel. Throws UsageError.
  plan::Encoding sent_as() const;
  /// Returns the order of tiles that --order asks for.
  job::OrderOptions tile_order() const;
};

/// This makes the kernel of a process.
using MakeDense = std::function<std::unique_ptr<runs::DenseKernel>()>;
/// This looks once at what was asked for, before the processes start; what is wrong is then said once.
/// Throws Error or UsageError.
using PrepareDense = std::function<MakeDense(const graph::GraphFile&)>;

/// Adds the options that all dense kernels have, behind the kernel's own. `value`: what messages call the
/// value of a vertex. `listed`: the vertices that --top lists.
void add_dense_options(CLI::App& command, DenseSettings& settings, const std::string& value,
                       const std::string& listed);
/// Runs the job and returns when all processes have ended.
void run_dense(const DenseSettings& settings, const PrepareDense& prepare);

}  // namespace edgewire::cli
