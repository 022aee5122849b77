#include "base/vector_registers.h"

namespace edgewire {

#if defined(__x86_64__)
namespace {
[[gnu::target("avx")]] void vzeroupper() noexcept { __builtin_ia32_vzeroupper(); }
}  // namespace

void clear_upper_halves() noexcept {
  static const bool has_them = __builtin_cpu_supports("avx") != 0;
  if (has_them) vzeroupper();
}
#else
void clear_upper_halves() noexcept {}
#endif

}  // namespace edgewire
