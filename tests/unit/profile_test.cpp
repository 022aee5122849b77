#include "profile/profile.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace edgewire::profile {
namespace {

/// One process with two workers, 10 iterations of 1000 edges each; while they computed, counters ran for half
/// of the time, and cache misses were counted for half of that.
Profile counted() {
  Profile profile;
  profile.iterations = 10;
  ProcessProfile process;
  process.facts.workers = 2;
  process.facts.items = 1000;
  process.iterations.resize(10);
  process.waited_ns = process.wire_bytes_to = {0};
  process.workers.resize(2);
  for (auto& worker : process.workers) {
    worker.phases = {8000, 0, 0, 0};
    worker.counted_ns = {4000, 0, 0, 0};
    auto& counts = worker.counts[0];
    counts[Event::cycles] = {40'000, 4000, 4000};
    counts[Event::instructions] = {20'000, 4000, 4000};
    counts[Event::stalled_backend] = {5000, 4000, 4000};
    counts[Event::llc_misses] = {125, 4000, 2000};  // 250 of the whole time
  }
  profile.processes.push_back(process);
  profile.load = load_of(profile);
  profile.verdict = judge(profile.load);
  return profile;
}

TEST_CASE("derived figures come from counts, scaled, of computing") {
  const auto profile = counted();
  const auto json = nlohmann::json(profile.to_json());
  const auto& process = json["processes"][0];
  for (const auto& worker : process["worker"]) {
    const auto& compute = worker["counted"]["compute"];
    CHECK(compute["llc_misses"] == 250);
    CHECK(compute["llc_misses_share_of_time"] == 0.5);
    CHECK(compute["cycles_per_instruction"] == 2);
    CHECK(compute["stalled_cycles_per_instruction"] == 0.25);
    CHECK(compute["instructions_per_llc_miss"] == 80);
    CHECK(!worker["counted"]["send"].contains("cycles_per_instruction"));
  }
  // 500 misses in half of the time of 10 iterations with 1000 edges.
  CHECK(process["bytes_from_memory_per_edge"].get<double>() == doctest::Approx(64.0 * 500 / 5 / 1000));
  const auto text = profile.to_text();
  INFO(text);
  CHECK(text.find(
            "compute: 2.00 cycles an instruction, 0.25 of them stalled, 80 instructions a last-level miss, "
            "6.4 bytes from memory an edge; not counted on this machine: ") != std::string::npos);
}

TEST_CASE("charts of samples: a colour means the same for all ranks, and one sample is no curve") {
  auto profile = counted();
  profile.processes.push_back(profile.processes[0]);
  profile.processes[0].samples = {{1'000, 2'000},
                                  {{"worker 0", "cores", {0, 0}}, {"system", "cores", {1600, 1600}}}};
  profile.processes[1].samples = {{1'000, 2'000},
                                  {{"worker 0", "cores", {1, 1}}, {"system", "cores", {1, 2}}}};
  const auto figure = [&](std::size_t rank) { return samples_figure(profile, rank, "cores", "CPU"); };
  CHECK(figure(0).find("<i class=\"s0\"></i>system") != std::string::npos);
  CHECK(figure(1).find("<i class=\"s0\"></i>system") != std::string::npos);
  CHECK(figure(1).find("<i class=\"s1\"></i>worker 0") != std::string::npos);
  CHECK(figure(0).find(">1600<") != std::string::npos);
  CHECK(samples_figure(profile, 0, "MB", "Memory").empty());
  profile.processes[1].samples = {{1'000}, {{"system", "cores", {0.5F}}, {"worker 0", "cores", {1700}}}};
  CHECK(figure(1).find("there is one sample") != std::string::npos);
  CHECK(figure(1).find("system: 0.5") != std::string::npos);
  CHECK(figure(1).find("worker 0: 1700") != std::string::npos);
  CHECK(figure(1).find("class=\"grid\"") == std::string::npos);
}

TEST_CASE("cores that a hypervisor took away are told once for each machine") {
  auto profile = counted();
  CHECK(profile.to_text().find("hypervisor") == std::string::npos);
  auto& first = profile.processes[0];
  first.waited_ns = first.wire_bytes_to = {0, 0, 0};
  first.samples.series = {{"system", "cores", {2, 2}}, {kStolen, "cores", {0.5F, 0}}};
  profile.processes = {first, first, first};
  profile.processes[2].facts.host = 1;
  profile.processes[2].samples.series[1].values = {0.02F, 0.01F};  // little for two workers
  profile.load = load_of(profile);
  const auto text = profile.to_text();
  INFO(text);
  CHECK(text.find("rank 0: the hypervisor took 0.25 cores") != std::string::npos);
  CHECK(text.find("rank 1: the hypervisor") == std::string::npos);
  CHECK(text.find("rank 2: the hypervisor") == std::string::npos);
  const auto json = nlohmann::json(profile.to_json());
  CHECK(json["processes"][0]["stolen_cores"] == 0.25);
  CHECK(json["processes"][2]["stolen_cores"].get<double>() == doctest::Approx(0.015));
}

TEST_CASE("how long the others waited for a process is the least wait among them, iteration by iteration") {
  Profile profile;
  profile.iterations = 3;
  constexpr std::uint64_t kMs = 1'000'000;
  const std::uint64_t waits[3][3] = {
      {90, 90, 90}, {0, 4, 8}, {2, 0, 6}};  // [iteration][rank]; the first is left out
  for (std::size_t p = 0; p < 3; ++p) {
    ProcessProfile process;
    process.facts.workers = 2;
    process.wire_bytes_to = {0, 0, 0};
    process.waited_ns = {0, 0, 0};
    for (const auto& iteration : waits) {
      IterationTimes times;
      times.end_ns = 100 * kMs;
      times.own_wait_ns = kMs;
      times.phases[static_cast<std::size_t>(topology::Phase::wait)] = 2 * iteration[p] * kMs + kMs;
      process.iterations.push_back(times);
    }
    profile.processes.push_back(process);
  }
  const auto load = load_of(profile);
  CHECK(load.processes[0].awaited_s == doctest::Approx((4 + 0) / 2e3));
  CHECK(load.processes[1].awaited_s == doctest::Approx((0 + 2) / 2e3));
  CHECK(load.processes[2].awaited_s == doctest::Approx(0));
  CHECK(load.processes[2].waited_s == doctest::Approx(7e-3));
}

TEST_CASE("the first iteration warms up, but no superstep does") {
  auto profile = counted();
  for (auto& one : profile.processes[0].iterations) one = {.begin_ns = 0, .end_ns = 1'000'000};
  profile.processes[0].iterations[0].end_ns = 11'000'000;
  CHECK(load_of(profile).seconds == doctest::Approx(1e-3));
  profile.words = {"superstep", "edges"};
  profile.names.assign(10, "relax");
  profile.load = load_of(profile);
  CHECK(profile.load.seconds == doctest::Approx(2e-3));
  profile.verdict = judge(profile.load);
  const auto json = nlohmann::json(profile.to_json());
  CHECK(json["step"] == "superstep");
  CHECK(json["items"] == "edges");
  CHECK(json["processes"][0]["iterations"][9]["what"] == "relax");
  CHECK(profile.to_text().find("(of a superstep and worker") != std::string::npos);
  const auto page = profile.to_html("t", "s");
  for (const char* words :
       {"Of a superstep and worker", "Supersteps of rank 0, ms", "superstep 1, relax: compute"})
    CHECK(page.find(words) != std::string::npos);
}

TEST_CASE("a figure whose events are not counted is left out") {
  auto profile = counted();
  for (auto& worker : profile.processes[0].workers) worker.counts[0][Event::llc_misses] = {};
  const auto process = nlohmann::json(profile.to_json())["processes"][0];
  CHECK(!process.contains("bytes_from_memory_per_edge"));
  CHECK(!process["worker"][0]["counted"]["compute"].contains("instructions_per_llc_miss"));
  CHECK(
      profile.to_text().find("compute: 2.00 cycles an instruction, 0.25 of them stalled; not counted on this "
                             "machine: stalled_cycles_frontend, llc_references, llc_misses, dtlb_misses, "
                             "remote_numa_reads\n") != std::string::npos);
}

}  // namespace
}  // namespace edgewire::profile
