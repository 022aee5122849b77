#include "bounds/model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "bounds/bound.h"

using namespace edgewire::bounds;
namespace plan = edgewire::plan;

TEST_CASE("the slowest of cores, memory and wire is the time") {
  // 10^9 edges at 8 x 10^9 a second: 125 ms. 10^8 bytes at 10 Gbit/s: 80 ms, and 3 messages of 1 ms.
  const Demand demand{
      .processes = 4, .edges = 1e9, .wire_bytes = 100'000'000, .messages = 3, .memory_bytes = 2'000'000'000};
  Rates rates{.edges_per_core_s = 1e9,
              .cores = 8,
              .memory_bytes_per_s = 0,
              .line_bits_per_s = 1e10,
              .latency_s = 1e-3};
  auto prediction = predict(demand, rates);
  CHECK(prediction.limit == Limit::cores);
  CHECK(prediction.seconds == doctest::Approx(0.125));
  CHECK(prediction.wire_s == doctest::Approx(0.083));
  CHECK(prediction.latency_s == doctest::Approx(0.003));
  CHECK(prediction.memory_s == 0);
  CHECK(prediction.processes == 4);

  rates.memory_bytes_per_s = 1e10;
  prediction = predict(demand, rates);
  CHECK(prediction.limit == Limit::memory);
  CHECK(prediction.seconds == doctest::Approx(0.2));

  rates.line_bits_per_s = 1e9;
  prediction = predict(demand, rates);
  CHECK(prediction.limit == Limit::wire);
  CHECK(prediction.seconds == doctest::Approx(0.803));
}

TEST_CASE("at the balanced line rate the wire takes as long as the rest") {
  const Demand demand{.edges = 1e8, .wire_bytes = 12'345'678, .messages = 7};
  Rates rates{.edges_per_core_s = 5e8, .cores = 2, .line_bits_per_s = 1e9, .latency_s = 1e-4};
  const auto prediction = predict(demand, rates);
  rates.line_bits_per_s = prediction.balanced_bits_per_s;
  CHECK(predict(demand, rates).wire_s == doctest::Approx(prediction.cores_s));
  rates.line_bits_per_s = prediction.balanced_bits_per_s * 0.99;
  CHECK(predict(demand, rates).limit == Limit::wire);
  rates.line_bits_per_s = prediction.balanced_bits_per_s * 1.01;
  CHECK(predict(demand, rates).limit == Limit::cores);
  rates.latency_s = 1;
  CHECK(std::isinf(predict(demand, rates).balanced_bits_per_s));
  CHECK(predict({.edges = 1}, rates).balanced_bits_per_s == 0);
}

TEST_CASE("wire and cores overlap fully only where nobody waits for a turn") {
  const auto seconds = [](double cores_s, std::uint64_t wire_s, double turn) {
    return predict({.edges = cores_s, .wire_bytes = wire_s},
                   {.edges_per_core_s = 1, .line_bits_per_s = 8, .turn = turn})
        .seconds;
  };
  CHECK(seconds(3, 2, 1) == 3);
  CHECK(seconds(2, 3, 1) == 3);
  CHECK(seconds(3, 2, 0.5) == 3.5);
  CHECK(seconds(2, 3, 0.25) == 3.75);
}

TEST_CASE("the first change of the limit along the numbers of processes") {
  const auto with = [](Limit limit) {
    Prediction prediction;
    prediction.limit = limit;
    return prediction;
  };
  const std::vector<Prediction> series{with(Limit::cores), with(Limit::cores), with(Limit::wire),
                                       with(Limit::cores)};
  CHECK(change_of_limit(series) == 2);
  CHECK(change_of_limit({series.data(), 2}) == 2);
  CHECK(change_of_limit({}) == 0);
}

TEST_CASE("memory: edges, vertices and values") { CHECK(memory_bytes(100, 10, 3) == 400 + 80 + 24); }

namespace {

/// A cycle 0 -> 1 -> ... -> 7 -> 0.
struct Cycle {
  std::vector<std::uint64_t> offsets{0, 1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<edgewire::VertexId> targets{1, 2, 3, 4, 5, 6, 7, 0};
};

BoundOptions all_of_it() {
  BoundOptions options;
  options.processes = {1, 2, 4};
  options.workers = 2;
  options.ownerships = {"hash", "ranges", "hilbert", "grid"};
  options.strategies.assign(plan::kStrategies.begin(), plan::kStrategies.end());
  options.rates = {{"1G", 1'000'000'000}};
  options.memory_bytes = 1 << 20;
  return options;
}

}  // namespace

TEST_CASE("the bound of a cycle in ranges: one value from each process to the next") {
  const Cycle cycle;
  const auto bound = compute_bound({cycle.offsets, cycle.targets}, all_of_it());
  CHECK(bound.rows.size() == std::size_t{3} * (2 * 5 + 2 * 2) * 2);
  for (const auto& row : bound.rows) {
    if (row.processes == 1) CHECK(row.volume.values_sent_total == 0);
    if (row.ownership != "ranges" || row.processes == 1) continue;
    CHECK(row.volume.values_sent_total == static_cast<std::uint64_t>(row.processes));
    CHECK(row.volume.values_sent_max == 1);
    CHECK(row.volume.payload_bytes_max == plan::value_size(row.strategy, row.encoding).bytes(1));
    CHECK(row.seconds_at.at(0) ==
          doctest::Approx((90.0 + static_cast<double>(row.volume.payload_bytes_max)) * 8e-9));
    CHECK(row.predictions.empty());
    CHECK(row.cover.has_value() == (row.strategy == plan::Strategy::cover));
  }
}

TEST_CASE("as published in 2015: what stays at home is counted too, in rows of its own") {
  const Cycle cycle;
  auto options = all_of_it();
  options.as_published_2015 = true;
  options.processes = {2};
  options.ownerships = {"ranges"};
  const auto bound = compute_bound({cycle.offsets, cycle.targets}, options);
  std::size_t with_self = 0;
  for (const auto& row : bound.rows) {
    if (!row.self_traffic) continue;
    ++with_self;
    CHECK(row.volume.values_sent_total == 8);
    CHECK(row.volume.payload_bytes_total == 64);
  }
  CHECK(with_self == 3);
}

TEST_CASE("the forms of the output hold the same rows") {
  const Cycle cycle;
  auto options = all_of_it();
  options.model = Rates{.edges_per_core_s = 1e9, .cores = 2, .latency_s = 1e-5};
  const auto bound = compute_bound({cycle.offsets, cycle.targets}, options);
  const auto json = nlohmann::json::parse(to_json(bound, options));
  CHECK(json["rows"].size() == bound.rows.size());
  for (const auto& row : json["rows"]) {
    CHECK(row["seconds_at"].contains("1G"));
    CHECK(row["predicted_at"]["1G"]["seconds"] >= row["seconds_at"]["1G"]);
    CHECK(row["wire_bytes_max"].size() == plan::kFramings.size());
  }
  const std::string csv = to_csv(bound, options);
  CHECK(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) == bound.rows.size() + 1);
  const std::string text = to_text(bound, options);
  for (const char* word : {"hash", "ranges", "hilbert", "grid", "cover", "at the line rates given",
                           "What if (all rates are given", "balanced", "proved minimum"}) {
    CHECK(text.find(word) != std::string::npos);
  }
}

TEST_CASE("a partition file is found by the number of processes in its name") {
  const Cycle cycle;
  auto options = all_of_it();
  options.ownerships = {"/nonexistent/part.{}"};
  CHECK_THROWS_WITH_AS(compute_bound({cycle.offsets, cycle.targets}, options),
                       doctest::Contains("/nonexistent/part.1"), edgewire::Error);
}
