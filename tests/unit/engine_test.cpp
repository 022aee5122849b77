// Iterations with kernels of integers: sums of small integers are exact in float, so the result must equal
// the sequential one to the bit.
#include "engine_runs.h"

namespace edgewire::engine {
namespace {

constexpr std::array kStrategies{Strategy::edge, Strategy::worker, Strategy::process, Strategy::slots,
                                 Strategy::cover};

TEST_CASE("every strategy over every backend gives the sequential result and sends what the plan says") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 700, 5000);
  const auto expected = sequentially(graph, 6);
  for (const auto& subject : transport::subjects()) {
    for (const auto strategy : kStrategies) {
      CAPTURE(subject.label());
      CAPTURE(plan::to_name(strategy));
      const auto outcome = execute(graph, {subject, strategy});
      CHECK(outcome.values == expected.back());
      std::uint64_t sent = 0;
      for (const auto& records : outcome.records) {
        REQUIRE(records.size() == 6);
        for (const auto& record : records) {
          sent += record.payload_bytes;
          if (subject.backend != "shm+tcp") CHECK(record.wire_bytes >= record.payload_bytes);
        }
      }
      CHECK(sent == plan::value_size(strategy, plan::Encoding::f32).bytes(6 * outcome.slots));
    }
  }
}

TEST_CASE("values of thin tiles go through bins with every strategy" * doctest::test_suite("schedules")) {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 2000, 8000);
  const auto expected = sequentially(graph, 6);
  for (const auto strategy : kStrategies) {
    for (const auto encoding : {plan::Encoding::f32, plan::Encoding::f64}) {
      if (is_scheduled() && encoding == plan::Encoding::f64) continue;
      CAPTURE(plan::to_name(strategy));
      CAPTURE(plan::to_name(encoding));
      Run run{{"shm"}, strategy, 3, 2, 6, -1, encoding};
      run.order = tiles::Order::bins;
      CHECK(execute(graph, run).values == expected.back());
    }
  }
}

TEST_CASE("messages of 8 bytes and weights of edges arrive with every strategy and order of tiles") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 700, 5000, true);
  const auto expected = sequentially(graph, 6);
  for (const char* backend : {"shm", "tcp"}) {
    for (const auto strategy : kStrategies) {
      for (const auto encoding : {plan::Encoding::f32, plan::Encoding::f64}) {
        CAPTURE(backend);
        CAPTURE(plan::to_name(strategy));
        CAPTURE(plan::to_name(encoding));
        Run run{{backend}, strategy, 3, 2, 6, -1, encoding};
        run.order = encoding == plan::Encoding::f64 ? tiles::Order::strips : tiles::Order::hilbert;
        const auto outcome = execute(graph, run);
        CHECK(outcome.values == expected.back());
        CHECK(outcome.records[0].size() == 6);
        std::uint64_t sent = 0;
        for (const auto& records : outcome.records) sent += records[5].payload_bytes;
        CHECK(sent == plan::value_size(strategy, encoding).bytes(outcome.slots));
      }
    }
  }
}

TEST_CASE("weights that no float holds arrive without change") {
  const graph::TemporaryDirectory directory;
  constexpr std::uint32_t kVertexCount = 700, kNoFloat = (1 << 24) + 1;
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  graph::Builder builder(kVertexCount, 5000, {.weighted = true});
  for (int e = 0; e < 5000; ++e)
    builder.add(0, below(kVertexCount), below(kVertexCount), kNoFloat * below(4));
  OutputFile file(directory / "g.ew");
  builder.write(file, {}, 0, {});
  const auto graph = Graph::open(directory / "g.ew");
  REQUIRE(!graph.float_weights());
  const auto expected = sequentially(graph, 6);
  for (const auto strategy : kStrategies) {
    for (const auto order : {tiles::Order::strips, tiles::Order::hilbert}) {
      CAPTURE(plan::to_name(strategy));
      Run run{{"shm"}, strategy, 3, 2, 6, -1, plan::Encoding::f64};
      run.order = order;
      CHECK(execute(graph, run).values == expected.back());
    }
  }
}

TEST_CASE("a program of unsigned integers and minima ends when nothing changes") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 700, 900, true);  // its weights are ignored
  std::vector<float> expected;
  for (const std::uint32_t least : least_sources(graph)) expected.push_back(static_cast<float>(least));
  for (const char* backend : {"shm", "tcp"}) {
    for (const auto strategy : kStrategies) {
      CAPTURE(backend);
      CAPTURE(plan::to_name(strategy));
      Run run{{backend}, strategy, 3, 2, 1000, 0};
      run.least_source = true;
      const auto outcome = execute(graph, run);
      CHECK(outcome.values == expected);
      CHECK(outcome.records[0].size() < 1000);
    }
  }
}

