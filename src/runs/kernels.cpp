#include "runs/kernels.h"

#include <fmt/format.h>

#include "base/error.h"

namespace edgewire::runs {

void check(const Sources& sources) {
  if (sources.vertices.empty())
    throw UsageError("there is no source to start from: name one or more vertices");
  const bool is_one = sources.vertices.size() == 1 && sources.names.empty();
  if (!is_one && sources.names.size() != sources.vertices.size())
    throw UsageError(fmt::format("there are {} sources and {} names: name each of them",
                                 sources.vertices.size(), sources.names.size()));
}

}  // namespace edgewire::runs
