#include "graph/edge_sink.h"

#include <numeric>
#include <vector>

#include "base/available_memory.h"

namespace edgewire::graph {

void EdgeSink::add_narrow(int worker, std::span<const std::uint32_t> ids, Weights weights) {
  static thread_local std::vector<std::uint64_t> wide;  // kept for the next call
  wide.assign(ids.begin(), ids.end());
  add(worker, wide, weights);
}

void MemorySink::start(const GraphShape& shape, std::span<const std::uint64_t> /*sources*/) {
  shape_ = shape;
  if (shape.numbering == GraphShape::Numbering::counted) {
    require_memory(shape.name, shape.vertices * 16);
    builder_.emplace(shape.vertices, shape.expected_edges, shape.options);
  } else {
    list_.emplace(shape.options.workers);
  }
}

void MemorySink::add(int worker, std::span<const std::uint64_t> ids, Weights weights) {
  if (list_) return list_->add(worker, ids, weights);
  builder_->add(worker, ids, weights, [](std::uint64_t id) { return static_cast<PlainId>(id); });
}

void MemorySink::add_narrow(int worker, std::span<const std::uint32_t> ids, Weights weights) {
  if (list_) return list_->add(worker, ids, weights);
  builder_->add(worker, ids, weights, [](std::uint32_t id) { return PlainId{id}; });
}

void MemorySink::add_vertices(int worker, std::span<const std::uint64_t> ids) {
  list_->add_vertices(worker, ids);
}

BuildSummary MemorySink::write(std::uint32_t flags, const Progress& progress) {
  if (list_)
    return list_->build(output_,
                        shape_.numbering == GraphShape::Numbering::dense ? EdgeList::Numbering::dense
                                                                         : EdgeList::Numbering::given,
                        shape_.options, progress);
  std::vector<std::uint64_t> original_ids;
  if (shape_.first_id > 0) {
    original_ids.resize(shape_.vertices);
    std::iota(original_ids.begin(), original_ids.end(), shape_.first_id);
  }
  return builder_->write(output_, original_ids, flags, progress);
}

}  // namespace edgewire::graph
