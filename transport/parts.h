// The parts of a region that peers may write to.
#pragma once

#include <fmt/core.h>

#include <span>
#include <vector>

#include "base/error.h"
#include "transport/transport.h"

namespace edgewire::transport {

/// The part of each of `size` peers. Peers without an entry in `parts` have an empty part. Throws Error when
/// a part exceeds the region of `bytes`.
inline std::vector<Transport::Part> checked_parts(std::span<const Transport::Part> parts, int size,
                                                  std::size_t bytes) {
  std::vector<Transport::Part> checked(parts.begin(), parts.end());
  checked.resize(static_cast<std::size_t>(size));
  for (const auto& part : checked)
    if (part.offset > bytes || part.bytes > bytes - part.offset)
      throw Error(fmt::format("a part of {} bytes at offset {} exceeds the region of {} bytes", part.bytes,
                              part.offset, bytes));
  return checked;
}

}  // namespace edgewire::transport
