// Hot loops run as they were compiled for the processor that runs them: one program holds them for several
// instruction sets, and chooses once, when it starts.
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace edgewire::detail {

/// The micro-architecture levels of the x86-64 psABI. All code but the hot loops is compiled for v2.
/// Processors of other makes have the one level `generic`.
enum class CpuLevel : std::uint8_t { generic, v2, v3, v4 };

/// Returns "x86-64-v3", for example, or "generic".
const char* name_of(CpuLevel level) noexcept;

/// Returns the level that loops are run for: the highest that this processor has, or a lower one that
/// EDGEWIRE_CPU names (v2, v3 or v4). The environment is read once. Throws UsageError when EDGEWIRE_CPU is no
/// level of this processor, Error when the processor is below v2. A worker pool asks when it is made, so that
/// loops can ask without a failure.
CpuLevel cpu_level();

namespace compiled {

// Inside a function of a level, all calls are inlined whose bodies are known (flatten), so that they are
// compiled for its level, too. There are no fused multiplications: results must not depend on the processor.
#if defined(__x86_64__)
template <class Work>
[[gnu::target("arch=x86-64-v3,no-fma"), gnu::flatten]] auto for_v3(const Work& work) {
  return work();
}
#endif
#pragma GCC push_options
#pragma GCC optimize("no-tree-vectorize")
#if defined(__x86_64__)
template <class Work>
[[gnu::target("arch=x86-64-v3,no-fma"), gnu::flatten]] auto scalar_for_v3(const Work& work) {
  return work();
}
#endif
template <class Work>
[[gnu::flatten]] auto scalar(const Work& work) {
  return work();
}
#pragma GCC pop_options

}  // namespace compiled

/// Returns work(), compiled for the level of this processor. For loops that go through memory in order. What
/// the compiler makes of them for v4 is not faster than for v3 (measured on an Intel Xeon), so v4 is only for
/// loops that are written for it (dense/plan/owner_filter).
template <class Work>
auto run_for_cpu(const Work& work) {
#if defined(__x86_64__)
  if (cpu_level() >= CpuLevel::v3) return compiled::for_v3(work);
#endif
  return work();
}

/// Does the same for loops over loads and stores by index. The compiler would make gathers of them, which
/// take 2.7 times as long (measured on Zen 4).
template <class Work>
auto run_scalar_for_cpu(const Work& work) {
#if defined(__x86_64__)
  if (cpu_level() >= CpuLevel::v3) return compiled::scalar_for_v3(work);
#endif
  return compiled::scalar(work);
}

}  // namespace edgewire::detail

#pragma GCC visibility pop
