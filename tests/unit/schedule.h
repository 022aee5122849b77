// The rounds of test cases of the suite `schedules`: those in which threads share something. `tests/run.py
// --schedules` repeats them under many seeded schedules (docs/testing.md), so that each run has to be short.
#pragma once

#include <cstdlib>

namespace edgewire {

inline bool is_scheduled() { return std::getenv("EDGEWIRE_SCHEDULE_SEED") != nullptr; }

/// Returns how many rounds a test case has: `all`, or a tenth of them under one of many schedules.
inline int rounds(int all) { return is_scheduled() ? (all + 9) / 10 : all; }

}  // namespace edgewire
