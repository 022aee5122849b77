// Searches from many sources as tasks (edgewire/tasks.h). In a task one worker searches the whole graph
// alone: none waits for another at the end of a level, and only figures are sent.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontier/frontier_job.h"
#include "launch/bootstrap.h"
#include "tasks/task_job.h"

namespace edgewire::frontier {

/// A searcher from one source after the other, in one thread at a time.
class Searcher {
 public:
  virtual ~Searcher() = default;
  /// Searches from a source, and returns its supersteps. `number`: its place. An exception ends the job.
  virtual std::vector<Superstep> search(std::size_t number, VertexId source) = 0;
};

/// The facts that decide whether each worker searches from sources of its own.
struct SearchPlan {
  std::optional<bool> apart{};  ///< whether the caller wants it; empty: where it pays
  std::uint64_t vertices = 0, edges = 0;
  std::size_t sources = 0;
  int processes = 1, workers = 1;
  bool on_disks = false;  ///< whether rows are on disks
};

class Searches {
 public:
  /// A function that makes a searcher for a job of one thread, which outlives it.
  using Make = std::function<std::unique_ptr<Searcher>(Job& alone)>;

  /// Returns whether workers search apart: as `apart` says; else where each of several workers gets two
  /// sources or more, rows are in memory, and a process needs at most 4 GiB. `worker_bytes`, `source_bytes`:
  /// the bytes that the search of a worker takes for each vertex, and those that stay of a source.
  static bool apart(const SearchPlan& plan, std::uint64_t worker_bytes,
                    std::uint64_t source_bytes = 0) noexcept;

  /// Makes the searches. `job` was made for tasks, and outlives this. Each worker that searches makes a
  /// searcher. Memory: where ids have 64 bits, the rows of all vertices as local numbers, 4 bytes an edge.
  /// Throws Error where the graph has more vertices than a process may own.
  Searches(Job& job, Make make);
  /// Returns the registry, to which more functions can be added before connect().
  tasks::Registry& registry() noexcept { return registry_; }
  /// Connects the link. Collective; throws Error.
  void connect() { tasks_.emplace(job_.bootstrap(), registry_, job_.process()); }

  /// Searches from all sources, each in the process that process_of() says. Returns the supersteps of each
  /// task; in processes other than 0 the same supersteps with nothing in them. There is a task for each
  /// source, which any worker takes. `in_order`: there is a task for each worker, which takes the sources of
  /// its turn, always with a searcher of its own. `later`: the number of sources of the calls that follow,
  /// which the progress counts, too. Collective; throws Error.
  std::vector<std::vector<Superstep>> run(std::span<const VertexId> sources, bool in_order,
                                          std::size_t later = 0);
  int process_of(std::size_t number) const noexcept {
    return static_cast<int>(number % static_cast<std::size_t>(job_.bootstrap().size()));
  }
  /// Runs the function in process 0 and returns its result there. Collective; throws Error.
  std::string run_task(tasks::FunctionId function, std::string arguments = {}) {
    return tasks_->run(function, std::move(arguments));
  }
  /// Returns the records and bytes that this process sent in the last run() or run_task().
  Sent sent() const noexcept { return {0, tasks_->figures().payload_bytes, tasks_->figures().wire_bytes}; }
  /// Calls visit(searcher) for all searchers of this process. They must not search meanwhile.
  template <class Visit>
  void for_each_searcher(const Visit& visit) const {
    for (const Place& place : places_)
      if (place.searcher) visit(*place.searcher);
  }

 private:
  static constexpr std::size_t kAnyPlace = SIZE_MAX;
  /// The sources of a task: first, first + step, ...
  struct Turn {
    std::size_t first, step, place;
  };
  /// The place of a worker, which searches with a job of its own.
  struct Place {
    std::unique_ptr<launch::Bootstrap> alone;
    std::unique_ptr<Job> job;
    std::unique_ptr<Searcher> searcher;
  };

  std::string search(const Turn& turn);
  Place& borrow(std::size_t place);
  std::uint64_t mine_of(std::size_t sources) const noexcept;

  Job& job_;
  Make make_;
  tasks::Registry registry_;
  tasks::FunctionId search_, all_;
  std::span<const VertexId> sources_;
  bool in_order_ = false;
  // Sources of this process, for the progress alone.
  std::atomic<std::uint64_t> searched_{0};
  std::uint64_t given_ = 0, later_ = 0;  ///< number of sources in all calls so far, and in those that follow
  std::vector<std::string> found_;       ///< results by task, at rank 0
  std::optional<OwnKnownRows> rows_;     ///< rows of all vertices, where the rows of the file will not do
  std::vector<Place> places_;            ///< places, as many as workers
  std::mutex mutex_;                     ///< guards free_
  std::vector<std::size_t> free_;        ///< places that no task uses
  std::optional<tasks::TaskJob> tasks_;
};

}  // namespace edgewire::frontier
