#pragma once

#include <cstdint>

namespace edgewire::transport {

// epoll returns a tag with each event. The tag of a link is its index. These two tags are for the event file
// descriptor that wakes a sleeping thread, and for the listening socket.
constexpr std::uint64_t kAlarmTag = ~std::uint64_t{0};
constexpr std::uint64_t kListenerTag = kAlarmTag - 1;

}  // namespace edgewire::transport
