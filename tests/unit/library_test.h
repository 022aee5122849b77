// What the tests of the public headers share.
#pragma once

#include <functional>

#include "bootstraps.h"
#include "transport_fixture.h"

namespace edgewire {

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
