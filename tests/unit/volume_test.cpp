#include "dense/plan/volume.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace edgewire::plan;

namespace {
const Framing& framing(std::string_view name) {
  for (const auto& candidate : kFramings) {
    if (candidate.name == name) return candidate;
  }
  throw edgewire::Error("no such framing");
}
}  // namespace

TEST_CASE("names of strategies and encodings go both ways") {
  for (const auto strategy : kStrategies) CHECK(strategy_from(to_name(strategy)) == strategy);
  for (const auto encoding : kEncodings) CHECK(encoding_from(to_name(encoding)) == encoding);
  CHECK_THROWS_AS(strategy_from("edges"), edgewire::UsageError);
  CHECK_THROWS_AS(encoding_from(""), edgewire::UsageError);
}

TEST_CASE("ids cost four bytes, and slots and cover send none") {
  CHECK(value_size(Strategy::edge, Encoding::f32).bytes(1) == 8);
  CHECK(value_size(Strategy::worker, Encoding::f32).bytes(1) == 8);
  CHECK(value_size(Strategy::process, Encoding::bf16).bytes(1) == 6);
  CHECK(value_size(Strategy::slots, Encoding::f32).bytes(1) == 4);
  CHECK(value_size(Strategy::cover, Encoding::u16).bytes(1) == 2);
  CHECK(value_size(Strategy::slots, Encoding::bit).bytes(8) == 1);
  CHECK(value_size(Strategy::slots, Encoding::bit).bytes(9) == 2);
}

TEST_CASE("TCP fills its frames") {
  const auto& tcp = framing("tcp1500");
  CHECK(wire_bytes(tcp, 0) == 0);
  CHECK(wire_bytes(tcp, 1) == 91);
  CHECK(wire_bytes(tcp, 1448) == 1538);
  CHECK(wire_bytes(tcp, 1449) == 1538 + 91);
  CHECK(wire_bytes(tcp, 14480) == 10 * 1538);
  CHECK(wire_bytes(framing("tcp9000"), 17896) == 18076);
}

TEST_CASE("RoCE pays for each message") {
  const auto& roce = framing("roce1500");
  CHECK(wire_bytes(roce, 0) == 82 + 16 + 4);  // a write of nothing, for its immediate
  CHECK(wire_bytes(roce, 5) == 82 + 16 + 4 + 8);
  CHECK(wire_bytes(roce, 1024) == 82 + 16 + 4 + 1024);
  CHECK(wire_bytes(roce, 1025) == 2 * 82 + 16 + 4 + 1024 + 4);
  CHECK(wire_bytes(framing("roce9000"), 8192) == 2 * 82 + 16 + 4 + 8192);
}

TEST_CASE("short Ethernet frames are padded") {
  const auto& dpdk = framing("dpdk1500");
  CHECK(wire_bytes(dpdk, 1) == 84);
  CHECK(wire_bytes(dpdk, 14) == 84);
  CHECK(wire_bytes(dpdk, 15) == 85);
  CHECK(wire_bytes(dpdk, 1468) == 1538);
  CHECK(wire_bytes(dpdk, 1469) == 1538 + 84);
  CHECK(wire_bytes(framing("dpdkudp1500"), 1440) == 1538);
  CHECK(wire_bytes(framing("dpdkudp1500"), 1441) == 1538 + 38 + 60 + 1);
}

TEST_CASE("line rates") {
  CHECK(line_rate_bits("1G") == 1'000'000'000);
  CHECK(line_rate_bits("2.5G") == 2'500'000'000);
  CHECK(line_rate_bits("100M") == 100'000'000);
  CHECK(line_rate_bits("1.6T") == 1'600'000'000'000);
  CHECK(seconds_at(125'000'000, line_rate_bits("1G")) == doctest::Approx(1));
  for (const char* bad :
       {"", "G", "1", "0G", "-1G", "1X", "1GB", "nanG", "infG", "1e99G", " 1G", "1 G", "0.1K"}) {
    CHECK_THROWS_AS(line_rate_bits(bad), edgewire::UsageError);
  }
}

TEST_CASE("the volume is that of the most loaded process and direction, without the diagonal") {
  Traffic traffic(3);
  traffic.at(0, 0) = 1000;
  traffic.at(0, 1) = 10;
  traffic.at(0, 2) = 20;
  traffic.at(1, 2) = 25;
  const auto bound = volume(traffic, {64});
  CHECK(bound.values_sent_total == 55);
  CHECK(bound.values_sent_max == 30);
  CHECK(bound.values_sent_mean == doctest::Approx(55.0 / 3));
  CHECK(bound.payload_bytes_total == 440);
  CHECK(bound.payload_bytes_max == 240);
  CHECK(bound.wire_bytes_max[0] == 2 * 90 + 45 * 8);  // process 2 receives most
  CHECK(bound.wire_bytes_total[0] == 3 * 90 + 55 * 8);
  const auto published = volume(traffic, {64}, true);
  CHECK(published.values_sent_max == 1030);
  CHECK(published.values_sent_total == 1055);
  CHECK(traffic.sent(false) == std::vector<std::uint64_t>{30, 25, 0});
  CHECK(traffic.sent(true) == std::vector<std::uint64_t>{1030, 25, 0});
}
