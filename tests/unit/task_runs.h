// Runs jobs of tasks whose processes are threads of the test.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "bootstraps.h"
#include "tasks/task_job.h"

namespace edgewire::tasks {

/// The cut of a job.
struct Cut {
  int processes, workers;
  const char* transport;
};
inline const std::vector<Cut> kCuts{{1, 1, "shm"}, {1, 3, "shm"}, {2, 1, "shm"},
                                    {3, 2, "shm"}, {2, 1, "tcp"}, {2, 2, "tcp"}};

/// The result of each process: bytes, or "error: ..." and why.
struct Outcome {
  std::vector<std::string> results;
  std::vector<Figures> figures;
};

/// Runs the task once on threads that stand for processes, or `times` times in one job.
inline Outcome run(const Cut& cut, const Registry& registry, FunctionId root,
                   const std::string& arguments = {}, int times = 1, bool measure = false) {
  auto members = launch::bootstraps(cut.processes);
  Outcome outcome{std::vector<std::string>(members.size()), std::vector<Figures>(members.size())};
  std::vector<std::jthread> threads;
  for (std::size_t p = 0; p < members.size(); ++p)
    threads.emplace_back([&, p] {
      try {
        process::ProcessOptions options;
        options.peer_timeout_s = 100;  // seconds, many for busy machines
        options.workers = cut.workers;
        options.transport = cut.transport;
        TaskJob job(*members[p], registry, options);
        for (int time = 0; time < times; ++time) {
          outcome.results[p] = job.run(root, arguments, measure);
          outcome.figures[p] = job.figures();
        }
        members[p]->finish();
      } catch (const std::exception& error) {
        members[p]->abort(error.what());
        outcome.results[p] = std::string("error: ") + error.what();
      }
    });
  threads.clear();
  return outcome;
}

/// Returns the result of a run that must succeed.
inline std::string result_of(const Cut& cut, const Registry& registry, FunctionId root,
                             const std::string& arguments = {}, int times = 1) {
  const auto outcome = run(cut, registry, root, arguments, times);
  for (std::size_t p = 1; p < outcome.results.size(); ++p) CHECK(outcome.results[p].empty());
  return outcome.results[0];
}

}  // namespace edgewire::tasks
