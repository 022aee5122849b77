#include "process/shared_memory.h"

#include <fmt/core.h>

#include <optional>

#include "base/error.h"
#include "transport/shm.h"

namespace edgewire::process {
namespace {

/// Returns the next process of this host, in a ring.
int next_of_host(const launch::Bootstrap& bootstrap) {
  const auto& nodes = bootstrap.nodes();
  const int size = bootstrap.size();
  for (int step = 1; step < size; ++step) {
    const int other = (bootstrap.rank() + step) % size;
    if (nodes.empty() || nodes[other] == nodes[bootstrap.rank()]) return other;
  }
  return bootstrap.rank();
}

}  // namespace

std::string shared_memory_trouble(launch::Bootstrap& bootstrap) {
  std::optional<transport::ShmTrial> trial;
  std::string offer, trouble;
  try {
    trial.emplace();
    offer = trial->offer();
  } catch (const Error& error) {
    trouble = fmt::format("rank {} {}", bootstrap.rank(), error.what());
  }
  const auto offers = bootstrap.allgather(offer);
  const int next = next_of_host(bootstrap);
  if (trouble.empty() && next != bootstrap.rank()) {
    const std::string cause = transport::ShmTrial::trouble(offers[next]);
    if (!cause.empty())
      trouble = fmt::format("rank {} cannot share memory with rank {}: {}", bootstrap.rank(), next, cause);
  }
  for (const std::string& one : bootstrap.allgather(trouble))
    if (!one.empty()) return one;
  return "";
}

}  // namespace edgewire::process
