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
  XXH3_64bits_reset(static_cast<XXH3_state_t*>(state_.get()));
}

void Checksum::add(const void* data, std::size_t bytes) noexcept {
  with_clean_registers(
      [&] { return XXH3_64bits_update(static_cast<XXH3_state_t*>(state_.get()), data, bytes); });
}

std::uint64_t Checksum::value() const noexcept {
  return with_clean_registers([&] { return XXH3_64bits_digest(static_cast<XXH3_state_t*>(state_.get())); });
}

void Checksum::Free::operator()(void* state) const noexcept {
  XXH3_freeState(static_cast<XXH3_state_t*>(state));
}

}  // namespace edgewire
