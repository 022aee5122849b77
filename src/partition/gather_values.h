#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "launch/bootstrap.h"
#include "partition/ownership.h"

namespace edgewire::partition {

/// Writes the values of all vertices, by vertex, to the memory that room(vertices) returns; at rank 0. `mine`
/// has the values of the vertices that this process owns, `value_bytes` each, by their local number.
/// Collective; throws Error when a process sends another number of values.
void gather_bytes(launch::Bootstrap& bootstrap, const Ownership& ownership, std::span<const std::byte> mine,
                  std::size_t value_bytes, const std::function<std::byte*(std::uint64_t vertices)>& room);

/// Returns these values at rank 0; elsewhere nothing.
template <class Value>
std::vector<Value> gather_values(launch::Bootstrap& bootstrap, const Ownership& ownership,
                                 const std::vector<Value>& mine) {
  std::vector<Value> all;
  gather_bytes(bootstrap, ownership, std::as_bytes(std::span(mine)), sizeof(Value),
               [&](std::uint64_t vertices) {
                 all.resize(vertices);
                 return std::as_writable_bytes(std::span(all)).data();
               });
  return all;
}

}  // namespace edgewire::partition
