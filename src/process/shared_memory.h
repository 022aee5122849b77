#pragma once

#include <string>

#include "launch/bootstrap.h"

namespace edgewire::process {

/// Why processes that are on one host cannot share memory, naming two of them; empty: all can. Each tries it
/// with the next one of its host, which finds every border between containers or users. The same in all
/// processes. Collective.
std::string shared_memory_trouble(launch::Bootstrap& bootstrap);

}  // namespace edgewire::process
