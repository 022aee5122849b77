#pragma once

#include <cstdint>

#include "edgewire/tasks.h"

namespace edgewire::bench {

/// Rows of tasks that each work for a while: the task graphs of Task Bench (Slaughter et al., "Task Bench: a
/// parameterized benchmark for evaluating parallel runtime performance", SC 2020). Task (t, i) waits for
/// tasks (t - 1, j).
enum class Pattern {
  stencil,  ///< j from i - 1 to i + 1
  fft,      ///< j = i, and i plus and minus 2^k, where k counts through the bits of the width
  random,   ///< j = i, and each of five to either side with a chance of 1/4
};

struct Grains {
  Pattern pattern = Pattern::stencil;
  std::uint32_t width = 1, steps = 1;
  std::uint64_t work = 0;  ///< of each task: so many multiplications, one after the other
};

/// Adds the functions and returns the first task's. Its arguments are to_bytes(Grains), its result is a sum
/// over the last row: each task gives t * 1000003 + i + 1, and the sum of what it has waited for.
tasks::FunctionId add_grains(tasks::Registry& registry);

/// What a task does, beside its sum.
void work_for(std::uint64_t multiplications);

/// Whether task (t, i) waits for (t - 1, j). i and j are below the width.
bool waits_for(const Grains& grains, std::uint32_t t, std::uint32_t i, std::uint32_t j);

}  // namespace edgewire::bench
