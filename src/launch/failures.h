#pragma once

#include <string>

#include "edgewire/error.h"

namespace edgewire::launch {

/// The first failure of a job, kept for the caller of run() as long as this object lives: the job's
/// processes say nothing on stderr. They share the memory of it, so it is made before they are forked. One at
/// a time.
class KeptFailure {
 public:
  KeptFailure();
  ~KeptFailure();
  KeptFailure(const KeptFailure&) = delete;
  KeptFailure& operator=(const KeptFailure&) = delete;

  /// Throws the failure of a job that ended in this status: UsageError for 2, else Error.
  [[noreturn]] void raise(int status) const;
};

/// Tells the cause of a failure to whoever waits for the job: on stderr, or by a KeptFailure.
void tell_failure(const std::string& line);

}  // namespace edgewire::launch
