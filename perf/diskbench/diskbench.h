// The perf/diskbench folder measures how fast disks read, by block size and by reads under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "report/json_text.h"

namespace edgewire::perf {

struct DiskbenchOptions {
  std::vector<std::string> folders{"."};  ///< folders whose disks are measured together
  std::vector<std::size_t> blocks{std::size_t{4} << 10, std::size_t{64} << 10, std::size_t{256} << 10,
                                  std::size_t{1} << 20};  ///< bytes of a read
  std::vector<int> depths{1, 4, 16, 64};                  ///< reads under way at a time
  std::uint64_t file_bytes = std::uint64_t{256} << 20;    ///< size of the file in each folder
  double seconds = 0.25;                                  ///< time of each measurement
  std::string order = "random";                           ///< order of reads: random or sequential
};

/// Measures every block size with every depth, and returns the report. Calls tell() for each line of the
/// table as soon as it is known. Throws UsageError that names the option, and Error that names the folder.
report::Json diskbench(const DiskbenchOptions& options, const std::function<void(const std::string&)>& tell);

}  // namespace edgewire::perf
