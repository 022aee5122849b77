#include "tasks/memo.h"

#include <sodium.h>

#include "base/vector_registers.h"

namespace edgewire::tasks {

Name Memo::name_of(const Name& parent, std::uint64_t number, const Spawn& spawn) {
  static_assert(sizeof(Name) == crypto_shorthash_siphashx24_BYTES);
  static_assert(sizeof(Name) == crypto_shorthash_siphashx24_KEYBYTES);
  const std::string text = to_bytes(number) + to_bytes(spawn.function) + spawn.arguments;
  const std::string key = to_bytes(parent);
  unsigned char hash[sizeof(Name)];
  with_clean_registers([&] {
    return crypto_shorthash_siphashx24(hash, reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                                       reinterpret_cast<const unsigned char*>(key.data()));
  });
  return from_bytes<Name>({reinterpret_cast<const char*>(hash), sizeof hash});
}

}  // namespace edgewire::tasks
