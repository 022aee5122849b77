// The state that other libraries leave vector registers in.
#pragma once

namespace edgewire {

/// Clears what AVX has added to the vector registers (the instruction VZEROUPPER). While the upper halves
/// hold something, each SSE instruction must keep them, and so waits for the last one that wrote the same
/// register: Intel, 64 and IA-32 Architectures Optimization Reference Manual, "Mixing AVX code with SSE
/// code". Does nothing where there is no AVX.
void clear_upper_halves() noexcept;

/// Returns call(), and leaves clean vector registers. All calls of libraries that have vector code of their
/// own go through it: a compiler clears the registers behind AVX code, an author of assembly can forget it.
/// crc32_iscsi() of ISA-L 2.30 does. That made all SSE code of a thread that had sent or received a message 2
/// to 3 times as slow (Zen 4), and a profiler showed only that loops had become slow whose code had not
/// changed.
template <class Call>
decltype(auto) with_clean_registers(const Call& call) {
  struct Clean {
    ~Clean() { clear_upper_halves(); }
  } const clean;
  return call();
}

}  // namespace edgewire
