// This file has the options that all kernels share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/graph_files.h"
#include "cli/job_options.h"
#include "dense/job/dense_options.h"
#include "edgewire/graph.h"
#include "edgewire/options.h"
#include "kernels/descriptor.h"
#include "launch/start.h"
#include "runs/kernel.h"

namespace edgewire::cli {

struct EdgePlace {
  std::string edges = "memory";  ///< or disk, or auto
  std::vector<std::string> devices{};
  std::uint64_t memory_bytes = 0;  ///< 0: not given

  /// Adds the options, and says in `launch` that they are what needs less memory.
  void add_to(CLI::App& command, launch::StartOptions& launch);
  /// Throws UsageError when options do not go together.
  void check() const;
  /// Sets where tiles or rows are. Rank 0 says on stderr what auto takes, where memory does not suffice.
  /// Collective.
  void apply_to(job::DenseOptions& options, launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                const runs::Kernel& kernel) const;

 private:
  bool on_disks(double bytes_in_memory, launch::Bootstrap& bootstrap, const std::string& option) const;
};

struct KernelOptions : JobOptions {
  KernelOptions() = default;
  virtual ~KernelOptions() = default;
  KernelOptions(const KernelOptions&) = delete;
  KernelOptions& operator=(const KernelOptions&) = delete;

  const CLI::App* owner = nullptr;  ///< the command that has these options, if it may run several times
  std::string python_call{};  ///< the kernel in Python, by default under its name here; empty: there is none
  std::string graph_path;
  Reading reading;
  std::string direction = "out";  ///< only dense kernels have another one
  edgewire::JobOptions common;    ///< what callers of C++ ask for, too
  EdgePlace edge_place{};
  bool deterministic = false;
  std::string output_path;
  bool output_parts = false;         ///< each process writes its own result
  std::optional<std::uint64_t> top;  ///< vertices to list
  bool verbose = false;              ///< show all of the report
  runs::CheckpointOptions checkpoints{};
  std::string checkpoint_step{};  ///< "iteration", or what else `checkpoints` counts

  /// Adds the graph, the options of the job, and the rule of weights, which all kernels say.
  void add_to(CLI::App& command);
  /// Adds the options of output. `result`: what -o writes, as "the levels ... as lines of id, tab and
  /// value". `check`: what --verify does. `listed`: the vertices that --top lists, and in which order.
  /// `by_default`: how many it lists without --top. Without `check` there is no --verify.
  void add_output_options(CLI::App& command, const std::string& result, const std::string& check,
                          const std::string& listed, std::uint64_t by_default);
  /// Adds --ownership. `offered`: the names that it may have.
  void add_ownership(CLI::App& command, std::span<const std::string_view> offered,
                     const std::string& help = {});
  /// Adds the options of checkpoints, for kernels whose state is small between steps. `value`: what messages
  /// call the value of a vertex. `step`: what is counted.
  void add_checkpoint_options(CLI::App& command, const std::string& value, const std::string& step);
  /// Returns `checkpoints`, with which rank 0 says which one was taken up. These options outlive the result.
  runs::CheckpointOptions checkpoint_options() const;
  /// Throws UsageError where options do not go together, or the result cannot be what its name says. It is
  /// called before the graph is opened.
  virtual void check() const;
  /// Throws what the job says of those options that are known before the processes start: one message instead
  /// of one from each process.
  virtual void check_job(const graph::GraphFile& graph, const runs::Kernel& kernel) const;
  /// Returns the options of the job for one process, with "auto" resolved, but not where edges are. Throws
  /// UsageError. Collective.
  virtual job::DenseOptions job(launch::Bootstrap& bootstrap) const;
  /// Throws UsageError where the name of a result promises a format that results are not written in.
  void check_result_name(const std::string& path) const;
  /// Throws UsageError where `option` was given, which prints to stdout, and the result goes there, or
  /// --quiet was said.
  void expect_stdout_for(const char* option, bool given) const;
  /// Returns whether each process writes its own output.
  bool parts() const { return output_parts && !output_path.empty(); }
  /// Returns whether no output goes to stdout, so that the report can.
  bool stdout_is_free() const { return output_path != "-" && JobOptions::stdout_is_free(); }
  /// Returns what a run does beside computing. Its time begins now.
  runs::Tools tools() const;
};

/// Runs the job and returns when all processes have ended. `make`: looks at what was asked for and makes the
/// kernel, which all processes inherit; so what is wrong is said once. Throws Error or UsageError.
void run_kernel(const KernelOptions& options,
                const std::function<std::unique_ptr<runs::Kernel>(const graph::GraphFile&)>& make);

/// Returns the names of the kernels that have it: "bfs, sssp and bc".
std::string kernels_with(bool kernels::Descriptor::*property);
/// Adds the name of a kernel on a graph, "pagerank" by default. A user who names another command is told
/// what counts or measures that one.
void add_kernel_name(CLI::App& command, std::string& kernel, const std::string& help);

}  // namespace edgewire::cli
