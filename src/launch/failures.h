#pragma once

#include <string>

#include "edgewire/error.h"

namespace edgewire::launch {

/// Keeps the first failure of a job for the caller of run(), as long as this object lives: the job's
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

/// Tells whoever waits for the job why it fails: on stderr, or a KeptFailure.
void tell_failure(const std::string& line);

}  // namespace edgewire::launch
