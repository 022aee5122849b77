// Iterations of processes that hold blocks of edges.
#include "engine_runs.h"

namespace edgewire::engine {
namespace {

TEST_CASE(
    "blocks of edges: sums of mirrors and owned vertices arrive over every backend, in every order of "
    "tiles") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 2000, 8000);
  const auto expected = sequentially(graph, 6);
  for (const auto& subject : transport::subjects()) {
    for (const char* blocks : {"hilbert", "grid"}) {
      for (const auto order : {tiles::Order::strips, tiles::Order::hilbert, tiles::Order::bins}) {
        CAPTURE(subject.label());
        CAPTURE(blocks);
        Run run{subject, Strategy::slots, 4, 2, 6, -1};
        run.order = order;
        run.blocks = blocks;
        const auto outcome = execute(graph, run);
        CHECK(outcome.values == expected.back());
        for (int t = 0; t < 6; ++t) {
          std::uint64_t sent = 0;
          for (const auto& records : outcome.records)
            sent += records[static_cast<std::size_t>(t)].payload_bytes;
          CHECK(sent == outcome.slots * sizeof(float));
        }
      }
    }
  }
}

TEST_CASE("blocks of edges: weights, messages of 2, 8 and 16 bytes, minima, and few vertices") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 700, 5000, true);
  const graph::TemporaryDirectory small_directory;
  const auto small = random_graph(small_directory, 200, 150);  // sums below 2048
  const graph::TemporaryDirectory smallest_directory;
  graph::build(smallest_directory / "g.ew", 3, std::vector<graph::Edge>{{0, 2, 0.0F}}, {});
  const auto smallest = Graph::open(smallest_directory / "g.ew");
  for (const char* backend : {"shm", "tcp"}) {
    for (const int processes : {1, 3, 5}) {
      CAPTURE(backend);
      CAPTURE(processes);
      Run run{{backend}, Strategy::slots, processes, 3, 6};
      run.blocks = "hilbert";
      CHECK(execute(smallest, run).values == sequentially(smallest, 6).back());
      CHECK(execute(graph, run).values == sequentially(graph, 6).back());
      for (const auto encoding : {plan::Encoding::f64, plan::Encoding::f16, plan::Encoding::u16}) {
        run.encoding = encoding;
        CHECK(execute(small, run).values == sequentially(small, 6).back());
      }
      run.encoding = plan::Encoding::f32;
      run.least_source = true;
      run.iterations = 1000;
      run.goal = 0;
      std::vector<float> least;
      for (const std::uint32_t one : least_sources(graph)) least.push_back(static_cast<float>(one));
      CHECK(execute(graph, run).values == least);
    }
  }
}

}  // namespace
}  // namespace edgewire::engine
