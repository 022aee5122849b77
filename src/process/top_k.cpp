#include "process/top_k.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "launch/packing.h"

namespace edgewire::process {

namespace {

template <class Value>
Value magnitude(Value value) noexcept {
  if constexpr (std::is_unsigned_v<Value>)
    return value;
  else
    return std::fabs(value);
}

}  // namespace

template <class Value>
bool TopK<Value>::is_higher(const One& a, const One& b) const noexcept {
  const bool by_magnitude = order_ == Order::magnitude;
  const Value of_a = by_magnitude ? magnitude(a.value) : a.value,
              of_b = by_magnitude ? magnitude(b.value) : b.value;
  return of_a != of_b ? of_a > of_b : a.vertex < b.vertex;
}

template <class Value>
void TopK<Value>::add(const One& one) {
  if (count_ == 0) return;
  const auto higher = [this](const One& a, const One& b) { return is_higher(a, b); };
  if (heap_.size() >= count_) {
    if (!is_higher(one, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), higher);  // the lowest value goes
    heap_.pop_back();
  }
  heap_.push_back(one);
  std::push_heap(heap_.begin(), heap_.end(), higher);
}

template <class Value>
std::vector<Candidate<Value>> TopK<Value>::take() {
  std::ranges::sort_heap(heap_, [this](const One& a, const One& b) { return is_higher(a, b); });
  return std::move(heap_);
}

std::uint64_t count_of_rank_0(launch::Bootstrap& bootstrap, std::uint64_t count) {
  return launch::allgather(bootstrap, std::vector{count})[0][0];
}

template <class Value>
std::vector<Candidate<Value>> top_k_of_all(launch::Bootstrap& bootstrap, std::uint64_t count,
                                           const std::vector<Candidate<Value>>& mine, Order order) {
  const auto parts = bootstrap.gather(launch::pack(mine));
  TopK<Value> all(count, order);
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (const auto& one : launch::unpack<Candidate<Value>>(parts[p], p)) all.add(one);
  return all.take();
}

template class TopK<double>;
template class TopK<std::uint64_t>;
template std::vector<Candidate<double>> top_k_of_all(launch::Bootstrap&, std::uint64_t,
                                                     const std::vector<Candidate<double>>&, Order);
template std::vector<Candidate<std::uint64_t>> top_k_of_all(launch::Bootstrap&, std::uint64_t,
                                                            const std::vector<Candidate<std::uint64_t>>&,
                                                            Order);

}  // namespace edgewire::process
