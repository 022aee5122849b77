// The common part of the tests of the public headers.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bootstraps.h"
#include "graph_test.h"
#include "transport_fixture.h"

namespace edgewire {

inline constexpr std::uint32_t kVertices = 60;  ///< number of vertices of some_edges()

/// Returns edges with loops and repeated ones, of weights 1 to 7; the last vertex has none.
inline std::vector<graph::Edge> some_edges() { return graph::random_edges(kVertices - 1, 400, 5); }

/// Calls work(bootstrap) in each of several processes, which are threads. A process that throws ends the job
/// for the others, as launch::run() does.
inline void in_processes(int count, const std::function<void(launch::Bootstrap&)>& work) {
  const auto bootstraps = launch::bootstraps(count);
  transport::parallel(count, [&](int p) {
    auto& bootstrap = *bootstraps[static_cast<std::size_t>(p)];
    try {
      work(bootstrap);
    } catch (const std::exception& error) {
      bootstrap.abort(error.what());
      throw;
    }
  });
}

}  // namespace edgewire
