#pragma once

#include <cstdint>

namespace edgewire::transport {

// What epoll gives back for what is not a link; links have their index.
constexpr std::uint64_t kWakeTag = ~std::uint64_t{0};
constexpr std::uint64_t kListenerTag = kWakeTag - 1;

}  // namespace edgewire::transport
