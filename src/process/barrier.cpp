#include "process/barrier.h"

#include <chrono>

namespace edgewire::process {

LinkProgress::LinkProgress(transport::Transport& link)
    : thread_([&link](const std::stop_token& stop) {
        constexpr std::chrono::microseconds kTurn(50);  // longest wait for the last process
        while (!stop.stop_requested() && link.wait(kTurn)) continue;
      }) {}

void barrier(launch::Bootstrap& bootstrap, transport::Transport& link) {
  if (bootstrap.size() == 1) return;
  const LinkProgress progress(link);
  bootstrap.allgather("");
}

}  // namespace edgewire::process
