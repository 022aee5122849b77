// What a launched process makes of its surroundings. Whole jobs under launchers: tests/end_to_end.
#include "launch/launcher.h"

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

#include "base/error.h"
#include "launch/agreement.h"
#include "launch/frames.h"
#include "launch/interfaces.h"
#include "launch/rendezvous.h"
#include "own_address.h"
#include "transport/connector.h"
#include "transport/sockets.h"

namespace edgewire::launch {
namespace {

/// What find_launcher() says of an environment.
std::optional<Launcher> find_in(const std::map<std::string, std::string>& variables) {
  for (const char* name : {"PMIX_RANK", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS",
                           "SLURM_NTASKS", "SLURM_PROCID", "PMI_SIZE"})
    unsetenv(name);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  auto found = find_launcher();
  for (const auto& [name, value] : variables) unsetenv(name.c_str());
  return found;
}

TEST_CASE("launchers are known by their environment") {
  CHECK(!find_in({}));
  const auto srun = find_in({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_NTASKS", "4"}});
  REQUIRE(srun);
  CHECK(srun->name == "srun");
  CHECK(srun->size == 4);
  CHECK(!srun->pmix);
  // mpirun's daemons may run under srun, as a step of another size.
  const auto mpirun = find_in({{"SLURM_STEP_ID", "0"},
                               {"SLURM_STEP_NUM_TASKS", "2"},
                               {"OMPI_COMM_WORLD_SIZE", "8"},
                               {"PMIX_RANK", "3"}});
  REQUIRE(mpirun);
  CHECK(mpirun->name == "mpirun");
  CHECK(mpirun->size == 8);
  CHECK(mpirun->pmix);
  CHECK(find_in({{"PMI_SIZE", "2"}})->size == 2);
  CHECK(find_in({{"PMIX_RANK", "0"}})->size == 0);
}

TEST_CASE("a process that was started alone has no launcher") {
  CHECK(!find_in({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}));  // a batch script
  CHECK(!find_in({{"SLURM_STEP_ID", "4294967290"}, {"SLURM_STEP_NUM_TASKS", "2"}}));
  CHECK(!find_in({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"PMIX_RANK", "0"}}));
  CHECK(!find_in({{"OMPI_COMM_WORLD_SIZE", "1"}, {"PMIX_RANK", "0"}}));
  CHECK(!find_in({{"PMI_SIZE", "1"}}));
}

TEST_CASE("networks") {
  CHECK(same_network("10.0.0.1", "10.0.0.200", 24));
  CHECK(!same_network("10.0.0.1", "10.0.1.1", 24));
  CHECK(same_network("10.0.0.1", "10.0.1.1", 23));
  CHECK(!same_network("10.0.0.127", "10.0.0.128", 25));
  CHECK(same_network("10.0.0.1", "11.0.0.1", 0));
  CHECK(same_network("fd00::1", "fd00::2", 64));
  CHECK(!same_network("fd00::1", "10.0.0.1", 0));
  CHECK(!same_network("host", "10.0.0.1", 0));
}

TEST_CASE("addresses of common networks come first, one's own last") {
  const std::vector<Interface> owned{{"docker0", "172.17.0.1", 16}, {"eth0", "10.0.0.2", 24}};
  CHECK(by_nearness({"172.17.0.1", "192.168.1.1", "10.0.0.1"}, owned) ==
        std::vector<std::string>{"10.0.0.1", "192.168.1.1", "172.17.0.1"});
}

TEST_CASE("interfaces that are not there") {
  CHECK_THROWS_AS(interfaces("no such interface"), Error);
  CHECK_THROWS_AS(interfaces("192.0.2.255/32"), Error);  // for documentation (RFC 5737)
  CHECK_THROWS_AS(interfaces("lo"), Error);
}

TEST_CASE("rank 0 is found at the address that answers") {
  const int port = own_port();
  const auto listener = transport::listen_on(own_address(), port);
  const std::string secret(32, 's');
  // Nobody listens on the first; on the second somebody who knows another secret.
  const auto stranger = transport::listen_on(own_address(1), port);
  Rendezvous hub{0, secret, 60, {"a", "b"}};
  Rendezvous leaf{1, secret, 60, {"a", "b"}};
  std::thread other([&] {
    Rendezvous job{0, std::string(32, 'x'), 1, {"a", "b"}};
    CHECK_THROWS_WITH_AS(receive_others(job, stranger), "rank 1 (b) has not connected within 1 s", Error);
  });
  std::thread rank0([&] { CHECK(receive_others(hub, listener)[1]); });
  const auto streams = come_to_hub(leaf, {own_address(1), own_address()}, port);
  CHECK(streams.size() == 1);
  CHECK(transport::peer_address(streams[0]) == own_address());
  rank0.join();
  other.join();
}

/// The connection of a rank of a job of four, made as far as rank 0 has taken it.
transport::FileDescriptor connected(const std::string& secret, int rank, int port) {
  const transport::FileDescriptor no_listener;
  transport::Connector connector(no_listener, secret, transport::Purpose::Launch, rank);
  connector.call("127.0.0.1", port, {transport::Purpose::Launch, rank, 0, 4});
  while (true)
    for (auto& made : connector.step(std::chrono::milliseconds(100))) return std::move(made.socket);
}

TEST_CASE("a rank that is lost before all have come is noticed then, not at the start timeout, and told") {
  const auto listener = transport::listen_on("127.0.0.1", 0);
  const std::string secret(32, 's'), line = "rank 2 (c) was lost before all processes had connected";
  std::thread rank0([&] {
    CHECK_THROWS_WITH_AS(receive_others({0, secret, 1e6, {"a", "b", "c", "d"}}, listener), line.c_str(),
                         Error);
  });
  const auto other = connected(secret, 1, transport::port_of(listener));
  auto lost = connected(secret, 2, transport::port_of(listener));
  lost.close();
  rank0.join();
  MessageReader reader;
  Arrival told;
  while (told.header.kind != FrameKind::Abort && reader.read(other.get()) != 0)
    while (reader.next(told) == MessageReader::Next::Whole && told.header.kind != FrameKind::Abort) continue;
  CHECK(told.payload == line);
}

TEST_CASE("a rank that is silent before all have come is noticed at the peer timeout") {
  const auto listener = transport::listen_on("127.0.0.1", 0);
  const std::string secret(32, 's');
  std::string line;
  std::thread rank0([&] {
    try {
      receive_others({0, secret, 1e6, {"a", "b", "c", "d"}, 0.5}, listener);
    } catch (const Error& error) {
      line = error.what();
    }
  });
  const auto other = connected(secret, 2, transport::port_of(listener));
  rank0.join();
  CAPTURE(line);
  CHECK(line.starts_with("rank 2 (c) has been silent for "));
  CHECK(line.ends_with(" before all processes had connected"));
}

TEST_CASE("rank 0 that takes connections and says nothing is given up at the peer timeout") {
  const auto listener = transport::listen_on("127.0.0.1", 0);
  std::string line;
  try {
    come_to_hub({1, std::string(32, 's'), 1e6, {"a", "b"}, 0.5}, {"127.0.0.1"}, transport::port_of(listener));
  } catch (const Error& error) {
    line = error.what();
  }
  CAPTURE(line);
  CHECK(line.starts_with("rank 0 (127.0.0.1 port "));
  CHECK(line.find("takes connections, but nothing was said for") != line.npos);
}

TEST_CASE("what differs between processes is named, and nothing else") {
  const std::vector<Fact> one{{"the command", "wcc"}, {"--w", "2"}, {"--x", ""}};
  auto other = one;
  CHECK(difference({one, one}).empty());
  other[1].value = "3";
  CHECK(difference({one, other, one, other}) == "--w is 2 at ranks 0, 2, 3 at ranks 1, 3");
  other[2].value = "true";
  CHECK(difference({one, other}) ==
        "--w is 2 at rank 0, 3 at rank 1; --x is not given at rank 0, true at rank 1");
  other[0].value = "bfs";  // then all else differs as well
  CHECK(difference({one, other}) == "the command is wcc at rank 0, bfs at rank 1");
  CHECK(difference({one, {{"the command", "wcc"}, {"--w", std::string(500, 'x')}, {"--x", ""}}}).size() <
        150);
}

TEST_CASE("numbers of ranks are told in short") {
  CHECK(ranks_text({3}) == "rank 3");
  CHECK(ranks_text({0, 2, 3, 4, 7, 8}) == "ranks 0, 2-4, 7, 8");
}

TEST_CASE("why rank 0 gives up is said elsewhere, too") {
  const auto listener = transport::listen_on("127.0.0.1", 0);
  const int port = transport::port_of(listener);
  const std::string secret(32, 's');
  std::thread rank0([&] {
    transport::Connector connector(listener, secret, transport::Purpose::Launch, 0);
    std::vector<transport::Connector::Connection> made;
    while (made.empty()) made = connector.step(std::chrono::milliseconds(100));
    const Message line = frame(FrameKind::Abort, 0, "rank 2 (c) is ill");
    send(made[0].socket.get(), line->data(), line->size(), 0);
  });
  CHECK_THROWS_WITH_AS(come_to_hub({1, secret, 1e6, {"a", "b", "c"}}, {"127.0.0.1"}, port),
                       fmt::format("rank 0 (127.0.0.1 port {}) gave up: rank 2 (c) is ill", port).c_str(),
                       Error);
  rank0.join();
}

}  // namespace
}  // namespace edgewire::launch
