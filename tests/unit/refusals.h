// The common part of tests of options: small graphs, and lines that refuse.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dense/job/dense_job.h"
#include "graph_test.h"

namespace edgewire {

/// A file with edges 0->1, 1->2, 2->0, 3->0 of weights `weight`, 3, 4, 5.
struct File {
  graph::TemporaryDirectory folder;
  Graph graph;

  explicit File(bool weighted, float weight = 2.0F)
      : graph([&] {
          const std::vector<graph::Edge> edges{{0, 1, weight}, {1, 2, 3.0F}, {2, 0, 4.0F}, {3, 0, 5.0F}};
          graph::build(folder / "g.ew", 4, edges, {.weighted = weighted});
          return Graph::open(folder / "g.ew");
        }()) {}
};

inline job::DenseOptions dense(bool weighted, const char* transport = "shm",
                               plan::Strategy strategy = plan::Strategy::slots) {
  job::DenseOptions options;
  options.weighted = weighted;
  options.process.transport = transport;
  options.strategy = strategy;
  return options;
}

/// Returns the line of the exception.
template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

inline void check_line(const std::string& line, const std::string& word) {
  INFO(line);
  CHECK(line.find(word) != std::string::npos);
  CHECK(line.find('\n') == std::string::npos);
}

/// A change that makes no sense, and a word of its line.
template <class Options>
struct Wrong {
  std::function<void(Options&)> change;
  const char* word;
};

/// Tries one after the other: use(options) must throw for each, and not for what they were before.
template <class Options, class Use>
void try_all(const Options& right, const std::vector<Wrong<Options>>& all, const Use& use) {
  use(right);
  for (const auto& wrong : all) {
    Options options = right;
    wrong.change(options);
    check_line(refusal([&] { use(options); }), wrong.word);
  }
}

}  // namespace edgewire
