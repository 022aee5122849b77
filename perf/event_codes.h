// By what numbers the kernel counts an event on this processor.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "perf/counters.h"

namespace edgewire::perf {

/// As in perf_event_attr, see perf_event_open(2).
struct EventCode {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
};

/// [event]: what to ask for, the best first; empty where this processor has no such event. Names of the
/// processor's own events come first (libpfm4, where this build has it), since the kernel's generic events
/// do not exist for all of them, and on AMD and Arm mean other things: cache misses are those of the
/// second or first level, dTLB misses those of the first. Sources: the events' tables in the Intel SDM,
/// volume 3B, the AMD PPR of families 17h and 19h and Arm's manuals of Neoverse cores, by libpfm4's names.
using EventCodes = std::array<std::vector<EventCode>, kEvents>;
EventCodes find_event_codes();

}  // namespace edgewire::perf
