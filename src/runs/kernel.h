// What a kernel that follows a frontier is for the runs folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "report/run_report.h"
#include "runs/answers.h"
#include "runs/tools.h"
#include "runs/values.h"

namespace edgewire::runs {

/// What is a kernel's own. One object for each process of the job; the functions are called in the order in
/// which they stand here. Those that take the job are collective. All may throw Error.
class Kernel {
 public:
  virtual ~Kernel() = default;
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
  virtual void prepare(frontier::FrontierJob&, const Tools&) {}
  /// A name for each run, such as its source, where the kernel runs several times. Then choose(i) precedes
  /// run i, and what comes after prepare() but fill() is called again for each run.
  virtual std::vector<std::string> runs() const { return {}; }
  virtual void choose(std::size_t) {}
  virtual std::vector<frontier::Superstep> run(frontier::FrontierJob& job) = 0;
  /// Instead of run() after each choose(), once before the first: the supersteps of all runs, in all
  /// processes as many. Empty: it runs one after the other.
  virtual std::vector<std::vector<frontier::Superstep>> run_at_once(frontier::FrontierJob&) { return {}; }
  /// The most supersteps that a run takes; 0: nobody knows beforehand.
  virtual std::uint64_t most_supersteps() const { return 0; }
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
  /// After choose_tasks(): whether rank 0 alone has the values that results show, after gather().
  virtual bool is_whole() const { return false; }
  /// The values of the owned vertices, by local number. Not where is_whole().
  virtual Values own() const = 0;
  /// Brings the values of all vertices to rank 0.
  virtual void gather(frontier::FrontierJob& job) = 0;
  /// After gather(): the values of all vertices at rank 0, in other processes none, in the same form.
  virtual Values all() const = 0;
  /// At rank 0, after gather(): "" for a right result, or what is wrong with it.
  virtual std::string fault(const graph::GraphFile& graph) const = 0;
  /// What holds of a result without fault.
  virtual std::string rules() const = 0;
};

}  // namespace edgewire::runs
