#include "process/link_probe.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/seconds.h"
#include "launch/packing.h"
#include "process/barrier.h"

namespace edgewire::process {

namespace {

constexpr std::size_t kPieceBytes = 1 << 18;
constexpr std::uint64_t kUntimed = 8;  // pieces that are not timed: they open the connection's window
constexpr std::uint64_t kTimed = 16;
// Shorter times measure what shaped links pass at once after a pause, and chance.
constexpr double kLeast_s = 0.05;

/// Sends pieces `first`..`last` to the next rank, over and over the same bytes, and waits for as many from
/// the one before.
void stream(transport::Transport& link, transport::Health& health, int next, int previous,
            std::span<const std::byte> piece, std::uint64_t first, std::uint64_t last) {
  std::uint64_t sent = first;
  bool told = false;
  while (!told || link.signalled(previous, 0) < last || link.completed(0, next) < last) {
    if (sent < last && link.write(0, next, 0, piece)) ++sent;
    if (sent == last && !told) told = link.signal(0, next, 0, last);
    link.ring_doorbell(0);
    if (!link.poll() || health.failed()) throw Error(health.message());
  }
}

}  // namespace

double measure_link(launch::Bootstrap& bootstrap, transport::Transport& link) {
  const int next = (bootstrap.rank() + 1) % bootstrap.size();
  const int previous = (bootstrap.rank() + bootstrap.size() - 1) % bootstrap.size();
  std::vector<transport::Transport::Part> parts(bootstrap.size());
  parts[previous] = {0, kPieceBytes};
  link.expose(kPieceBytes, parts);
  link.connect(bootstrap.allgather(link.blob()));
  const auto piece = link.send_memory(kPieceBytes);
  std::uint64_t sent = 0;
  // Returns the seconds of the slowest process for `timed` pieces that follow `untimed` others.
  const auto measure = [&](std::uint64_t untimed, std::uint64_t timed) {
    stream(link, bootstrap.health(), next, previous, piece, sent, sent + untimed);
    // The process does not wait for all here: the next pieces are sent after the last process has come here,
    // and must arrive.
    const auto start = Clock::now();
    stream(link, bootstrap.health(), next, previous, piece, sent + untimed, sent + untimed + timed);
    const double seconds = seconds_since(start);
    sent += untimed + timed;
    const LinkProgress progress(link);
    return launch::allreduce(bootstrap, seconds, std::ranges::max);
  };
  std::uint64_t timed = kTimed;
  double slowest = measure(kUntimed, timed);
  if (slowest < kLeast_s) {
    timed = static_cast<std::uint64_t>(std::ceil(kTimed * kLeast_s / slowest));
    slowest = measure(timed / 8, timed);  // the first pieces use up what a shaped link saved in the pause
  }
  return static_cast<double>(timed * kPieceBytes) / slowest;
}

}  // namespace edgewire::process
