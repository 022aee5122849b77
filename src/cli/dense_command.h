// This file has the common options of the commands whose kernels pass over all edges.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/kernel_options.h"
#include "dense/job/dense_options.h"

namespace edgewire::cli {

/// The text of --verify for kernels that have a reference for any graph.
inline constexpr const char* kVerifyOfDense =
    "check the result against a sequential reference, and exit with 1 when it differs";

struct DenseSettings : KernelOptions {
  double compute_rate = 0;
  bool doubles = false;    ///< whether messages are doubles, otherwise floats
  bool has_wire = false;   ///< whether values may travel in 16 bits
  std::string plan_cache;  ///< folder, or "next to the graph"; empty: none

  /// Adds the graph, and the options of the job.
  void add_to(CLI::App& command);
  void check() const override;
  void check_job(const Graph& graph, const runs::Kernel& kernel) const override;
  job::DenseOptions job(launch::Bootstrap& bootstrap) const override;

 private:
  /// Sets the options that are known before the processes start, but not the places of plan and edges.
  void set_known(job::DenseOptions& options) const;
  /// Returns the folder of the plan cache; empty: there is none.
  std::string plan_folder() const;
};

/// Adds the common options of dense kernels, behind the kernel's own. `value`: what messages call a vertex's
/// value. `listed`: the vertices that --top lists. `verify`: the text of --verify; empty: there is none.
void add_dense_options(CLI::App& command, DenseSettings& settings, const std::string& value,
                       const std::string& listed, const std::string& verify = kVerifyOfDense);

}  // namespace edgewire::cli
