// What the commands of all frontier kernels share: options, the processes, the checked result, the report.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/answers.h"
#include "cli/job_options.h"
#include "cli/vertex_lines.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "report/run_report.h"

namespace edgewire::cli {

/// What is a kernel's own. One object for each process of the job; the functions are called in the order in
/// which they stand here. Those that take the job are collective. All may throw Error.
class FrontierKernel {
 public:
  virtual ~FrontierKernel() = default;
  /// In words, with all that the result depends on: must be the same in all processes.
  virtual std::string describe() const = 0;
  /// Of all that processes send: a frontier::Record or a WideRecord.
  virtual std::size_t record_bytes() const { return sizeof(frontier::Record); }
  /// Whether it uses weights.
  virtual bool weighted() const { return false; }
  /// Whether it leaves its work to tasks, see frontier::Options::for_tasks. The same in all processes.
  virtual bool choose_tasks(const graph::GraphFile&, int /*processes*/, int /*workers*/, bool /*on_disks*/) {
    return false;
  }
  /// What must be known before, and is no part of the kernel's time.
  virtual void prepare(frontier::FrontierJob&) {}
  /// A name for each run, such as its source, where the kernel runs several times. Then choose(i) precedes
  /// run i, and what comes after prepare() but fill() is called again for each run.
  virtual std::vector<std::string> runs() const { return {}; }
  virtual void choose(std::size_t) {}
  virtual std::vector<frontier::Superstep> run(frontier::FrontierJob& job) = 0;
  /// Instead of run() after each choose(), once before the first: the supersteps of all runs, in all
  /// processes as many. Empty: it runs one after the other.
  virtual std::vector<std::vector<frontier::Superstep>> run_at_once(frontier::FrontierJob&) { return {}; }
  /// What a superstep did, in words.
  virtual std::string phase(const frontier::Superstep& superstep) const = 0;
  /// Equal for equal results, in sum over all processes.
  virtual std::uint64_t checksum(const frontier::FrontierJob& job) const = 0;
  /// What people ask first of the run, complete at rank 0. Its time is nobody's. Collective.
  virtual report::Answer answer(const AnsweredRun& run) = 0;
  /// At rank 0, after the answers of several runs: what holds of all of them together; or nothing.
  virtual report::Answer answer_of_all() const { return {}; }
  /// Kernel, options and wire form.
  virtual void fill(report::RunReport& report) const = 0;
  /// Brings the values of all vertices to rank 0.
  virtual void gather(frontier::FrontierJob& job) = 0;
  /// At rank 0, after gather(): "" for a right result, or what is wrong with it.
  virtual std::string fault(const graph::GraphFile& graph) const = 0;
  /// What holds of a result without fault.
  virtual std::string rules() const = 0;
  /// As fault(): the line of a vertex.
  virtual void add_line(VertexLines& lines, std::uint32_t vertex) const = 0;
};

/// The sum of a mixture of each vertex and its value: for FrontierKernel::checksum().
std::uint64_t checksum(const frontier::FrontierJob& job, std::span<const std::uint32_t> values);
std::uint64_t checksum(const frontier::FrontierJob& job, std::span<const std::uint64_t> values);
std::uint64_t checksum(const frontier::FrontierJob& job, std::span<const float> values);
std::uint64_t checksum(const frontier::FrontierJob& job, std::span<const double> values);
/// The same of all vertices, in one process.
std::uint64_t checksum_of_all(std::span<const std::uint32_t> values);
std::uint64_t checksum_of_all(std::span<const double> values);

/// What --top lists, as add_top_option() takes it.
struct FrontierTop {
  std::string what;
  std::uint64_t by_default = 0;
};

/// Graph, then `own` (the kernel's options), processes and output.
void add_frontier_options(CLI::App& command, JobOptions& options, const std::function<void()>& own,
                          const std::string& output_help, const std::string& verify_help,
                          const FrontierTop& top);
/// Runs the job and returns when all processes have ended. `check`: looks at what was asked for, once.
/// `make`: a kernel for each process.
void run_frontier(const JobOptions& options, const std::function<void(const graph::GraphFile&)>& check,
                  const std::function<std::unique_ptr<FrontierKernel>()>& make);

}  // namespace edgewire::cli
