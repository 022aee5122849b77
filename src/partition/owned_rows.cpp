#include "partition/owned_rows.h"

#include <utility>

namespace edgewire::partition {

OwnedRows::OwnedRows(const Graph& graph, const Ownership& ownership, RowMemory rows,
                     topology::NodeMemory weights)
    : graph_(&graph),
      memory_(std::make_shared<Memory>(Memory{ownership, std::move(rows), std::move(weights)})),
      begins_(memory_->rows.begins),
      targets_(memory_->rows.entries.as<const VertexId>()) {
  const graph::WeightType type = graph.weights().type();
  if (memory_->weights.bytes() > 0)
    weights_ = {type, memory_->weights.as<std::byte>().data(), begins_.back()};
}

void OwnedRows::forget_targets() {
  if (in_file()) return;
  targets_ = {};
  memory_->rows.entries = {};
}

void OwnedRows::forget_edges() {
  if (in_file()) return;
  forget_targets();
  weights_ = {};
  memory_->weights = {};
}

RowMemory OwnedRows::take() {
  targets_ = {};
  return std::move(memory_->rows);
}

}  // namespace edgewire::partition
