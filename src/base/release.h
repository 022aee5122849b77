#pragma once

namespace edgewire {

/// Empties a vector or string and frees its memory, which `= {}` and clear() keep.
template <class Container>
void release(Container& container) noexcept {
  Container().swap(container);
}

}  // namespace edgewire
