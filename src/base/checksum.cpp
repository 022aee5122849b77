#include "base/checksum.h"

#include <xxhash.h>

#include <new>

#include "base/vector_registers.h"

namespace edgewire {

std::uint64_t checksum(const void* data, std::size_t bytes) noexcept {
  return with_clean_registers([=] { return XXH3_64bits(data, bytes); });
}

Checksum::Checksum() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(state_.get());
}

void Checksum::add(const void* data, std::size_t bytes) noexcept {
  with_clean_registers([&] { return XXH3_64bits_update(state_.get(), data, bytes); });
}

std::uint64_t Checksum::value() const noexcept {
  return with_clean_registers([&] { return XXH3_64bits_digest(state_.get()); });
}

void Checksum::Free::operator()(XXH3_state_s* state) const noexcept { XXH3_freeState(state); }

}  // namespace edgewire
