// This file has what the commands of all kernels share that pass over all edges: their options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/kernel_options.h"
#include "dense/job/dense_options.h"

namespace edgewire::cli {

/// What --verify does of kernels that have a reference for any graph.
inline constexpr const char* kVerifyOfDense =
    "check the result against a sequential reference, and exit with 1 when it differs";

struct DenseSettings : KernelOptions {
  double compute_rate = 0;
  std::string precision = "f32";
  bool has_wire = false;  ///< values may travel in 16 bits
  /// They are asked for; a program outside the house has one precision and one direction.
  bool has_precision = true, has_direction = true;
  std::string plan_cache;  ///< folder, or "next to the graph"; empty: none

  /// Adds the graph, and the options of the job.
  void add_to(CLI::App& command);
  bool doubles() const { return precision == "f64"; }
  void check() const override;
  void check_job(const graph::GraphFile& graph, const runs::Kernel& kernel) const override;
  job::DenseOptions job(launch::Bootstrap& bootstrap) const override;

 private:
  /// Sets the options that are known before the processes start, but not where plan and edges are.
  void set_known(job::DenseOptions& options) const;
  /// Returns the folder of the plan cache; empty: there is none.
  std::string plan_folder() const;
};

/// Adds the options that all dense kernels have, behind the kernel's own. `value`: what messages call the
/// value of a vertex. `listed`: the vertices that --top lists. `verify`: what --verify does; empty: there is
/// no such option.
void add_dense_options(CLI::App& command, DenseSettings& settings, const std::string& value,
                       const std::string& listed, const std::string& verify = kVerifyOfDense);

}  // namespace edgewire::cli