TEST_CASE("messages of 16 bytes hold an integer beside a sum") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 200, 300);
  const int iterations = 6;
  const auto sums = sequentially(graph, iterations).back();
  std::vector<std::uint32_t> least(graph.vertices());
  std::iota(least.begin(), least.end(), 0);
  for (int t = 0; t < iterations; ++t) {
    const auto before = least;
    for (std::uint32_t v = 0; v < graph.vertices(); ++v)
      for (std::uint64_t e = graph.offsets()[v]; e < graph.offsets()[v + 1]; ++e)
        least[graph.targets()[e]] = std::min(least[graph.targets()[e]], before[v]);
  }
  for (const char* backend : {"shm", "tcp"}) {
    for (const auto strategy : kStrategies) {
      CAPTURE(backend);
      CAPTURE(plan::to_name(strategy));
      const auto outcome = execute(graph, {{backend}, strategy, 3, 2, iterations, -1, plan::Encoding::raw16});
      std::uint64_t sent = 0;
      for (std::uint32_t v = 0; v < graph.vertices(); ++v)
        CHECK(outcome.values[v] == sums[v] + 1000 * static_cast<float>(least[v]));
      for (const auto& records : outcome.records) sent += records[5].payload_bytes;
      CHECK(sent == plan::value_size(strategy, plan::Encoding::raw16).bytes(outcome.slots));
    }
  }
}

TEST_CASE("messages that do not fit the encoding are refused") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 50, 100);
  for (const auto& [encoding, cause] :
       {std::pair(plan::Encoding::f64, "messages of 4 bytes do not fit wire f64, which is for 8 bytes"),
        std::pair(plan::Encoding::f16, "wire f16 is only for programs that say")}) {
    Run run{{"shm"}, Strategy::slots, 2, 1, 5, -1, encoding};
    run.least_source = true;
    try {
      execute(graph, run);
      FAIL("nothing was thrown");
    } catch (const Error& error) {
      CHECK(graph::contains(error.what(), cause));
    }
  }
}

TEST_CASE("while the link has no room for the values of edges, local columns are computed") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 20000, 4'000'000);  // 8 MB from each process to the other
  std::atomic<bool> computed = false;
  std::vector<Order> orders{{true, computed}, {false, computed}};
  const auto outcome = execute(graph, {{"tcp"}, Strategy::edge, 2, 1, 2, -1, plan::Encoding::f32, &orders});
  CHECK(outcome.values == sequentially(graph, 2).back());
  CHECK(orders[0].sends_before > 0);
  CHECK(orders[0].sends_before < outcome.slots / 2 / 64);  // fewer than there are chunks, of 64 slots at most
}

TEST_CASE("values that 16 bits hold exactly arrive exactly, in half the bytes" *
          doctest::test_suite("schedules")) {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 200, 400);  // sums below 2048
  const auto expected = sequentially(graph, 6);
  for (const auto encoding : {plan::Encoding::f16, plan::Encoding::u16}) {
    for (const auto strategy : {Strategy::slots, Strategy::cover}) {
      for (const char* backend : {"shm", "tcp"}) {
        if (is_scheduled() && backend != std::string("shm")) continue;
        const auto outcome = execute(graph, {{backend}, strategy, 3, 2, 6, -1, encoding});
        CHECK(outcome.values == expected.back());
        std::uint64_t sent = 0;
        for (const auto& records : outcome.records)
          for (const auto& record : records) sent += record.payload_bytes;
        CHECK(sent == 6 * outcome.slots * 2);
      }
    }
  }
}

TEST_CASE("graphs that leave processes without vertices or edges") {
  const graph::TemporaryDirectory directory;
  for (const std::uint32_t vertices : {0U, 1U, 3U}) {
    graph::build(directory / "g.ew", vertices,
                 vertices == 3 ? std::vector<graph::Edge>{{0, 2, 0.0F}} : std::vector<graph::Edge>{}, {});
    const auto graph = Graph::open(directory / "g.ew");
    for (const auto strategy : kStrategies) {
      for (const char* backend : {"shm", "tcp"}) {
        const auto outcome = execute(graph, {{backend}, strategy, 4, 1, 3});
        CHECK(outcome.values == sequentially(graph, 3).back());
      }
    }
  }
}

TEST_CASE("no iterations, one process, and a goal that all processes reach together") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 300, 1000);
  const auto expected = sequentially(graph, 8);
  CHECK(execute(graph, {{"shm"}, Strategy::slots, 3, 2, 0}).values == expected[0]);
  CHECK(execute(graph, {{"shm"}, Strategy::slots, 1, 3, 8}).values == expected[8]);
  for (const char* backend : {"shm", "tcp"}) {
    const auto outcome = execute(graph, {{backend}, Strategy::slots, 3, 2, 8, total_of(expected[5])});
    CHECK(outcome.values == expected[5]);
    for (const auto& records : outcome.records) CHECK(records.size() == 5);
  }
}

TEST_CASE("processes that do not agree end at the start") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 50, 100);
  try {
    execute(graph, {{"shm"}, Strategy::slots, 2, 1}, "another");
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(graph::contains(error.what(), "different graphs or options: the job is "));
  }
}

}  // namespace
}  // namespace edgewire::engine
