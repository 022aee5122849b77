// Prints JSON for rings.py: two processes exchange records. ring_rate TRANSPORT RECORD_BYTES RECORDS
#include <algorithm>
#include <charconv>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/seconds.h"
#include "channel/ring.h"
#include "launch/start.h"
#include "perf/bench/records.h"
#include "process/barrier.h"

namespace {

using namespace edgewire;

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || value == 0)
    throw Error(fmt::format("'{}' is no number above 0", text));
  return value;
}

/// Sends `records` to the other process and takes as many from it.
void exchange_records(channel::Rings& rings, transport::Transport& link, transport::Health& health, int peer,
                      std::size_t record_bytes, std::uint64_t records) {
  std::uint64_t sent = 0, arrived = 0, sum = 0;
  for (bool ended = false; !ended || !rings.finished(1);) {
    auto room = rings.reserve(0, peer);
    const std::size_t bytes = std::min<std::uint64_t>(room.size(), (records - sent) * record_bytes);
    if (bytes > 0) {
      room = room.first(bytes);
      bench::make_records(room, record_bytes, sent);
      rings.publish(0, peer, bytes / record_bytes);
      sent += bytes / record_bytes;
    }
    if (sent == records) ended = rings.end(0, 1);
    const std::size_t taken = rings.drain(
        0, 1, [&](int, std::span<const std::byte> batch) { sum += bench::sum_records(batch, record_bytes); });
    arrived += taken;
    if (!link.poll()) throw Error(health.message());
    if (taken == 0 && bytes == 0) std::this_thread::yield();
  }
  if (arrived != records || sum != records * (records - 1) / 2) throw Error("records were lost or changed");
}

void run(launch::Bootstrap& bootstrap, const std::string& transport, std::size_t record_bytes,
         std::uint64_t records) {
  const auto link =
      transport::create(transport, {bootstrap.rank(), 2, 1, process::kinds_for_rings(1), bootstrap.secret(),
                                    bootstrap.address(), 10, &bootstrap.health()});
  const channel::RingSettings settings{bootstrap.rank(), 2, 1, 0, record_bytes};
  channel::RegionPlan plan(2);
  const std::size_t part = plan.add("rings", {settings.part_bytes(), settings.part_bytes()});
  const channel::Region region = plan.expose(bootstrap, *link);
  std::vector<std::uint64_t> writes(2);
  channel::Rings rings(*link, bootstrap.health(), settings, region.bytes(),
                       channel::ring_places(region, part, settings), writes);
  bootstrap.allgather("");
  const auto start = Clock::now();
  exchange_records(rings, *link, bootstrap.health(), 1 - bootstrap.rank(), record_bytes, records);
  const double seconds = seconds_since(start);
  if (bootstrap.rank() == 0)
    bench::print_rate(("rings, " + transport).c_str(), record_bytes, records, seconds);
  process::barrier(bootstrap, *link);  // what the peer waits for must leave
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw Error("usage: ring_rate TRANSPORT RECORD_BYTES RECORDS");
    const std::size_t record_bytes = number(argv[2]);
    const std::uint64_t records = number(argv[3]);
    if (records > std::uint64_t{1} << 32) throw Error("more than 2^32 records");
    launch::StartOptions options;
    options.processes = 2;
    return launch::start(
        options, [&](launch::Bootstrap& bootstrap) { run(bootstrap, argv[1], record_bytes, records); });
  } catch (const std::exception& error) {
    fmt::print(stderr, "ring_rate: {}\n", error.what());
    return 1;
  }
}
