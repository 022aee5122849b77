// Damaged reports of runs, as `compare` reads them from the processes that it starts.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fuzz.h"
#include "perf/compare/compare.h"

namespace edgewire::perf {

namespace {

TEST_CASE("damaged reports of the runs that are compared") {
  fuzz::feed({.name = "report", .read = [](const fuzz::Input& input) {
                const RunFigures run = figures_from(input.bytes);
                constexpr std::uint64_t kLine = 1'000'000'000, kBurst = 1 << 20;
                const int iterations = iterations_needed(run, kLine, kBurst);
                const auto json = nlohmann::json::parse(input.bytes);
                for (const char* const count : {"vertices", "edges"})
                  CHECK(json.at(count).is_number_unsigned());
                CHECK(run.vertices == json.at("vertices").get<std::uint64_t>());
                CHECK(run.edges == json.at("edges").get<std::uint64_t>());
                CHECK(iterations >= 0);
                CHECK(iterations <= 1'000'000);
                return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}", run.seconds, run.seconds_total,
                                   run.payload_bytes, run.wire_bytes, run.vertices, run.edges, run.ownership,
                                   run.iterations, run.bound_seconds_1g, run.encoding, run.record_bytes,
                                   run.source, iterations);
              }});
}

}  // namespace

}  // namespace edgewire::perf
