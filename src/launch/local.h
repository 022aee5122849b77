#pragma once

#include <functional>

#include "launch/start.h"

namespace edgewire::launch {

/// Runs `body` on this bootstrap and returns the exit status. Reports a failure to the others and to stderr.
/// It never throws.
int run_body(Bootstrap& bootstrap, const std::function<void(Bootstrap&)>& body);

/// Forks all processes of a local job and watches over them; returns the first non-zero exit status.
int run_local(const StartOptions& options, const std::function<void(Bootstrap&)>& body);

}  // namespace edgewire::launch
