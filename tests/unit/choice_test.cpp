// Which network a job uses between its hosts, from what its processes say of their cards.
#include "transport/choice.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace edgewire::transport {
namespace {

constexpr std::uint64_t kFast = 100'000'000'000, kSlow = 25'000'000'000;

Card card(const char* device, const char* network, int node = 0, std::uint64_t bits_per_s = kFast) {
  return {device, network, node, bits_per_s};
}

std::vector<std::string> devices_of(const std::vector<CardOffer>& offers, const std::vector<int>& nodes) {
  std::vector<std::string> devices;
  for (int rank = 0; rank < static_cast<int>(offers.size()); ++rank)
    devices.push_back(choose_network(offers, nodes, rank).verbs_device);
  return devices;
}

using Names = std::vector<std::string>;

TEST_CASE("offers of cards travel as text, and other text is refused") {
  const CardOffer offer{1, "", {card("a:1:3", "10.0.0.0/8"), card("b:2:0", "InfiniBand:fe80", -1, 1)}};
  CHECK(CardOffer::unpack(offer.pack()) == offer);
  const CardOffer none{-1, "no RDMA device: a reason"};
  CHECK(CardOffer::unpack(none.pack()) == none);
  for (const char* text : {"", "x", "1", "1 \na b", "1 \na b c d", "1 \na b 1 x"})
    CHECK_THROWS_AS(CardOffer::unpack(text), Error);
}

TEST_CASE("verbs where all hosts share a network of cards, with shared memory where hosts have several") {
  const std::vector<CardOffer> offers(4, {0, "", {card("a:1:3", "10.8.0.0/24")}});
  const Choice alone = choose_network(std::span(offers).first(2), {0, 1}, 1);
  CHECK(alone.transport == "verbs");
  CHECK(alone.verbs_device == "a:1:3");
  CHECK(alone.reason == "all hosts are on 10.8.0.0/24");
  CHECK(choose_network(offers, {0, 0, 1, 1}, 3).transport == "shm+verbs");
}

TEST_CASE("tcp as soon as one host has no card, or another network, and the reason names it") {
  std::vector<CardOffer> offers(3, {0, "", {card("a:1:3", "10.8.0.0/24")}});
  offers[2] = {0, "b port 1 is down"};
  for (const int rank : {0, 1, 2}) {
    const Choice choice = choose_network(offers, {0, 1, 2}, rank);
    CHECK(choice.transport == "tcp");
    CHECK(choice.verbs_device.empty());
    CHECK(choice.reason == "no RDMA between the hosts: rank 2: b port 1 is down");
  }
  CHECK(choose_network(offers, {0, 0, 1}, 0).transport == "shm+tcp");
  offers[2] = {0, "", {card("b:1:1", "10.9.0.0/24")}};
  CHECK(choose_network(offers, {0, 1, 2}, 1).reason ==
        "no RDMA between the hosts: a:1:3 of rank 0 is on 10.8.0.0/24, b:1:1 of rank 2 on 10.9.0.0/24");
}

TEST_CASE("all of the fastest common networks are used, in the same order everywhere") {
  const std::vector<CardOffer> offers{
      {0,
       "",
       {card("a:1:0", "10.1.0.0/16"), card("b:1:0", "10.2.0.0/16"), card("c:1:0", "10.9.0.0/16", 0, kSlow)}},
      {0,
       "",
       {card("x:1:0", "10.2.0.0/16"), card("y:1:0", "10.9.0.0/16", 0, kSlow), card("z:1:0", "10.1.0.0/16"),
        card("w:1:0", "10.7.0.0/16")}}};
  CHECK(devices_of(offers, {0, 1}) == Names{"a:1:0,b:1:0", "z:1:0,x:1:0"});
  CHECK(choose_network(offers, {0, 1}, 0).reason == "all hosts are on 10.1.0.0/16 and 10.2.0.0/16");
}

TEST_CASE("processes share their host's cards by nearness, and each has as many as the others") {
  const char* net = "InfiniBand:fe80000000000000";
  std::vector<Card> four{card("a", net, 0), card("b", net, 0), card("c", net, 1), card("d", net, 1)};
  std::vector<CardOffer> offers{{1, "", four}, {0, "", four}, {0, "", four}, {1, "", four}};
  CHECK(devices_of(offers, {0, 0, 1, 1}) == Names{"c,d", "a,b", "a,b", "c,d"});
  offers[3].cards = offers[2].cards = {four[0], four[2], four[3]};
  CHECK(devices_of(offers, {0, 0, 1, 1}) == Names{"c", "a", "a", "c"});
}

}  // namespace
}  // namespace edgewire::transport
