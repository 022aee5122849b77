#pragma once

#include <string>

namespace edgewire::transport {

/// What processes tell each other of their memory and ports is sealed (libsodium's secretbox) with a key made
/// from the run's secret and `use`, so that nobody else can read it on its way, or make one.
std::string seal(const std::string& text, const std::string& secret, const std::string& use);

/// Empty when it was not sealed with this secret for this use.
std::string unseal(const std::string& sealed, const std::string& secret, const std::string& use);

}  // namespace edgewire::transport
