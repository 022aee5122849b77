// Messages between the workers of processes, and the memory in which long ones wait to be read.
#include <doctest/doctest.h>

#include <barrier>
#include <thread>

#include "base/error.h"
#include "bootstraps.h"
#include "process/local_process.h"
#include "tasks/mail.h"

namespace edgewire::tasks {
namespace {

/// Runs `body(process, bootstrap, link)` in two threads that stand for processes.
template <class Body>
void run_pair(const char* transport, const Body& body) {
  auto members = launch::bootstraps(2);
  std::vector<std::jthread> threads;
  for (int p = 0; p < 2; ++p)
    threads.emplace_back([&, p] {
      launch::Bootstrap& bootstrap = *members[static_cast<std::size_t>(p)];
      process::ProcessOptions options;
      options.peer_timeout_s = 100;
      options.transport = transport;
      process::LocalProcess process(bootstrap, options);
      body(p, bootstrap, process.link());
      bootstrap.finish();
    });
}

std::string body_of(std::size_t number, std::size_t bytes) {
  std::string body(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) body[i] = static_cast<char>(number * 31 + i * 7 + i / 251);
  return body;
}

/// What a run of messages found at the sender before the receiver took any, and how many arrived as they
/// were, and when it was their turn.
struct Traffic {
  std::size_t backlog = 0, right = 0, in_order = 0;
};

/// Says that verbs is skipped, and why, where there is no device.
bool has_verbs() {
  for (const transport::Backend& backend : transport::backends()) {
    if (backend.name != "verbs" || backend.usable) continue;
    const std::string text = "skipped: " + backend.reason;
    MESSAGE(text);
    return false;
  }
  return true;
}

/// Process 0 posts all bodies before process 1 takes the first one; three times, with a new run after each.
Traffic send(const char* transport, const std::vector<std::size_t>& bytes) {
  Traffic traffic;
  std::barrier<> posted(2);
  run_pair(transport, [&](int p, launch::Bootstrap& bootstrap, transport::Transport& link) {
    Mail mail(bootstrap, link, 1, true);
    for (int run = 0; run < 3; ++run) {
      Header header;
      header.kind = MailKind::put;
      for (std::size_t i = 0; p == 0 && i < bytes.size(); ++i) {
        header.reply = i;
        mail.post(0, 1, header, {}, body_of(i, bytes[i]));
      }
      if (p == 0) mail.flush(0);
      if (p == 0) traffic.backlog = mail.backlog(0);
      posted.arrive_and_wait();
      for (std::size_t taken = 0; p == 1 && taken < bytes.size();) {
        mail.drain(0, [&](int, const Message& message) {
          const auto i = message.header.reply;
          traffic.right += message.body == body_of(i, bytes[i]) ? 1 : 0;
          traffic.in_order += i == taken++ ? 1 : 0;
        });
        mail.flush(0);
        mail.wait();
      }
      while (p == 0 && !mail.all_sent(0)) {
        mail.drain(0, [](int, const Message&) {});
        mail.flush(0);
      }
      mail.end_run(0);
    }
  });
  return traffic;
}

TEST_CASE("long bodies wait in memory that the peer reads, where it can") {
  const std::vector<std::size_t> bytes(9, 200'001);
  const Traffic mapped = send("shm", bytes), streamed = send("tcp", bytes);
  CHECK(mapped.right == 27);
  CHECK(streamed.right == 27);
  CHECK(mapped.backlog == 0);
  CHECK(streamed.backlog > 1'000'000);
  if (!has_verbs()) return;
  const Traffic read = send("verbs", bytes);
  CHECK(read.right == 27);
  CHECK(read.backlog == 0);
}

TEST_CASE("bodies of all sizes arrive in order, also when there is no room where they are read") {
  std::vector<std::size_t> bytes{0, 1, 16'383, 16'384, 16'385, 40'000'000, 33'554'432, 100};
  for (std::size_t i = 0; i < 60; ++i) bytes.push_back(900'000 + 10'007 * i);
  const Traffic mapped = send("shm", bytes);
  CHECK(mapped.right == 3 * bytes.size());
  CHECK(mapped.in_order == 3 * bytes.size());
  if (has_verbs()) CHECK(send("verbs", bytes).right == 3 * bytes.size());  // short ones may overtake
}

/// What the call throws.
template <class Call>
std::string why(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST_CASE("a place outside the memory that is read, or read before it was filled, is refused") {
  run_pair("shm", [](int p, launch::Bootstrap& bootstrap, transport::Transport& link) {
    const std::size_t ring = ReadArea::ring_bytes(link, 1, 2);
    channel::RegionPlan plan(2);
    const std::size_t part =
        plan.add("bodies", p == 0 ? std::vector{std::size_t{0}, ring} : std::vector{ring, std::size_t{0}});
    const auto region = plan.expose(bootstrap, link);
    ReadArea area(link, region, part, 1, 2);
    const int peer = 1 - p;
    for (const Placed& wrong : {Placed{0, ring + 1}, Placed{ring - 10, 11}})
      CHECK(why([&] { area.view(0, peer, wrong); }).find("where nothing can be read") != std::string::npos);
    CHECK(why([&] { area.release(0, peer, 1); }).find("has read bytes that were not sent") !=
          std::string::npos);
    const std::string body(100'000, 'b');
    CHECK(!area.place(0, peer, "short"));
    const auto placed = area.place(0, peer, body);
    CHECK(placed.has_value());
    bootstrap.allgather("");  // both have placed
    CHECK(area.view(0, peer, *placed) == body);
    bootstrap.allgather("");
  });
}

}  // namespace
}  // namespace edgewire::tasks
