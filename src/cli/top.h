#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "job/dense_job.h"
#include "launch/bootstrap.h"
#include "report/run_report.h"

namespace edgewire::cli {

/// At rank 0: the `count` vertices of highest value (rank 0's `count` counts), highest first, equal ones in
/// the order of their ids; elsewhere empty. `value_of`: by index of the owned vertices. Collective.
std::vector<report::RunReport::Top> top_vertices(launch::Bootstrap& bootstrap, const job::DenseJob& job,
                                                 std::uint64_t count,
                                                 const std::function<double(std::uint32_t)>& value_of);

}  // namespace edgewire::cli
