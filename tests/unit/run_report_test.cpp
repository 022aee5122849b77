#include "report/run_report.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"

namespace edgewire::report {
namespace {

RunReport example(int iterations) {
  RunReport report;
  report.kernel = "pagerank";
  report.link.transport = "tcp";
  report.strategy = "slots";
  report.edges = 1000;
  report.processes = 2;
  for (int i = 0; i < iterations; ++i) report.iterations.push_back({i < 5 ? 100.0 : 0.5, 400, 500});
  report.bound.payload_bytes = 400;
  report.bound.seconds_at = {{"1G", 0.25}};
  report.checksum = 0xABC;
  return report;
}

TEST_CASE("seconds per iteration are the mean of the last ten") {
  CHECK(example(15).seconds_per_iteration() == doctest::Approx(0.5));
  CHECK(example(2).seconds_per_iteration() == doctest::Approx(100));
  CHECK(example(14).seconds_per_iteration() == doctest::Approx((100 + 9 * 0.5) / 10));
  CHECK(example(15).edges_per_second() == doctest::Approx(2000));
}

TEST_CASE("a run without iterations has no rate") {
  CHECK(example(0).seconds_per_iteration() == 0);
  CHECK(example(0).edges_per_second() == 0);
  CHECK(example(0).to_text().find("inf") == std::string::npos);
}

TEST_CASE("an iteration that is far longer than the usual one has a line") {
  const auto text_of = [](const std::vector<double>& seconds) {
    RunReport report = example(0);
    for (const double one : seconds) report.iterations.push_back({one, 400, 500});
    return report.to_text();
  };
  const auto has_line = [&](const std::vector<double>& seconds) {
    return text_of(seconds).find(" took ") != std::string::npos;
  };
  CHECK(
      text_of({0.01, 0.02, 1.5, 0.02, 0.03})
          .find(
              "\niteration 3 took 1.5 s, the median one 20 ms: a link, a process or a disk stood still\n") !=
      std::string::npos);
  CHECK_FALSE(has_line({}));
  CHECK_FALSE(has_line({5}));
  CHECK_FALSE(has_line({5, 1}));
  CHECK_FALSE(has_line({0.01, 0.01, 0.19}));  // short
  CHECK_FALSE(has_line({1, 1, 9.9}));         // usual
  CHECK(has_line({1, 1, 10.1}));
}

TEST_CASE("what happened on the link is in the JSON, and in the text where it is worth a line") {
  LinkReport link;
  link.transport = "tcp";
  nlohmann::ordered_json json;
  link.add_to(json);
  CHECK(json.dump() == R"({"refused_connections":0,"refused_frames":0})");
  CHECK(link.to_text().empty());
  link.transport_reason = "no card";
  link.refused_frames = 3;
  link.retransmitted_bytes = 3'200'000;
  link.duplicate_frames = 1;
  link.reordered_frames = 2;
  link.corrupt_frames = 4;
  link.foreign_frames = 5;
  link.missed_frames = 7;
  CHECK(link.to_text() == "transport tcp: no card\nrefused: 0 foreign connections, 3 faulty frames\n");
  link.transport = "dpdk";
  link.sending = "in place";
  link.path = "plain Ethernet";
  link.add_to(json);
  CHECK(json["transport_reason"] == "no card");
  CHECK(json["link"]["missed_frames"] == 7);
  CHECK(link.to_text().find("payload leaves in place; plain Ethernet; sent again 3.2 MB in all; frames "
                            "dropped: 1 duplicate, 4 corrupt, 7 missed\n") != std::string::npos);
}

TEST_CASE("the JSON has what the contract names") {
  auto report = example(3);
  const auto json = nlohmann::json::parse(report.to_json());
  for (const char* field :
       {"kernel", "vertices", "edges", "processes", "workers", "transport", "strategy", "iterations",
        "seconds_load", "seconds_plan", "seconds_total", "seconds_per_iteration", "edges_per_second",
        "peak_rss_bytes", "bound", "checksum", "version"})
    CHECK_MESSAGE(json.contains(field), field);
  CHECK(json["iterations"].size() == 3);
  CHECK(json["iterations"][2]["payload_bytes_sent"] == 400);
  CHECK(json["bound"]["seconds_at"]["1G"] == 0.25);
  CHECK(json["checksum"] == "0000000000000abc");
  CHECK(!json.contains("verify"));
  CHECK(!json.contains("change"));
  report.graph = "g.ew";
  report.options = {
      {"iterations", std::int64_t{20}}, {"damping", 0.85}, {"weighted", true}, {"precision", "f64"}};
  report.convergence.push_back({0.25, true, "changed by a quarter\n"});
  const auto more = nlohmann::json::parse(report.to_json());
  CHECK(more["graph"] == "g.ew");
  CHECK(more["options"] ==
        nlohmann::json{{"iterations", 20}, {"damping", 0.85}, {"weighted", true}, {"precision", "f64"}});
  CHECK(more["change"] == 0.25);
  CHECK(more["converged"] == true);
  CHECK(report.to_text().find("changed by a quarter\n") != std::string::npos);
  report.verification.push_back({.max_relative_error = 0.5, .limit = 1e-6, .passed = false});
  CHECK(nlohmann::json::parse(report.to_json())["verify"]["passed"] == false);
  CHECK(report.to_text().find("FAILED") != std::string::npos);
  report.verification[0] = {.limit_share = 0.25, .vertex = "17", .rules = "20 iterations", .passed = true};
  CHECK(nlohmann::json::parse(report.to_json())["verify"]["limit_share"] == 0.25);
  CHECK(report.to_text().find(
            "; vertex 17 comes nearest to its limit, with 0.25 of it\n  limits: most that rounding "
            "can do (20 iterations)\n") != std::string::npos);
}

TEST_CASE("memory by node is told where there are several nodes, and a refusal everywhere") {
  RunReport report = example(3);
  report.page_bytes = 4096;
  report.memory = {{"tiles", 400 * 4096, {{0, 299}, {1, 100}}, 1}, {"inbox", 0, {}, 0}};
  CHECK(report.to_text().find("\nmemory") == std::string::npos);
  report.several_nodes = true;
  CHECK(report.to_text().find(
            "\nmemory 75 % on node 0, 25 % on node 1; pages elsewhere than wanted: tiles 0.25 %\n") !=
        std::string::npos);
  CHECK(report.memory[0].elsewhere_share() == doctest::Approx(1.0 / 399));
  CHECK(report.memory[1].elsewhere_share() == 0);
  report.several_nodes = false;
  report.policy_refusal = "Operation not permitted";
  CHECK(report.to_text().find("\nmemory policy refused (Operation not permitted): ") != std::string::npos);
  const auto json = nlohmann::json::parse(report.to_json())["memory"];
  CHECK(json["policy_refused"] == "Operation not permitted");
  CHECK(json["tiles"]["pages"] ==
        nlohmann::json::parse(R"([{"node":0,"pages":299},{"node":1,"pages":100}])"));
}

TEST_CASE("the disk is the limit where a run reads nearly as fast as it can") {
  RunReport::Disk disk;
  disk.seconds = 2;
  disk.limit_bytes_per_second = 1e9;
  const auto with = [&](double bytes) {
    disk.bytes_read = static_cast<std::uint64_t>(bytes);
    return std::string(disk.limited_by());
  };
  CHECK(with(0.4e9) == "computing");
  disk.seconds_wire = 1.7;
  CHECK(with(0.4e9) == "sending");
  CHECK(with(1.9e9) == "disk");
  CHECK(disk.share_of_limit() == doctest::Approx(0.95));
  CHECK(with(2.4e9) == "unknown");  // faster than what was measured
  disk.seconds_busy = 1.95;
  disk.seconds_cores = 1.2;
  CHECK(with(2.4e9) == "disk");
  CHECK(with(0.4e9) == "disk");
  disk.seconds_cores = 1.7;
  CHECK(with(0.4e9) == "sending");
  disk.limit_bytes_per_second = 0;
  CHECK(disk.share_of_limit() == 0);
  CHECK(with(1) == "unknown");
}

TEST_CASE("a report says whether edges on disk were written or found") {
  auto report = example(1);
  report.disk = RunReport::Disk{};
  report.disk->bytes_read_of_devices = {30, 40};
  const auto disk = [&] { return nlohmann::json::parse(report.to_json())["disk"]; };
  CHECK(report.to_text().find("\nedges on disk: found, an earlier run wrote them\n") != std::string::npos);
  CHECK(disk()["edges"] == "found");
  CHECK(disk()["bytes_written"] == 0);
  CHECK(disk()["devices"] == 2);
  CHECK(disk()["bytes_read_of_devices"] == nlohmann::json::array({30, 40}));
  report.disk->bytes_written = 12345678;
  CHECK(report.to_text().find("\nedges on disk: this run wrote 12.35 MB\n") != std::string::npos);
  CHECK(disk()["edges"] == "written");
  CHECK(disk()["bytes_written"] == 12345678);
}

TEST_CASE("the vertices of highest value have numbers or labels") {
  auto report = example(1);
  CHECK(!nlohmann::json::parse(report.to_json()).contains("top"));
  CHECK(!nlohmann::json::parse(report.to_json()).contains("answer"));
  report.answer.order = "highest";
  report.answer.top = {{{"18446744073709551615", false}, 0.5}, {{"7", true}, 0.25}};
  const std::string lines = "highest:\n18446744073709551615\t0.5\n7\t0.25\n";
  CHECK(report.to_text().starts_with(lines));
  CHECK(!nlohmann::json::parse(report.to_json()).contains("top"));
  report.answer.listed = true;  // by --top
  const auto json = nlohmann::json::parse(report.to_json());
  CHECK(json["top"][0]["id"] == 18446744073709551615U);
  CHECK(json["top"][1]["id"] == "7");
  CHECK(json["top"][1]["value"] == 0.25);
  CHECK(json["answer"]["top"] == json["top"]);
  CHECK(report.to_text().starts_with(lines));
  CHECK(report.to_text().rfind("highest") == 0);  // said once
}

TEST_CASE("a list has a line for each vertex, and whole numbers keep all digits") {
  Answer answer;
  answer.order = "largest";
  answer.top.emplace();
  for (int v = 0; v < 7; ++v)
    answer.top->push_back(
        {{std::to_string(v), false}, std::uint64_t{4'294'967'290} - static_cast<std::uint64_t>(v)});
  answer.listed = true;
  CHECK(answer.lists(false).starts_with("largest:\n0\t4294967290\n1\t4294967289\n"));
  CHECK(answer.lists(false).ends_with("\n6\t4294967284\n"));
  CHECK(answer.lists(false, " from 9").starts_with("largest from 9:\n"));
  answer.top->clear();
  CHECK(answer.lists(true).empty());
}

TEST_CASE("the first screen has the ends of a long path, and --verbose all of it") {
  Answer answer;
  answer.path.emplace();
  for (int v = 0; v < 20; ++v) answer.path->vertices.push_back({fmt::format("v{}", v), true});
  CHECK(answer.lists(false) == answer.lists(true));
  for (int v = 20; v < 50; ++v) answer.path->vertices.push_back({fmt::format("v{}", v), true});
  CHECK(answer.lists(false).find(" -> v9 -> (30 more, which --verbose shows) -> v40 -> ") !=
        std::string::npos);
  CHECK(answer.lists(true).find(" -> v9 -> v10 -> ") != std::string::npos);
  CHECK(answer.lists(true).ends_with(" -> v49\n"));
}

TEST_CASE("a path is the first line, and an array or null in JSON") {
  auto report = example(0);
  report.answer.path = {{{"A", true}, {"B", true}}, {"A", true}, {"B", true}, 1.5};
  CHECK(report.to_text().starts_with("path from A to B, length 1.5: A -> B\n"));
  CHECK(nlohmann::json::parse(report.to_json())["answer"] ==
        nlohmann::json{{"path", {"A", "B"}}, {"path_length", 1.5}});
  report.answer.path = {{}, {"3", false}, {"4", false}, std::uint64_t{0}};
  CHECK(report.to_text().starts_with("no path from 3 to 4\n"));
  CHECK(nlohmann::json::parse(report.to_json())["answer"]["path"].is_null());
  CHECK(nlohmann::json::parse(report.to_json())["answer"]["path_length"].is_null());
  report.answer.path = {{{"3", false}}, {"3", false}, {"3", false}, std::uint64_t{0}};
  CHECK(report.to_text().starts_with("path from 3 to 3, length 0: 3\n"));
  CHECK(nlohmann::json::parse(report.to_json())["answer"]["path"] == nlohmann::json{3});
}

TEST_CASE("figures of an answer are counts, numbers and vertices; a run has its own") {
  auto report = example(0);
  report.has_supersteps = true;
  report.answer.text = "2 components";
  report.answer.fields = {
      {"components", std::uint64_t{2}}, {"mean", 0.5}, {"largest_label", VertexName{"9", false}}};
  report.runs.push_back({});
  report.runs[0].source = "5";
  report.runs[0].answer.text = "reached 3";
  report.runs[0].answer.fields = {{"reached", std::uint64_t{3}}};
  const auto json = nlohmann::json::parse(report.to_json());
  CHECK(json["answer"] == nlohmann::json{{"components", 2}, {"mean", 0.5}, {"largest_label", 9}});
  CHECK(json["runs"][0]["answer"] == nlohmann::json{{"reached", 3}});
  CHECK(report.to_text().find("source 5: reached 3; 0 supersteps") != std::string::npos);
  CHECK(report.to_text().starts_with("2 components\nsource 5: reached 3"));
}

TEST_CASE("the first screen has answer, time and bytes, and --verbose what lies behind them") {
  auto report = example(15);
  report.answer.text = "the answer";
  report.vertices = 7;
  report.bound.seconds_at = {{"1G", 0.25}, {"10G", 0.000025}};
  report.convergence.push_back({0.25, true, "changed by a quarter\n", "and by no more\n"});
  report.layout_reason = "degree: for a reason";
  struct Asked : Section {
    nlohmann::ordered_json to_json() const override { return {}; }
    std::string to_text() const override { return "asked for\n"; }
  };
  report.profile_section = std::make_shared<const Asked>();
  const std::string screen = report.to_text(false), all = report.to_text(true);
  CHECK(screen ==
        "the answer\n"
        "pagerank: 7 vertices, 1000 edges, 2 processes x 1 worker, tcp, slots\n"
        "15 iterations, 500 ms each (mean of the last ten), 2 k edges/s; total 0 s\n"
        "iteration 1 took 100 s, the median one 500 ms: a link, a process or a disk stood still\n"
        "sent each iteration: payload 400 B, on the wire 500 B\n"
        "bound of this plan:  payload 400 B, on the wire 0 B\n"
        "time on the wire at least (share of an iteration):\n"
        "  1G 250 ms (50 %), 10G 25 us (0 %)\n"
        "changed by a quarter\n"
        "asked for\n");
  for (const char* more :
       {"\nand by no more\n", "\nlayout degree: for a reason\n", "\npeak memory", "checksum"})
    CHECK(screen.find(more) == std::string::npos);
  for (const char* more :
       {"\nand by no more\n", "\nlayout degree: for a reason\n", "peak memory", "\nchecksum "})
    CHECK(all.find(more) != std::string::npos);
  CHECK(all.starts_with(screen.substr(0, screen.find("asked for"))));
}

TEST_CASE("the first screen shows ten of many runs, and what they found") {
  auto report = example(0);
  report.has_supersteps = true;
  for (int r = 0; r < 64; ++r) {
    report.runs.push_back({});
    report.runs.back().source = std::to_string(r);
    report.runs.back().answer.text = "reached 3";
  }
  const std::string screen = report.to_text(false);
  CHECK(screen.starts_with("source 0: reached 3\nsource 1: reached 3\n"));
  CHECK(screen.find("\nsource 9: reached 3\nand 54 more; --json has them all\n") != std::string::npos);
  CHECK(std::ranges::count(screen, '\n') <= 24);
  CHECK(report.to_text(true).find("\nsource 19: reached 3; 0 supersteps, ") != std::string::npos);
}

TEST_CASE("amounts have the unit that shows them") {
  CHECK(readable_seconds(0) == "0 s");
  CHECK(readable_seconds(1.5e-9) == "1.5 ns");
  CHECK(readable_seconds(0.00001234) == "12.34 us");
  CHECK(readable_seconds(0.9999999) == "1000 ms");
  CHECK(readable_seconds(1) == "1 s");
  CHECK(readable_seconds(86400) == "86400 s");
  CHECK(readable_bytes(0) == "0 B");
  CHECK(readable_bytes(999) == "999 B");
  CHECK(readable_bytes(4100) == "4.1 kB");
  CHECK(readable_bytes(12'345'678'901'234'567) == "12346 TB");
  CHECK(readable_memory(16 << 10) == "16 KiB");
  CHECK(readable_count(0) == "0");
  CHECK(readable_count(85'214'000) == "85.21 M");
}

TEST_CASE("what had to be sent stands beside what was sent, for each superstep or in one") {
  auto report = example(0);
  report.has_supersteps = true;
  report.supersteps.resize(2);
  for (auto& one : report.supersteps) one.record_bytes = 60, one.payload_bytes_sent = 75;
  const auto has = [&](const char* words) { return report.to_text().find(words) != std::string::npos; };
  CHECK_FALSE(has("had to"));
  report.least = {100, "at least"};
  CHECK(
      has("\nhad to be sent: at least 100 B: records are 1.20 times that, payload is 1.50 times that; "
          "counted in one for all supersteps\n"));
  auto json = nlohmann::json::parse(report.to_json());
  CHECK(json["least"] ==
        nlohmann::json{
            {"record_bytes", 100}, {"count", "at least"}, {"record_ratio", 1.2}, {"payload_ratio", 1.5}});
  CHECK_FALSE(json["supersteps"][0].contains("least_record_bytes"));
  report.least = {100, "exact"};
  report.supersteps[0].least_record_bytes = report.supersteps[1].least_record_bytes = 50;
  CHECK(has("\nhad to be sent: 100 B: records are 1.20 times that, payload is 1.50 times that\n"));
  CHECK(has("had to send 50 B, sent 60 B of records, payload 75 B"));
  CHECK(nlohmann::json::parse(report.to_json())["supersteps"][1]["least_record_bytes"] == 50);
  report.least = {0, "exact"};  // nothing to divide by
  CHECK(has("\nhad to be sent: 0 B\n"));
  CHECK_FALSE(nlohmann::json::parse(report.to_json())["least"].contains("record_ratio"));
  report.least = {0, ""};
  CHECK(has("\nhad to be sent: this is not counted "));
  CHECK_FALSE(nlohmann::json::parse(report.to_json()).contains("least"));
}

}  // namespace
}  // namespace edgewire::report
