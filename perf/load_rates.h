// The rates of this machine that decide how long a load takes, measured in a few seconds.
#pragma once

#include <string>

#include "perf/load_bound.h"

namespace edgewire::perf {

struct DiskRates {
  double read_bytes_per_s = 0, write_bytes_per_s = 0;
};

/// Writes and reads 256 MiB past the page cache, in a file without a name, as sorted runs are. Throws Error
/// that names the folder.
DiskRates measure_disk(const std::string& folder);

/// Bytes of the task's input that a core sorts, or converts, in a second of its own time: a job of one
/// process and one worker with a sample of the records, or with random records or edges. It spills to
/// `folder` where the task does. What sending takes is not in it. Throws Error.
double measure_core(const LoadTask& task, bool spills, const std::string& folder);

}  // namespace edgewire::perf
