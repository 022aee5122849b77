// This file says what a kernel that follows a frontier has to say, and runs it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

/// These objects count what a run must send.
using RecordCounts = std::vector<kernels::FrontierCount>;

/// Returns those options of a job that kernels have which follow a frontier, without the kernel's own.
frontier::Options frontier_options(const job::DenseOptions& job);

/// What is a kernel's own. There is one object in each process of the job. run() first calls describe() to
/// prepare(), once each. Then it calls run_at_once(), and for each run choose(), supersteps() unless all are
/// done, and what is asked of a result. At the end it calls answer_of_all(), fill() and rules(). Functions
/// that take the job are collective. All may throw Error.
class FrontierKernel : public Kernel {
 public:
  using Kernel::Kernel;
  bool has_tiles() const final { return false; }
  report::RunReport run(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                        const graph::VertexNames& names, const RunOptions& options) final;

  /// Returns the bytes of each record that processes send: a frontier::Record or a WideRecord.
  virtual std::size_t record_bytes() const { return sizeof(frontier::Record); }
  /// Returns what it keeps of a vertex where rows are on disks; nothing where they cannot be there.
  virtual disk::VertexBytes vertex_bytes() const { return {}; }
  /// Returns whether it follows Job::rows(), which are then made before its time counts.
  virtual bool follows_rows(const graph::GraphFile&) const { return true; }
  /// Chooses whether it leaves its work to tasks, see frontier::Options::for_tasks, and returns that. It is
  /// the same in all processes.
  virtual bool choose_tasks(const graph::GraphFile&, int /*processes*/, int /*workers*/, bool /*on_disks*/) {
    return false;
  }
  /// Finds what must be known before, and is no part of the kernel's time.
  virtual void prepare(frontier::Job&, const RunOptions&) {}
  /// Precedes run `run`, counted from 0, and what is asked of its result.
  virtual void choose(std::size_t /*run*/) {}
  /// Does one run, and returns its supersteps.
  virtual std::vector<frontier::Superstep> supersteps(frontier::Job& job) = 0;
  /// Does all runs together, before the first choose(), and returns the supersteps of each, as many in all
  /// processes. Empty: the kernel does not do this, and supersteps() follows each choose(). Supersteps are
  /// not told to the job's listener: all of them together are one.
  virtual std::vector<std::vector<frontier::Superstep>> run_at_once(frontier::Job&) { return {}; }
  /// Returns the most supersteps that a run takes; 0: nobody knows beforehand.
  virtual std::uint64_t most_supersteps() const { return 0; }
  /// Returns from how many sources it has searched, and how many there are, where one run searches from one
  /// after the other; else two zeros.
  virtual std::pair<std::uint64_t, std::uint64_t> searched() const { return {0, 0}; }
  /// Says what a superstep did, in words.
  virtual std::string phase(const frontier::Superstep& superstep) const = 0;
  /// Returns the checksum of the result's values in this process. The sum over all processes is equal for
  /// equal results.
  virtual std::uint64_t checksum(const frontier::Job& job) const = 0;
  /// Returns what people ask first of the run, complete at rank 0. Its time counts nowhere. Collective.
  virtual report::Answer answer(const AnsweredRun& run) = 0;
  /// Returns what holds of all runs together, or nothing. It is called at rank 0, after the answers of
  /// several runs.
  virtual report::Answer answer_of_all() const { return {}; }
  /// Returns counts of what it had to send, by other code, one for each part of the run. It is called after
  /// supersteps(). `on_disks`: rows were there. Empty: nobody counts such a run.
  virtual RecordCounts counts(const graph::GraphFile&, bool /*on_disks*/) const { return {}; }
  /// Sets the names of kernel and wire form, and the options that were asked for, in the report.
  virtual void fill(report::RunReport& report) const {
    report.kernel = name();
    report.wire = "records";
  }
  /// Returns whether rank 0 alone has the values that results show, after gather(). It is called after
  /// choose_tasks().
  virtual bool is_whole() const { return false; }
  /// Returns the values of the owned vertices, by local number. It is not called where is_whole().
  virtual Values own() const = 0;
  /// Brings the values of all vertices to rank 0.
  virtual void gather(frontier::Job& job) = 0;
  /// Returns the values of all vertices at rank 0, after gather(); in other processes it returns none, in
  /// the same form.
  virtual Values all() const = 0;
  /// Returns "" for a right result, or what is wrong with it. It is called at rank 0, after gather().
  virtual std::string fault(const graph::GraphFile& graph) const = 0;
  /// Returns the answer as the values say it, without what depends on time: see answer_check.h. It is called
  /// at rank 0, for a result without fault.
  virtual report::Answer expected_answer(const Asked& asked) const = 0;
  /// Returns what holds of a result without fault.
  virtual std::string rules() const = 0;

 protected:
  CheckpointOptions checkpoints_{};  ///< checkpoints that were asked for; run() sets them
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

/// What kernels have in common that find a value for each vertex, each process those that it owns.
template <class Value>
class VertexKernel : public FrontierKernel {
 public:
  /// Makes a kernel whose values, of this name, results show in this form.
  VertexKernel(std::string name, std::string column, Values::Form form, int digits)
      : FrontierKernel(std::move(name)), column_(std::move(column)), form_(form), digits_(digits) {}

  std::uint64_t checksum(const frontier::Job& job) const override { return runs::checksum(job, mine_); }
  Values own() const override { return shown(mine_); }
  void gather(frontier::Job& job) override { all_ = frontier::gather_values(job, mine_); }
  Values all() const override { return shown(all_); }

 protected:
  Values shown(const std::vector<Value>& values) const {
    return {form_, std::span<const Value>(values), digits_, column_};
  }

  std::vector<Value> mine_;  ///< [local number]; supersteps() sets them
  std::vector<Value> all_;   ///< [vertex], at rank 0

 private:
  std::string column_;
  Values::Form form_;
  int digits_;
};

}  // namespace edgewire::runs
