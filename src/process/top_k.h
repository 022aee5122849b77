// The vertices of highest value, of all processes: each sends as many as rank 0 asks for, which merges them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "launch/packing.h"

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

/// The highest of all values that it was given, equal ones by their ids, in memory for `count` of them.
template <class Value>
class TopK {
 public:
  using One = Candidate<Value>;
  explicit TopK(std::uint64_t count, Order order = Order::value) : count_(count), order_(order) {}

  void add(const One& one) {
    if (count_ == 0) return;
    const auto higher = [this](const One& a, const One& b) { return is_higher(a, b); };
    if (heap_.size() >= count_) {
      if (!is_higher(one, heap_.front())) return;
      std::ranges::pop_heap(heap_, higher);  // the lowest value goes
      heap_.pop_back();
    }
    heap_.push_back(one);
    std::ranges::push_heap(heap_, higher);
  }
  /// Returns the values in order, highest first. It must not be used afterwards.
  std::vector<One> take() {
    std::ranges::sort_heap(heap_, [this](const One& a, const One& b) { return is_higher(a, b); });
    return std::move(heap_);
  }

 private:
  bool is_higher(const One& a, const One& b) const noexcept {
    const Value of_a = key(a.value), of_b = key(b.value);
    return of_a != of_b ? of_a > of_b : a.vertex < b.vertex;
  }
  Value key(Value value) const noexcept {
    if constexpr (std::is_unsigned_v<Value>)
      return value;
    else
      return order_ == Order::magnitude ? std::fabs(value) : value;
  }

  std::uint64_t count_;
  Order order_;
  std::vector<One> heap_;  ///< heap whose front is the lowest
};

/// Returns how many rank 0 asks for. Collective.
inline std::uint64_t count_of_rank_0(launch::Bootstrap& bootstrap, std::uint64_t count) {
  return launch::allgather(bootstrap, std::vector{count})[0][0];
}

/// Returns at rank 0 the `count` highest values of all processes, in order; elsewhere nothing. `mine` has at
/// least those of this process. The count is the same in all. Collective; throws Error.
template <class Value>
std::vector<Candidate<Value>> top_k_of_all(launch::Bootstrap& bootstrap, std::uint64_t count,
                                           const std::vector<Candidate<Value>>& mine,
                                           Order order = Order::value) {
  const auto parts = bootstrap.gather(launch::pack(mine));
  TopK<Value> all(count, order);
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (const auto& one : launch::unpack<Candidate<Value>>(parts[p], p)) all.add(one);
  return all.take();
}

}  // namespace edgewire::process
