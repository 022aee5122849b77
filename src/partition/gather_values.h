#pragma once

#include <cstdint>
#include <vector>

#include "launch/bootstrap.h"
#include "launch/packing.h"
#include "partition/ownership.h"

namespace edgewire::partition {

/// Returns at rank 0 the values of all vertices, by vertex; elsewhere nothing. `mine` has the values of the
/// vertices that this process owns, by their local number. Collective; throws Error when a process sends
/// another number of values.
template <class Value>
std::vector<Value> gather_values(launch::Bootstrap& bootstrap, const partition::Ownership& ownership,
                                 const std::vector<Value>& mine) {
  const auto parts = bootstrap.gather(launch::pack(mine));
  std::vector<Value> all(parts.empty() ? 0 : ownership.vertices());
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    const auto part = launch::unpack<Value>(parts[p], p, ownership.count(p));
    for (LocalNumber local{}; local < part.size(); ++local) all[ownership.vertex(p, local)] = part[local];
  }
  return all;
}

}  // namespace edgewire::partition
