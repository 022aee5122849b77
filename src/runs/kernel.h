// The runs folder runs a kernel from beginning to end, in one call: it builds the job, computes, checks the
// result, finds its answer, and gathers the report. This file has the interface of kernels for their callers:
// one object in each process of a job, whichever engine runs it. Dense kernels pass over all edges in each
// iteration (dense_kernel.h). The others follow the edges of a frontier (frontier_kernel.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/seconds.h"
#include "dense/job/dense_options.h"
#include "edgewire/graph.h"
#include "edgewire/progress.h"
#include "graph/file/vertex_names.h"
#include "launch/bootstrap.h"
#include "profile/profile.h"
#include "report/run_report.h"
#include "runs/checkpoints.h"
#include "runs/values.h"

namespace edgewire::runs {

/// The tools of all kernels beside computing.
struct Tools {
  /// The number of vertices that the answer lists; by default it lists those that the kernel lists unasked.
  std::optional<std::uint64_t> top{};
  bool verify = false;  ///< whether to check the result at rank 0
  /// Whether rank 0 counts the least that a kernel which follows a frontier had to send.
  bool bound = false;
  bool gather = false;  ///< whether to bring the values of all vertices to rank 0
  /// Whether each process uses the values of its own vertices; the same in all processes.
  bool parts = false;
  /// Options to profile the run, whose words and number of iterations are the kernel's.
  std::optional<profile::ProfileOptions> profile{};
  Progress progress{};  ///< called for each step, and for one without a name when all are done
  /// The time from which the report counts.
  Clock::time_point start = Clock::now();
};

/// A run that is over, before its memory goes. No fault of its result is known.
struct Finished {
  std::size_t run = 0;  ///< number of the run, counted from 0
  Values all{};         ///< values of all vertices, at rank 0, where the tools ask for them
  /// Returns the text of the vertices that this process owns. Collective.
  std::function<std::string(TextForm)> text_of_owned;
  std::vector<double>* memory = nullptr;  ///< memory of `all`, which may be taken; or null
};

struct RunOptions {
  /// The options of the job. Kernels that follow a frontier use those of processes, ownership, rows and
  /// disks. The kernel sets `weighted` and `kernel`, and the tools `progress`.
  job::DenseOptions job{};
  Tools tools{};
  CheckpointOptions checkpoints{};
  /// Called in all processes after each run without a known fault.
  std::function<void(const Finished&)> finished{};
};

/// The base of all kernels.
class Kernel {
 public:
  /// Makes a kernel. `name`: the name of the command.
  explicit Kernel(std::string name) : name_(std::move(name)) {}
  virtual ~Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  const std::string& name() const noexcept { return name_; }
  /// Describes all that the result depends on, in the same text in all processes.
  virtual std::string describe() const { return name_; }
  /// Returns whether it uses weights.
  virtual bool weighted() const { return false; }
  /// Returns whether it is a dense kernel, whose edges become tiles.
  virtual bool has_tiles() const = 0;
  /// Returns a name, such as its source, for each of several runs; empty: it runs once.
  virtual std::vector<std::string> runs() const { return {}; }
  /// Does all runs, from the graph to the report, which is complete at rank 0. Collective. Throws Error, also
  /// where verification finds a fault; but a dense kernel then says so in the report, see expect_right().
  virtual report::RunReport run(launch::Bootstrap& bootstrap, const Graph& graph,
                                const graph::VertexNames& names, const RunOptions& options) = 0;

 protected:
  /// Returns the options of the job as the kernel and the tools need them.
  job::DenseOptions job_options(const RunOptions& options) const;

 private:
  std::string name_;
};

/// Throws Error where the report of a run says that the result differs from the reference.
void expect_right(const report::RunReport& report);

}  // namespace edgewire::runs
