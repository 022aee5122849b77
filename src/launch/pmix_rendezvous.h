#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace edgewire::launch {

/// The error of a library or launcher that is missing or fails.
class PmixError : public Error {
 public:
  using Error::Error;
};

/// This process's place in a job whose launcher speaks PMIx.
struct PmixPlace {
  int rank = 0;
  int size = 1;
  std::vector<int> node_ranks;  ///< ranks on this node, this process's included, ascending
};

struct PmixJob {
  PmixPlace place;
  std::vector<std::string> messages;  ///< messages of all ranks
};

/// Connects to the launcher over PMIx (https://pmix.github.io, version 3 or later), sends `message(place)` to
/// all processes of the job, and disconnects. Loads libpmix.so.2. Collective. Throws PmixError, also when it
/// takes longer than `timeout_s`; a thread then still hangs in the library, so the process should end. Throws
/// plain Error when the launcher answers, but not all processes come. Passes on what `message` throws.
/// `round`: the number of jobs that the processes of this launcher have run before; the same in all.
PmixJob rendezvous_over_pmix(double timeout_s, std::uint64_t round,
                             std::function<std::string(const PmixPlace&)> message);

}  // namespace edgewire::launch
