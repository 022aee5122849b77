#include "profile/profile.h"

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>

namespace edgewire::profile {
namespace {

using topology::Phase;

/// Rank 0's worker computes and sends a chunk in each of two iterations; rank 1, on another machine whose
/// clock is far ahead, waits for it and applies it.
Profile two_ranks() {
  Profile profile;
  profile.iterations = 2;
  profile.processes.resize(2);
  constexpr std::uint64_t kAhead = 1'000'000'000'000;
  for (std::size_t p = 0; p < 2; ++p) {
    auto& process = profile.processes[p];
    process.facts.host = p;
    process.spans.resize(1);
    process.arrivals.resize(1);
    for (std::uint64_t t = 0; t < 2; ++t) {
      const std::uint64_t start = 5'000'000 + t * 100'000 + p * kAhead;
      if (p == 0) {
        process.spans[0].push_back({start, start + 30'000, t + 1, 7, -1, Phase::compute});
        process.spans[0].push_back({start + 30'000, start + 40'000, t + 1, 0, 1, Phase::send});
      } else {
        process.spans[0].push_back({start, start + 60'000, t + 1, 0, 0, Phase::wait});
        process.spans[0].push_back({start + 60'000, start + 100'000, t + 1, 3, -1, Phase::apply});
        process.arrivals[0].push_back({start + 60'000, t, t + 1, 0});
      }
      process.iterations.push_back({.begin_ns = start, .end_ns = start + 100'000});
    }
    process.samples.at_ns = {5'050'000 + p * kAhead};
    process.samples.series.push_back({"worker 0", "cores", {0.5F}});
  }
  return profile;
}

TEST_CASE("a trace read back holds phases, chunks' lives and samples on one clock") {
  const auto trace = nlohmann::json::parse(to_trace(two_ranks()));
  std::map<std::string, std::vector<nlohmann::json>> by_kind;
  for (const auto& event : trace["traceEvents"]) by_kind[event["ph"]].push_back(event);

  CHECK(by_kind["M"].size() == 4);
  REQUIRE(by_kind["X"].size() == 8);
  const auto& compute = by_kind["X"][0];
  CHECK(compute["name"] == "compute");
  CHECK(compute["ts"].get<double>() == 0);
  CHECK(compute["dur"].get<double>() == doctest::Approx(29.9995).epsilon(1e-9));  // a gap before the next one
  CHECK(compute["args"]["iteration"] == 1);
  CHECK(compute["args"]["column"] == 7);
  const auto& wait = by_kind["X"][4];
  CHECK(wait["pid"] == 1);
  CHECK(wait["args"]["peer"] == 0);
  CHECK(wait["ts"].get<double>() == 0);  // the other clock was moved

  REQUIRE(by_kind["b"].size() == 2);
  REQUIRE(by_kind["n"].size() == 2);
  REQUIRE(by_kind["e"].size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const double start = 100.0 * static_cast<double>(i);
    CHECK(by_kind["b"][i]["ts"].get<double>() == doctest::Approx(start + 30));
    CHECK(by_kind["n"][i]["ts"].get<double>() == doctest::Approx(start + 40));
    CHECK(by_kind["e"][i]["ts"].get<double>() == doctest::Approx(start + 60));
    CHECK(by_kind["b"][i]["id"] == by_kind["e"][i]["id"]);
    CHECK(by_kind["b"][i]["args"]["to"] == 1);
  }
  REQUIRE(by_kind["C"].size() == 2);
  CHECK(by_kind["C"][0]["args"]["cores"].get<double>() == 0.5);
  CHECK(by_kind["C"][1]["ts"].get<double>() == doctest::Approx(50));
}

TEST_CASE("steps with names have a lane of their own, and no columns or chunks") {
  auto profile = two_ranks();
  profile.words = {"superstep", "edges"};
  profile.names = {"search \"down\"", "search up"};
  profile.processes[0].spans[0].back().iteration = 3;  // what ends the run belongs to its last superstep
  const auto trace = nlohmann::json::parse(to_trace(profile));
  std::map<std::string, std::vector<nlohmann::json>> by_kind;
  for (const auto& event : trace["traceEvents"]) by_kind[event["ph"]].push_back(event);
  REQUIRE(by_kind["X"].size() == 8);
  CHECK(by_kind["X"][0]["args"] == nlohmann::json{{"superstep", 1}});
  CHECK(by_kind["X"][3]["args"] == nlohmann::json{{"superstep", 2}, {"peer", 1}});
  CHECK(by_kind["n"].empty());
  REQUIRE(by_kind["b"].size() == 4);
  REQUIRE(by_kind["e"].size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto &begin = by_kind["b"][i], &end = by_kind["e"][i];
    CHECK(begin["name"] == profile.names[i % 2]);
    CHECK(begin["cat"] == "superstep");
    CHECK(begin["pid"] == i / 2);
    CHECK(begin["id"] == end["id"]);
    CHECK(begin["args"]["superstep"] == i % 2 + 1);
    CHECK(end["ts"].get<double>() - begin["ts"].get<double>() == doctest::Approx(100));
  }
}

TEST_CASE("a chunk whose arrival is no longer kept has no life, the rest of the trace has") {
  auto profile = two_ranks();
  profile.processes[1].arrivals[0].erase(profile.processes[1].arrivals[0].begin());
  const auto trace = nlohmann::json::parse(to_trace(profile));
  std::size_t chunks = 0;
  for (const auto& event : trace["traceEvents"]) chunks += event["ph"] == "b" ? 1U : 0U;
  CHECK(chunks == 1);
}

}  // namespace
}  // namespace edgewire::profile
