// Sorts records that are on disks, in less memory than they take, by all processes of a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "edgewire/launch.h"
#include "edgewire/options.h"

#pragma GCC visibility push(default)

namespace edgewire {

/// What to sort, and where to. Sizes are in bytes.
struct SortOptions {
  std::vector<std::string> inputs{};  ///< files of whole records, one or more; the same in all processes
  std::string output{};               ///< folder of the parts; made where it is not there
  std::string temp{};                 ///< folder of sorted runs; empty: the output's
  std::size_t record_bytes = 100;     ///< from 1 to 4096
  std::size_t key_offset = 0;         ///< where the key begins in a record
  std::size_t key_bytes = 10;    ///< keys order as bytes do, and equal keys by all bytes of their records
  std::uint32_t partitions = 1;  ///< parts to write, from 1 to 65536
  std::uint64_t memory_bytes = 1 << 30;  ///< of each process; a refusal says how much is needed
};

/// What this process did.
struct SortSummary {
  std::uint64_t records = 0;         ///< that it read
  std::uint64_t spilled = 0;         ///< bytes that it wrote to sorted runs
  std::uint64_t payload_bytes = 0;   ///< that it sent
  std::uint64_t wire_bytes = 0;      ///< the same, with all headers
  std::vector<std::string> parts{};  ///< the files that it wrote, in the order of their records
};

/// Sorts the records of all inputs into partitions. Each process reads its part of the input, sends each
/// record to the process of its partition, and writes its partitions. Collective. Throws UsageError when an
/// option makes no sense, and Error when the job fails; no part is there then.
SortSummary sort(launch::Bootstrap& bootstrap, const SortOptions& options, const JobOptions& job = {});

}  // namespace edgewire

#pragma GCC visibility pop
