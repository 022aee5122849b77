// Arrays of plain values as messages of the control plane, among machines of one kind.
#pragma once

#include <fmt/core.h>

#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "launch/bootstrap.h"

namespace edgewire::launch {

template <class T>
requires std::is_trivially_copyable_v<T> std::string pack(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Returns the values of a message. Throws Error naming the sender when it holds no whole number of values.
template <class T>
requires std::is_trivially_copyable_v<T> std::vector<T> unpack(const std::string& message,
                                                               std::size_t sender) {
  if (message.size() % sizeof(T) != 0) {
    throw Error(fmt::format("rank {} sent a faulty message of {} bytes", sender, message.size()));
  }
  std::vector<T> values(message.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), message.data(), message.size());
  return values;
}

/// Throws Error naming the sender unless the message holds `count` values of this many bytes.
inline void expect_values(const std::string& message, std::size_t sender, std::size_t count,
                          std::size_t value_bytes) {
  if (message.size() != count * value_bytes)
    throw Error(fmt::format("rank {} sent {} bytes instead of {} values", sender, message.size(), count));
}

/// Does the same as unpack(), and the message must hold `count` values.
template <class T>
std::vector<T> unpack(const std::string& message, std::size_t sender, std::size_t count) {
  expect_values(message, sender, count, sizeof(T));
  return unpack<T>(message, sender);
}

/// Returns the values of all, by rank. All give as many. Collective; throws Error that names a rank.
template <class T>
std::vector<std::vector<T>> allgather(Bootstrap& bootstrap, const std::vector<T>& mine) {
  const auto messages = bootstrap.allgather(pack(mine));
  std::vector<std::vector<T>> all;
  for (std::size_t p = 0; p < messages.size(); ++p) all.push_back(unpack<T>(messages[p], p, mine.size()));
  return all;
}

/// Returns the values of all processes, joined one by one by join(a, b) in the order of their ranks, such as
/// std::plus or std::ranges::max; the result is the same in all. Collective; throws as allgather().
template <class T, class Join>
std::vector<T> allreduce(Bootstrap& bootstrap, const std::vector<T>& mine, const Join& join) {
  const auto all = allgather(bootstrap, mine);
  std::vector<T> joined = all[0];
  for (std::size_t p = 1; p < all.size(); ++p)
    for (std::size_t i = 0; i < joined.size(); ++i) joined[i] = join(joined[i], all[p][i]);
  return joined;
}
template <class T, class Join>
T allreduce(Bootstrap& bootstrap, const T& mine, const Join& join) {
  return allreduce(bootstrap, std::vector{mine}, join)[0];
}

/// Does the same as allreduce(), for many values: only rank 0 gets those of all, and joins them.
template <class T, class Join>
std::vector<T> allreduce_many(Bootstrap& bootstrap, const std::vector<T>& mine, const Join& join) {
  const auto messages = bootstrap.gather(pack(mine));
  std::vector<T> joined;
  for (std::size_t p = 0; p < messages.size(); ++p) {
    const auto values = unpack<T>(messages[p], p, mine.size());
    if (p == 0) joined = values;
    for (std::size_t i = 0; p > 0 && i < joined.size(); ++i) joined[i] = join(joined[i], values[i]);
  }
  return unpack<T>(bootstrap.allgather(pack(joined))[0], 0, mine.size());
}

}  // namespace edgewire::launch
