// One call from a kernel to the values of all vertices.
#pragma once

#include <vector>

#include "runs/dense.h"
#include "runs/frontier.h"

namespace edgewire::runs {

template <class Value>
struct Result {
  std::vector<Value> values;  ///< [vertex], at rank 0, in the order of ids; elsewhere there are none
  report::RunReport report;   ///< complete at rank 0
};

/// Runs a kernel that passes over all edges. Throws Error, also where the result differs from the reference.
/// Collective.
Result<double> call(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, DenseKernel& kernel,
                    DenseOptions options);
/// Does the same for a kernel that follows a frontier. Its values, of the first run, become `Value`, PlainId
/// or double; a whole distance that no path has becomes infinity.
template <class Value>
Result<Value> call(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, Kernel& kernel,
                   FrontierOptions options);

}  // namespace edgewire::runs
