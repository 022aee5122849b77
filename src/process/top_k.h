// The vertices of highest value, of all processes: each sends as many as are asked for, and rank 0 merges.
#pragma once

#include <cstdint>
#include <vector>

#include "launch/bootstrap.h"

namespace edgewire::process {

/// What is higher: a value, or its absolute value.
enum class Order { value, magnitude };

/// `Value`: double, or std::uint64_t, which is compared exactly.
template <class Value>
struct Candidate {
  Value value;
  std::uint64_t vertex;  ///< global id

  bool operator==(const Candidate&) const = default;
};

/// The highest of all that it was given, equal ones in the order of their ids, in memory for `count` of them.
template <class Value>
class TopK {
 public:
  using One = Candidate<Value>;
  explicit TopK(std::uint64_t count, Order order = Order::value) : count_(count), order_(order) {}

  void add(const One& one);
  /// Returns the values in order, highest first. It must not be used afterwards.
  std::vector<One> take();

 private:
  bool is_higher(const One& a, const One& b) const noexcept;

  std::uint64_t count_;
  Order order_;
  std::vector<One> heap_;  ///< its front is the lowest
};

/// Returns how many rank 0 asks for. Collective.
std::uint64_t count_of_rank_0(launch::Bootstrap& bootstrap, std::uint64_t count);

/// Returns at rank 0 the `count` highest of all that the processes have, in order; elsewhere nothing. `mine`
/// has at least the `count` highest of this process. The count is the same in all processes. Collective;
/// throws Error.
template <class Value>
std::vector<Candidate<Value>> top_k_of_all(launch::Bootstrap& bootstrap, std::uint64_t count,
                                           const std::vector<Candidate<Value>>& mine,
                                           Order order = Order::value);

}  // namespace edgewire::process
