// The result of a job with a dense kernel, from the values that its processes hold.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "dense/job/dense_job.h"
#include "partition/gather_values.h"

namespace edgewire::job {

/// The values of all vertices at rank 0, in the order of their ids: graph().vertices() of them, [v] is that
/// of vertex v (graph().original_id(v) in the input). In other processes nothing. `values`: of this process,
/// by index of the owned vertices, as DenseRun::values() gives them. Collective: all processes call it.
/// Memory at rank 0: twice the values of all vertices. Throws Error when the job fails.
template <class Value>
std::vector<Value> gather_values(const DenseJob& job, std::span<const Value> values) {
  const auto indexes = job.owned().indexes();
  if (values.size() != indexes.size())
    throw Error(fmt::format("rank {} has {} vertices, and {} values to gather", job.bootstrap().rank(),
                            indexes.size(), values.size()));
  std::vector<Value> mine;
  mine.reserve(values.size());
  for (const OwnedIndex index : indexes) mine.push_back(values[index]);
  return partition::gather_values(job.bootstrap(), job.ownership(), mine);
}

}  // namespace edgewire::job
