#include "engine/meet.h"

#include <chrono>
#include <thread>

namespace edgewire::engine {

std::vector<std::string> meet(launch::WireUp& wire, transport::Transport& link, const std::string& mine) {
  constexpr std::chrono::microseconds kTurn(50);  // the last one is waited for
  const std::jthread poller([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && link.wait(kTurn)) continue;
  });
  return wire.allgather(mine);
}

}  // namespace edgewire::engine
