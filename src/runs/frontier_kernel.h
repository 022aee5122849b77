// This file has the interface of a kernel that follows a frontier, and runs it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "kernels/count/count.h"
#include "partition/gather_values.h"
#include "runs/answer_check.h"
#include "runs/answers.h"
#include "runs/digest.h"
#include "runs/kernel.h"

namespace edgewire::runs {

/// The counts of the records that a run must send.
using RecordCounts = std::vector<kernels::FrontierCount>;

/// Returns the job options of kernels that follow a frontier, without the kernel's own.
frontier::Options frontier_options(const job::DenseOptions& job);

/// The kernel's own functions. There is one object in each process of the job. run() first calls describe()
/// to prepare(), once each. Then it calls run_at_once(), and for each run choose(), supersteps() unless all
/// are done, and the functions for a result. At the end it calls answer_of_all(), fill() and rules().
/// Functions that take the job are collective. All may throw Error.
class FrontierKernel : public Kernel {
 public:
  using Kernel::Kernel;
  bool has_tiles() const final { return false; }
  report::RunReport run(launch::Bootstrap& bootstrap, const Graph& graph, const graph::VertexNames& names,
                        const RunOptions& options) final;

  /// Returns the bytes of each record that processes send: those of a frontier::Record, or wide ones.
  virtual std::size_t record_bytes() const { return sizeof(frontier::Record); }
  /// Returns the bytes that it keeps of a vertex where rows are on disks; nothing where they cannot be there.
  virtual disk::VertexBytes vertex_bytes() const { return {}; }
  /// Returns whether it follows Job::rows(), which are then made before its time is counted.
  virtual bool follows_rows(const Graph&) const { return true; }
  /// Returns whether it leaves its work to tasks, see frontier::Options::for_tasks, alike in all processes.
  virtual bool choose_tasks(const Graph&, int /*processes*/, int /*workers*/, bool /*on_disks*/) {
    return false;
  }
  /// Prepares facts outside of the kernel's time.
  virtual void prepare(frontier::Job&, const RunOptions&) {}
  /// Chooses run `run`, counted from 0; called before it and the functions for its result.
  virtual void choose(std::size_t /*run*/) {}
  /// Does one run, and returns its supersteps.
  virtual std::vector<frontier::Superstep> supersteps(frontier::Job& job) = 0;
  /// Does all runs together, before the first choose(), and returns the supersteps of each, as many in all
  /// processes. Empty: the kernel does not do this, and supersteps() follows each choose(). Supersteps are
  /// not told to the job's listener: all of them together are one.
  virtual std::vector<std::vector<frontier::Superstep>> run_at_once(frontier::Job&) { return {}; }
  /// Returns the most supersteps that a run takes; 0: it is not known beforehand.
  virtual std::uint64_t most_supersteps() const { return 0; }
  /// Returns the searched sources, and all, where one run searches from one after the other; else two zeros.
  virtual std::pair<std::uint64_t, std::uint64_t> searched() const { return {0, 0}; }
  /// Returns the phase of a superstep in words.
  virtual std::string phase(const frontier::Superstep& superstep) const = 0;
  /// Returns this process's part of the checksum, whose sum over all processes is equal for equal results.
  virtual std::uint64_t checksum(const frontier::Job& job) const = 0;
  /// Returns the answer of the run, complete at rank 0. Its time is not counted. Collective.
  virtual report::Answer answer(const AnsweredRun& run) = 0;
  /// Returns the answer of all runs together, or nothing. Called at rank 0, after those of several runs.
  virtual report::Answer answer_of_all() const { return {}; }
  /// Returns counts of the records that it had to send, by other code, one for each part of the run. Called
  /// after supersteps(). `on_disks`: whether rows were there. Empty: such a run is not counted.
  virtual RecordCounts counts(const Graph&, bool /*on_disks*/) const { return {}; }
  /// Sets the names of kernel and wire form, and the given options, in the report.
  virtual void fill(report::RunReport& report) const {
    report.kernel = name();
    report.wire = "records";
  }
  /// Returns whether rank 0 alone has the values after gather(). Called after choose_tasks().
  virtual bool is_whole() const { return false; }
  /// Returns the values of the owned vertices, by local number. Not called where is_whole().
  virtual Values own() const = 0;
  /// Brings the values of all vertices to rank 0.
  virtual void gather(frontier::Job& job) = 0;
  /// Returns the values of all vertices at rank 0, after gather(); elsewhere none, in the same form.
  virtual Values all() const = 0;
  /// Returns "" for a right result, else the fault. Called at rank 0, after gather().
  virtual std::string fault(const Graph& graph) const = 0;
  /// Returns the answer that the values give (answer_check.h). Called at rank 0, for a result without fault.
  virtual report::Answer expected_answer(const Asked& asked) const = 0;
  /// Returns the rules that hold for a result without fault.
  virtual std::string rules() const = 0;

 protected:
  CheckpointOptions checkpoints_{};  ///< options of checkpoints; run() sets them
};

/// Returns the checksum of the values of this process, by local number.
template <class Value>
std::uint64_t checksum(const frontier::Job& job, const std::vector<Value>& values) {
  std::uint64_t sum = 0;
  for (LocalNumber i{}; i < values.size(); ++i)
    sum += runs::checksum_of(job.ownership().vertex(job.rank(), i), values[i]);
  return sum;
}
/// Returns the same of the values of all vertices, which one process has.
template <class Value>
std::uint64_t checksum_of_all(std::span<const Value> values) {
  std::uint64_t sum = 0;
  for (VertexId v{}; v < values.size(); ++v) sum += runs::checksum_of(v, values[v]);
  return sum;
}

/// The common part of kernels that find a value for each vertex, each process those that it owns.
template <class Value>
class VertexKernel : public FrontierKernel {
 public:
  /// Makes a kernel. `column`: the name of its values in results, which show them in this form.
  VertexKernel(std::string name, std::string column, Values::Form form, int digits)
      : FrontierKernel(std::move(name)), column_(std::move(column)), form_(form), digits_(digits) {}

  std::uint64_t checksum(const frontier::Job& job) const override { return runs::checksum(job, mine_); }
  Values own() const override { return shown(mine_); }
  void gather(frontier::Job& job) override {
    all_ = partition::gather_values(job.bootstrap(), job.ownership(), mine_);
  }
  Values all() const override { return shown(all_); }

 protected:
  Values shown(const std::vector<Value>& values) const {
    return {form_, std::span<const Value>(values), digits_, column_};
  }

  std::vector<Value> mine_;  ///< values by local number; supersteps() sets them
  std::vector<Value> all_;   ///< values by vertex, at rank 0

 private:
  std::string column_;
  Values::Form form_;
  int digits_;
};

}  // namespace edgewire::runs
