#pragma once

#include <cstddef>
#include <string>

namespace edgewire::transport {

/// Returns random bytes. Throws Error when libsodium does not start.
std::string random_bytes(std::size_t count);

/// Returns a key of `bytes` bytes, made from the secret of the run, for this use only.
std::string derive_key(const std::string& secret, const std::string& use, std::size_t bytes);

/// Encrypts and authenticates what processes tell each other about their memory and ports (libsodium's
/// secretbox), with a key from the run's secret and `use`. Nobody else can read the text, or make one.
std::string seal(const std::string& text, const std::string& secret, const std::string& use);

/// Returns the text that was sealed; empty when it was not sealed with this secret for this use.
std::string unseal(const std::string& sealed, const std::string& secret, const std::string& use);

}  // namespace edgewire::transport
