// The work of a METG task, for programs of other systems: the same as tasks::work_for().
#include <cstdint>

extern "C" void work_for(std::uint64_t multiplications) {
  std::uint64_t x = multiplications;
  for (std::uint64_t i = 0; i < multiplications; ++i) x = x * 6364136223846793005U + 1442695040888963407U;
  asm volatile("" : : "r"(x));  // so that it is computed
}
