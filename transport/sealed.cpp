#include "transport/sealed.h"

#include <sodium.h>

#include "base/error.h"
#include "base/vector_registers.h"

namespace edgewire::transport {
namespace {

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

void start_sodium() {
  if (sodium_init() < 0) throw Error("libsodium does not start");
}

}  // namespace

std::string random_bytes(std::size_t count) {
  start_sodium();
  std::string bytes(count, '\0');
  randombytes_buf(bytes.data(), bytes.size());
  return bytes;
}

std::string derive_key(const std::string& secret, const std::string& use, std::size_t bytes) {
  start_sodium();
  std::string key(bytes, '\0');
  with_clean_registers([&] {
    return crypto_generichash(reinterpret_cast<unsigned char*>(key.data()), key.size(), bytes_of(use),
                              use.size() + 1, bytes_of(secret), secret.size());
  });
  return key;
}

std::string seal(const std::string& text, const std::string& secret, const std::string& use) {
  std::string sealed(crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES + text.size(), '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(sealed.data());
  const std::string key = derive_key(secret, use, crypto_secretbox_KEYBYTES);
  randombytes_buf(bytes, crypto_secretbox_NONCEBYTES);
  with_clean_registers([&] {
    return crypto_secretbox_easy(bytes + crypto_secretbox_NONCEBYTES, bytes_of(text), text.size(), bytes,
                                 bytes_of(key));
  });
  return sealed;
}

std::string unseal(const std::string& sealed, const std::string& secret, const std::string& use) {
  constexpr std::size_t kOverhead = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES;
  if (sealed.size() < kOverhead) return {};
  std::string text(sealed.size() - kOverhead, '\0');
  const auto* bytes = bytes_of(sealed);
  const std::string key = derive_key(secret, use, crypto_secretbox_KEYBYTES);
  const bool good = with_clean_registers([&] {
                      return crypto_secretbox_open_easy(
                          reinterpret_cast<unsigned char*>(text.data()), bytes + crypto_secretbox_NONCEBYTES,
                          sealed.size() - crypto_secretbox_NONCEBYTES, bytes, bytes_of(key));
                    }) == 0;
  return good ? text : std::string();
}

}  // namespace edgewire::transport
