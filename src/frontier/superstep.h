#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/seconds.h"
#include "frontier/frontier_job.h"

namespace edgewire::frontier {

/// A meter of a superstep from here on.
class Meter {
 public:
  explicit Meter(Job& job) : job_(job), before_(job.records().sent()) {}

  /// Adds time and bytes, and tells the job's listener.
  void stop(Superstep& done) const {
    add_to(done);
    job_.tell(done);
  }
  /// Adds time and bytes.
  void add_to(Superstep& done) const {
    done.sent += job_.records().sent() - before_;
    done.seconds += seconds_since(begin_);
  }

 private:
  Job& job_;
  Sent before_;
  Clock::time_point begin_ = Clock::now();
};

/// The supersteps of a run, which count on from 0.
class SuperstepLog {
 public:
  /// Makes an empty log. `job` outlives it.
  explicit SuperstepLog(Job& job) : job_(job) {}

  /// Runs work(done), which counts vertices and edges in `done`, and measures it. Where work() returns false,
  /// nobody had anything to follow: time and bytes are those of the superstep before, if any.
  template <class Work>
  void step(std::uint64_t kind, const Work& work) {
    const Meter meter(job_);
    Superstep done;
    done.step = all_.size();
    done.kind = kind;
    if constexpr (std::is_same_v<decltype(work(done)), bool>) {
      if (!work(done) && !all_.empty()) return meter.add_to(all_.back());
    } else {
      work(done);
    }
    meter.stop(done);
    all_.push_back(done);
  }
  /// Runs work(), or work(done), and counts the vertices and edges that the workers count meanwhile.
  template <class Worker, class Work>
  void step(std::uint64_t kind, std::vector<Worker>& workers, const Work& work) {
    step(kind, [&](Superstep& done) {
      for (Worker& worker : workers) worker.vertices = worker.edges = 0;
      if constexpr (std::is_invocable_v<Work, Superstep&>)
        work(done);
      else
        work();
      for (const Worker& worker : workers) {
        done.frontier += worker.vertices;
        done.edges += worker.edges;
      }
    });
  }
  /// Runs work() as a part of the last superstep; without a report.
  template <class Work>
  void extend(const Work& work) {
    const Meter meter(job_);
    work();
    if (!all_.empty()) meter.add_to(all_.back());
  }
  /// Adds supersteps that another kernel has measured.
  void add(const std::vector<Superstep>& others, std::uint64_t kind) {
    for (Superstep one : others) {
      one.step = all_.size();
      one.kind = kind;
      all_.push_back(one);
    }
  }
  std::vector<Superstep> take() { return std::exchange(all_, {}); }

 private:
  Job& job_;
  std::vector<Superstep> all_;
};

}  // namespace edgewire::frontier
