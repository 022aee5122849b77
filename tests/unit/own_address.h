// Addresses and ports of this host for a test that closes a port before it is used again.
#pragma once

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <unistd.h>

#include <string>

#include "base/error.h"
#include "transport/sockets.h"

namespace edgewire {

/// Returns an address of this host that no other process uses; `which`: 0 to 2.
inline std::string own_address(unsigned which = 0) {
  const auto process = static_cast<unsigned>(getpid());  // has 22 bits
  return fmt::format("127.{}.{}.{}", 1 + 64 * which + (process >> 16 & 63), process >> 8 & 255,
                     process & 255);
}

/// Returns a port below those that the system gives away, so that nobody takes it at own_address() before the
/// test does.
inline int own_port() {
  static int next = 20'000;
  for (;; ++next) {
    REQUIRE(next < 30'000);
    try {
      transport::listen_on(own_address(), next);
      return next++;
    } catch (const Error&) {  // a program listens at all addresses
    }
  }
}

}  // namespace edgewire
