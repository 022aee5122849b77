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

struct CoreRate {
  double bytes_per_s = 0;    ///< of the task's input, in a second of the core's own time
  double share_sending = 0;  ///< the part of that time before runs are merged
};

/// How fast a core sorts or converts: a job of one
/// process and one worker with a sample of the records, or with random records or edges. It spills to
/// `folder` where the task does. What sending takes is not in it. Throws Error.
CoreRate measure_core(const LoadTask& task, bool spills, const std::string& folder);

}  // namespace edgewire::perf
