#include "cli/top.h"

#include <algorithm>
#include <string>

#include "graph/vertex_names.h"
#include "launch/packing.h"

namespace edgewire::cli {
namespace {

struct Candidate {
  double value;
  std::uint64_t vertex;  ///< ids grow with it
};

bool is_higher(const Candidate& a, const Candidate& b) {
  return a.value != b.value ? a.value > b.value : a.vertex < b.vertex;
}

/// The highest of all that it was given, in memory for `count` of them.
class Highest {
 public:
  explicit Highest(std::uint64_t count) : count_(count) {}

  void add(const Candidate& one) {
    if (heap_.size() >= count_) {
      if (!is_higher(one, heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end(), is_higher);  // the lowest goes
      heap_.pop_back();
    }
    heap_.push_back(one);
    std::push_heap(heap_.begin(), heap_.end(), is_higher);
  }
  /// In order. Ends its use.
  std::vector<Candidate> take() {
    std::sort_heap(heap_.begin(), heap_.end(), is_higher);
    return std::move(heap_);
  }

 private:
  std::uint64_t count_;
  std::vector<Candidate> heap_;  ///< its front is the lowest
};

}  // namespace

std::vector<report::RunReport::Top> top_vertices(launch::Bootstrap& bootstrap, const job::DenseJob& job,
                                                 std::uint64_t count,
                                                 const std::function<double(std::uint32_t)>& value_of) {
  count = std::stoull(bootstrap.allgather(std::to_string(count))[0]);
  if (count == 0) return {};
  Highest mine(count);
  const auto ids = job.owned().ids();
  for (std::uint32_t i = 0; i < ids.size(); ++i) mine.add({value_of(i), ids[i]});
  const auto parts = bootstrap.gather(launch::pack(mine.take()));
  if (parts.empty()) return {};
  Highest all(count);
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (const auto& one : launch::unpack<Candidate>(parts[p], p)) all.add(one);
  const graph::VertexNames names(job.graph());
  std::vector<report::RunReport::Top> top;
  for (const Candidate& one : all.take())
    top.push_back({names(static_cast<std::uint32_t>(one.vertex)), names.labelled(), one.value});
  return top;
}

}  // namespace edgewire::cli
