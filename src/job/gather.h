// The result of a job with a dense kernel, from the values that its processes hold.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "job/dense_job.h"
#include "launch/bootstrap.h"

namespace edgewire::job {

/// All vertices' values by global id at rank 0, elsewhere empty; `values` are by index of the owned vertices.
/// Collective.
std::vector<double> gather_values(launch::Bootstrap& bootstrap, const DenseJob& job,
                                  std::span<const double> values);

/// Order-independent hash of the values of the owned vertices; the sum over processes is the checksum of a
/// result.
std::uint64_t checksum(const DenseJob& job, std::span<const double> values);

}  // namespace edgewire::job
