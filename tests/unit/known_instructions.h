// A loop of a known number of instructions, for tests of what counts them.
#pragma once

#include <cstdint>

namespace edgewire {

/// Two instructions a turn, and a few more in all; 0 turns where this processor's are not known here.
inline std::uint64_t run_instructions(std::uint64_t count) {
  std::uint64_t turns = count / 2;
#if defined(__x86_64__)
  asm volatile("1: dec %0\n\tjnz 1b" : "+r"(turns) : : "cc");
#elif defined(__aarch64__)
  asm volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc");
#else
  return 0;
#endif
  return count;
}

}  // namespace edgewire
