#include "partition/gather_values.h"

#include <cstring>
#include <string>

#include "launch/packing.h"

namespace edgewire::partition {

namespace {

/// Copies the values of a process to their places. `Bytes`: the bytes of a value, where the compiler knows
/// them.
template <std::size_t Bytes>
void copy_values(const Ownership& ownership, std::uint32_t process, const std::string& values, std::byte* all,
                 std::size_t value_bytes) {
  const std::size_t bytes = Bytes > 0 ? Bytes : value_bytes;
  const char* from = values.data();
  for (LocalNumber local{}; local < ownership.count(process); ++local, from += bytes)
    std::memcpy(all + bytes * ownership.vertex(process, local), from, bytes);
}

}  // namespace

void gather_bytes(launch::Bootstrap& bootstrap, const Ownership& ownership, std::span<const std::byte> mine,
                  std::size_t value_bytes, const std::function<std::byte*(std::uint64_t)>& room) {
  const auto parts = bootstrap.gather({reinterpret_cast<const char*>(mine.data()), mine.size()});
  if (parts.empty()) return;
  std::byte* const all = room(ownership.vertices());
  const auto copy = value_bytes == 4 ? copy_values<4> : value_bytes == 8 ? copy_values<8> : copy_values<0>;
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    launch::expect_values(parts[p], p, ownership.count(p), value_bytes);
    copy(ownership, p, parts[p], all, value_bytes);
  }
}

}  // namespace edgewire::partition
