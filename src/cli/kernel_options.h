// This file has the options that all kernels share, and those of kernels that follow a frontier.
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
#include "runs/kernels.h"

namespace edgewire::cli {

struct EdgePlace {
  std::string edges = "memory";  ///< place of edges: memory, disk or auto
  std::vector<std::string> devices{};
  std::uint64_t memory_bytes = 0;  ///< memory of a process; 0: not given

  /// Adds the options, and names them in `launch` as the way to need less memory.
  void add_to(CLI::App& command, launch::StartOptions& launch);
  /// Throws UsageError when options do not go together.
  void check() const;
  /// Sets the place of tiles or rows. Rank 0 notes what auto takes where memory is short. Collective.
  void apply_to(job::DenseOptions& options, launch::Bootstrap& bootstrap, const Graph& graph,
                const runs::Kernel& kernel) const;

 private:
  bool on_disks(double bytes_in_memory, launch::Bootstrap& bootstrap, const std::string& option) const;
};

struct KernelOptions : JobOptions {
  KernelOptions() = default;
  virtual ~KernelOptions() = default;
  KernelOptions(const KernelOptions&) = delete;
  KernelOptions& operator=(const KernelOptions&) = delete;

  const CLI::App* owner = nullptr;  ///< command that has these options
  /// Call of the kernel in Python, by default under its name here; empty: there is none.
  std::string python_call{};
  bool of_house = true;  ///< false: a kernel of a caller, without the options that are for our own
  std::string graph_path;
  Reading reading;
  graph::Direction direction = graph::Direction::out;  ///< only dense kernels have another one
  edgewire::JobOptions common;                         ///< options that C++ has, too
  EdgePlace edge_place{};
  bool deterministic = false;
  std::string output_path;
  bool output_parts = false;         ///< whether each process writes its own result
  std::optional<std::uint64_t> top;  ///< number of vertices to list
  bool verbose = false;              ///< whether to show all of the report
  runs::CheckpointOptions checkpoints{};
  std::string checkpoint_step{};  ///< unit that `checkpoints` counts, such as "iteration"
  std::function<void(int)>
      set_iterations{};  ///< sets the iterations of the kernel; null: it has no such option
  /// Gets the report of the run at rank 0, instead of stdout; or null.
  std::function<void(const report::RunReport&)> take_report{};

  /// Adds the graph, the options of the job, and the rule of weights, which is the same for all kernels.
  void add_to(CLI::App& command);
  /// Adds the options of output. `result`: the output of -o, as "the levels ... as lines of id, tab and
  /// value". `check`: the text of --verify. `listed`: the vertices that --top lists, and in which order.
  /// `by_default`: their number without --top. Without `check` there is no --verify.
  void add_output_options(CLI::App& command, const std::string& result, const std::string& check,
                          const std::string& listed, std::uint64_t by_default);
  /// Adds --ownership. `offered`: the names that it may have.
  void add_ownership(CLI::App& command, std::span<const std::string_view> offered,
                     const std::string& help = {});
  /// Adds the options of checkpoints, for kernels whose state is small between steps. `value`: the name of
  /// the value of a vertex in messages. `step`: the unit that is counted.
  void add_checkpoint_options(CLI::App& command, const std::string& value, const std::string& step);
  /// Returns `checkpoints`, and lets rank 0 report the one that is resumed. These options outlive the result.
  runs::CheckpointOptions checkpoint_options() const;
  /// Throws UsageError for options, or a name of the result, that do not go; before the graph is opened.
  virtual void check() const;
  /// Throws what is wrong before the processes start: one message instead of one from each process.
  virtual void check_job(const Graph& graph, const runs::Kernel& kernel) const;
  /// Returns a process's options with "auto" resolved, but no place of edges. Throws UsageError. Collective.
  virtual job::DenseOptions job(launch::Bootstrap& bootstrap) const;
  /// Throws UsageError where the name of a result promises a format that results are not written in.
  void check_result_name(const std::string& path) const;
  /// Throws UsageError where `option`, which prints to stdout, was given with --quiet or -o -.
  void expect_stdout_for(const char* option, bool given) const;
  /// Returns whether each process writes its own output.
  bool parts() const { return output_parts && !output_path.empty(); }
  /// Returns whether no output goes to stdout, so that the report can.
  bool stdout_is_free() const { return output_path != "-" && JobOptions::stdout_is_free(); }
  /// Returns the tools of a run. Its time begins now.
  runs::Tools tools() const;
};

/// Checks the options of a kernel and makes it. Throws Error or UsageError.
using MakeKernel = std::function<std::unique_ptr<runs::Kernel>(const Graph&)>;

/// Does the work of a command, and returns when all processes have ended: run_on() with its graph, or
/// Program::take_kernel instead. All processes inherit the kernel, so a fault is reported once. Throws Error
/// or UsageError.
void run_kernel(KernelOptions& options, const MakeKernel& make);
/// Runs the job on a graph that is open, after check(). Throws the same.
void run_on(const OpenGraph& opened, const KernelOptions& options, const MakeKernel& make);

/// Returns the names of the kernels that have it: "bfs, sssp and bc".
std::string kernels_with(bool kernels::Descriptor::*property);
/// Adds the name of a kernel on a graph. The message on another command says which one measures that.
void add_kernel_name(CLI::App& command, std::string& kernel, const std::string& help);

/// The texts of a kernel's help, and those for KernelOptions::add_output_options().
struct FrontierWords {
  std::string footer, output, verify, listed;
  std::uint64_t listed_by_default = 0;
};

/// The text of -o for kernels whose values are labels.
inline constexpr const char* kLabelsOutput =
    "the labels to this file as lines of id, tab and the label, an id as well";

/// Adds the graph, then `own` (the kernel's options), processes and output.
void add_frontier_options(CLI::App& command, KernelOptions& options, const std::function<void()>& own,
                          const FrontierWords& words);

/// Adds a command without options of its own; returns its settings. `on_disks`: whether edges may be there.
KernelOptions& add_frontier_kernel(
    CLI::App& app, const std::string& name, const std::string& description, const FrontierWords& words,
    bool on_disks, const std::function<std::unique_ptr<runs::Kernel>(const KernelOptions&)>& make);

}  // namespace edgewire::cli
