#pragma once

#include <string>

#include "launch/bootstrap.h"

namespace edgewire::process {

/// Returns why processes that are on one host cannot share memory, naming two of them. Returns an empty
/// string if all can. Each tries it with the next one of its host, which finds every border between
/// containers or users. The result is the same in all processes. Collective.
std::string shared_memory_trouble(launch::Bootstrap& bootstrap);

}  // namespace edgewire::process
