#include "perf/netbench/netbench.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "launch/start.h"
#include "stderr_capture.h"

namespace edgewire::perf {
namespace {

void expect(bool condition, const std::string& what) {
  if (!condition) throw Error(what);
}
#define EXPECT(condition) expect(condition, #condition)

NetbenchOptions options_of(const std::string& transport, std::vector<NetbenchTest> tests,
                           std::vector<std::size_t> sizes, std::uint64_t count) {
  NetbenchOptions options;
  options.process.transport = transport;
  options.tests = std::move(tests);
  options.sizes = std::move(sizes);
  options.count = count;
  return options;
}

/// Runs two processes; `check` looks at the rows of rank 0.
int run(const NetbenchOptions& options, const std::function<void(const std::vector<NetbenchRow>&)>& check,
        int processes = 2) {
  launch::StartOptions job;
  job.processes = processes;
  job.peer_timeout_s = 60;
  return launch::start(job, [&](launch::Bootstrap& bootstrap) {
    std::size_t heard = 0;
    const auto rows = netbench(bootstrap, options, [&](const NetbenchRow&) { ++heard; });
    EXPECT(heard == rows.size());
    if (bootstrap.rank() == 0)
      check(rows);
    else
      EXPECT(rows.empty());
  });
}

constexpr auto kBandwidth = NetbenchTest::bandwidth;
constexpr auto kRate = NetbenchTest::rate;
constexpr auto kLatency = NetbenchTest::latency;

TEST_CASE("streams send exactly what was asked for, in every lane and direction") {
  for (const char* transport : {"shm", "tcp"}) {
    for (const int lanes : {1, 3}) {
      for (const bool bidirectional : {false, true}) {
        CAPTURE(transport);
        CAPTURE(lanes);
        CAPTURE(bidirectional);
        auto options = options_of(transport, {kBandwidth, kRate}, {1, 4096, 300'001}, 40);
        options.process.workers = lanes;
        options.bidirectional = bidirectional;
        const auto senders = static_cast<std::uint64_t>(lanes) * (bidirectional ? 2 : 1);
        CHECK(run(options, [&](const std::vector<NetbenchRow>& rows) {
                EXPECT(rows.size() == 6);
                for (std::size_t i = 0; i < 6; ++i) {
                  EXPECT(rows[i].test == (i < 3 ? kBandwidth : kRate));
                  EXPECT(rows[i].message_bytes == options.sizes[i % 3]);
                  EXPECT(rows[i].messages == 40 * senders);
                  EXPECT(rows[i].payload_bytes == 40 * senders * rows[i].message_bytes);
                  EXPECT(rows[i].frame_bytes >= rows[i].payload_bytes);
                  EXPECT(rows[i].wire_bytes >= rows[i].frame_bytes);
                  EXPECT(rows[i].seconds > 0 && rows[i].sender_cores >= 0 && rows[i].receiver_cores >= 0);
                }
              }) == 0);
      }
    }
  }
}

TEST_CASE("every message of the rate test is told, those of the bandwidth test are not") {
  constexpr std::uint64_t kHeader = 64, kPayload = 128;  // in units of 64 bytes
  auto options = options_of("tcp", {kBandwidth, kRate}, {100}, 50);
  CHECK(run(options, [&](const std::vector<NetbenchRow>& rows) {
          EXPECT(rows[0].frame_bytes == 50 * (kPayload + kHeader) + 2 * kHeader);  // the end and its answer
          EXPECT(rows[1].frame_bytes == rows[0].frame_bytes + 50 * kHeader);
        }) == 0);
}

TEST_CASE("latency is of ordered round trips") {
  for (const char* transport : {"shm", "tcp"}) {
    for (const bool busy_poll : {false, true}) {
      CAPTURE(transport);
      auto options = options_of(transport, {kLatency, kBandwidth, kLatency}, {8, 20'000}, 30);
      options.busy_poll = busy_poll;
      CHECK(run(options, [&](const std::vector<NetbenchRow>& rows) {
              EXPECT(rows.size() == 6);
              for (const NetbenchRow& row : rows) {
                if (row.test != kLatency) continue;
                EXPECT(row.messages == 30);
                EXPECT(row.payload_bytes == 2 * 30 * row.message_bytes);
                const auto& l = row.latency;
                EXPECT(0 < l.min_s && l.min_s <= l.median_s && l.median_s <= l.p99_s && l.p99_s <= l.max_s);
                EXPECT(l.max_s <= row.seconds);
              }
            }) == 0);
    }
  }
}

TEST_CASE("a measurement by time takes that time") {
  auto options = options_of("shm", {kBandwidth, kLatency}, {64}, 0);
  options.seconds = 0.05;
  CHECK(run(options, [&](const std::vector<NetbenchRow>& rows) {
          for (const NetbenchRow& row : rows) EXPECT(row.messages > 0 && row.seconds >= 0.05);
        }) == 0);
}

TEST_CASE("options that mean nothing are refused") {
  const auto options = options_of("tcp", {kBandwidth}, {8}, 1);
  const auto refused = [&](auto change) {
    auto changed = options;
    change(changed);
    try {
      changed.check();
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  CHECK(refused([](NetbenchOptions&) {}) == "taken");
  CHECK(refused([](NetbenchOptions& o) { o.sizes = {}; }) == "--sizes: there are none");
  CHECK(refused([](NetbenchOptions& o) { o.sizes = {8, 0}; }) == "--sizes: 0 bytes cannot be measured");
  CHECK(refused([](NetbenchOptions& o) { o.sizes = {kMaxNetbenchBytes}; }) == "taken");
  CHECK(refused([](NetbenchOptions& o) { o.sizes = {kMaxNetbenchBytes + 1}; }) ==
        "--sizes: 1073741825 bytes in each of 1 lanes are more than 1073741824");
  CHECK(refused([](NetbenchOptions& o) {
          o.sizes = {kMaxNetbenchBytes};
          o.process.workers = 2;
        }) == "--sizes: 1073741824 bytes in each of 2 lanes are more than 1073741824");
  CHECK(refused([](NetbenchOptions& o) { o.process.workers = 0; }) ==
        "--lanes 0 is outside the range 1 to 64");
  CHECK(refused([](NetbenchOptions& o) { o.tests = {}; }) == "--test: there is none");
  CHECK(refused([](NetbenchOptions& o) {
          o.count = 0;
          o.seconds = 0;
        }) == "--seconds must be more than 0");
}

TEST_CASE("there must be two processes") {
  StderrCapture capture;
  const auto nothing = [](const std::vector<NetbenchRow>&) {};
  CHECK(run(options_of("shm", {kBandwidth}, {8}, 1), nothing, 1) == 2);
  CHECK(run(options_of("shm", {kBandwidth}, {8}, 1), nothing, 3) == 2);
  const std::string text = capture.text();
  CAPTURE(text);
  CHECK(text.find("netbench measures between 2 processes, not 1") != std::string::npos);
  CHECK(text.find("netbench measures between 2 processes, not 3") != std::string::npos);
}

TEST_CASE("rates come from what was counted") {
  NetbenchRow row;
  row.message_bytes = 1000;
  row.messages = 5'000'000;
  row.payload_bytes = 5'000'000'000;
  row.seconds = 2;
  row.sender_cores = 0.5;
  row.receiver_cores = 1;
  CHECK(row.bits_per_s() == doctest::Approx(20e9));
  CHECK(row.messages_per_s() == doctest::Approx(2.5e6));
  CHECK(row.cores_per_10g() == doctest::Approx(0.5));
  const auto json = nlohmann::json::parse(to_json({row}, options_of("shm", {kBandwidth}, {1000}, 0)));
  CHECK(json["transport"] == "shm");
  CHECK(json["rows"].size() == 1);
  CHECK(json["rows"][0]["bytes_per_second"] == doctest::Approx(2.5e9));
  CHECK(json["rows"][0]["cores"]["receiver"] == 1);
  CHECK_FALSE(json["rows"][0].contains("latency_seconds"));
  const std::string text = to_text(row);
  CAPTURE(text);
  CHECK(text.find(" 20.000 ") != std::string::npos);
  CHECK(text.find(" 2500.0 ") != std::string::npos);
  CHECK(text.size() == to_heading(kBandwidth).size());
}

}  // namespace
}  // namespace edgewire::perf
