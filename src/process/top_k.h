// The vertices of highest value, of all processes. Each sends as many as rank 0 asks for, and rank 0 merges
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "launch/bootstrap.h"

namespace edgewire::process {

/// The order by which a value is higher: by itself, or by its absolute value.
enum class Order { value, magnitude };

/// A vertex and its value. `Value` is double, or std::uint64_t, which is compared exactly.
template <class Value>
struct Candidate {
  Value value;
  std::uint64_t vertex;  ///< global id

  bool operator==(const Candidate&) const = default;
};

/// The highest of all values that it was given, equal ones in the order of their ids, in memory for `count`
/// of them.
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
  std::vector<One> heap_;  ///< heap whose front is the lowest
};

/// Returns how many rank 0 asks for. Collective.
std::uint64_t count_of_rank_0(launch::Bootstrap& bootstrap, std::uint64_t count);

/// Returns at rank 0 the `count` highest values of all processes, in order; elsewhere nothing. `mine` has at
/// least the `count` highest of this process. The count is the same in all processes. Collective; throws
/// Error.
template <class Value>
std::vector<Candidate<Value>> top_k_of_all(launch::Bootstrap& bootstrap, std::uint64_t count,
                                           const std::vector<Candidate<Value>>& mine,
                                           Order order = Order::value);

}  // namespace edgewire::process
