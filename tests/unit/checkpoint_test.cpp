#include "dense/job/checkpoint.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "bootstraps.h"
#include "graph_test.h"
#include "topology/machine.h"
#include "transport_fixture.h"

namespace edgewire::job {

namespace {

using Ids = std::vector<VertexId>;
constexpr std::uint32_t kVertices = 11;

/// A run without a kernel: the value of vertex v after iteration i is 1000 i + v.
template <class Value>
struct Run {
  const graph::BuiltGraph built{kVertices, graph::random_edges(kVertices, 20, 1)};
  std::string folder = built.folder / "kept";
  std::string what = "a test";

  static std::vector<Value> values_of(const Ids& ids, std::uint64_t iteration) {
    std::vector<Value> all;
    for (const VertexId v : ids) all.push_back(static_cast<Value>(1000 * iteration + v));
    return all;
  }
  /// Calls work(bootstrap, checkpointed, ids) in each process, which has every n-th vertex, the last first.
  template <class Work>
  void in_each(int processes, const Work& work) const {
    const auto bootstraps = launch::bootstraps(processes);
    transport::parallel(processes, [&](int p) {
      Ids ids;
      for (VertexId v(static_cast<std::uint32_t>(p)); v < kVertices;
           v += static_cast<std::uint32_t>(processes))
        ids.insert(ids.begin(), v);
      topology::WorkerPool pool(topology::place(topology::discover(), p, processes, 1));
      auto& bootstrap = *bootstraps[static_cast<std::size_t>(p)];
      work(Checkpointed{bootstrap, pool, built.graph, ids, sizeof(Value), what}, ids);
    });
  }
  /// So many iterations after `first`, with a checkpoint after each second one.
  void write(int processes, std::uint64_t first, std::uint64_t last, const std::string& resumed = "") const {
    in_each(processes, [&](const Checkpointed& of, const Ids& ids) {
      Checkpoint checkpoint(of, folder, resumed);
      for (std::uint64_t i = first; i <= last; ++i) {
        const auto values = values_of(ids, i);
        checkpoint.step(i, 2, std::as_bytes(std::span(values)));
      }
      checkpoint.finish();
    });
  }
  void check_resumed(int processes, std::uint64_t iteration) const {
    in_each(processes, [&](const Checkpointed& of, const Ids& ids) {
      const auto state = resume(of, folder);
      transport::require(state.iteration == iteration, "another iteration");
      transport::require(state.template values<Value>() == values_of(ids, iteration), "other values");
    });
  }
  /// What one process of this run says when it is to go on.
  std::string refusal() const {
    std::string said;
    in_each(1, [&](const Checkpointed& of, const Ids&) {
      try {
        resume(of, folder);
      } catch (const Error& error) {
        said = error.what();
      }
    });
    return said;
  }
};

}  // namespace

TEST_CASE_TEMPLATE("any number of processes goes on from a checkpoint", Value, std::uint32_t, double) {
  for (const int before : {1, 2, 3, 12}) {  // of 12 processes one has no vertex
    Run<Value> run;
    run.write(before, 1, 9);
    for (const int after : {1, 2, 3, 12}) {
      CAPTURE(before);
      CAPTURE(after);
      run.check_resumed(after, 8);
    }
    run.write(2, 9, 13, run.folder);
    run.check_resumed(3, 12);
  }
}

TEST_CASE("a checkpoint counts when all processes have kept it, at the latest when the next one begins") {
  const Run<double> run;
  run.in_each(2, [&](const Checkpointed& of, const Ids& ids) {
    Checkpoint checkpoint(of, run.folder, "");
    const auto step = [&](std::uint64_t i) {
      const auto values = Run<double>::values_of(ids, i);
      checkpoint.step(i, 2, std::as_bytes(std::span(values)));
      of.bootstrap.allgather("");  // rank 0 has written
    };
    step(1);
    transport::require(!std::filesystem::exists(run.folder + "/manifest"), "there is none yet");
    step(2);
    step(4);
    transport::require(resume(of, run.folder).iteration == 2, "not the one before");
    checkpoint.finish();
    of.bootstrap.allgather("");
    transport::require(resume(of, run.folder).iteration == 4, "not the last one");
  });
}

TEST_CASE("a checkpoint of another run is refused, in one line that names it") {
  Run<std::uint32_t> run;
  CHECK(run.refusal() == run.folder + ": there is no checkpoint");
  run.write(2, 1, 4);
  CHECK(run.refusal().empty());
  CHECK_THROWS_WITH_AS(run.write(1, 1, 2), doctest::Contains("there is a checkpoint already"), Error);
  run.what = "another test";
  CHECK(graph::contains(run.refusal(),
                        run.folder + ": the checkpoint is of another computation: a test, graph "));
  Run<double> wide;  // of the same graph, with values of another size
  wide.folder = run.folder;
  CHECK(graph::contains(wide.refusal(), "belongs to another checkpoint"));
  graph::write_file(run.built.folder / "file", "x");
  run.folder = run.built.folder / "file";
  CHECK(run.refusal() == run.folder + ": there is no checkpoint");
  CHECK_THROWS_WITH_AS(run.write(1, 1, 2), doctest::Contains("cannot make the folder"), Error);
}

TEST_CASE("a checkpoint that lacks a vertex, or has one that is not there, is refused") {
  for (const std::uint32_t wrong : {1U, kVertices}) {  // which then is there twice, or not at all
    CAPTURE(wrong);
    Run<std::uint32_t> run;
    run.write(2, 1, 2);
    for (const auto& entry : std::filesystem::directory_iterator(run.folder)) {
      const std::string path = entry.path();
      if (!graph::contains(path, "/ids.") || !path.ends_with(".0")) continue;
      auto part = read_checkpoint_file(path, kIds, kVertices);
      std::ranges::replace(part.items, 0U, wrong);
      CheckpointFile file(part.items.size());
      file.fill(part.header, std::as_bytes(std::span(part.items)));
      file.write(path, "");
    }
    CHECK(graph::contains(run.refusal(),
                          wrong < kVertices ? "does not hold all vertices" : "not a part of a checkpoint"));
  }
}

}  // namespace edgewire::job
