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

void Memo::keep(const Name& name, const Result& result) {
  if (name == Name{} || !result.refs.empty()) return;
  const std::scoped_lock lock(mutex_);
  results_.try_emplace(name, result.bytes);
}

std::optional<std::string> Memo::find(const Name& name) {
  const std::scoped_lock lock(mutex_);
  const auto found = results_.find(name);
  if (found == results_.end()) return {};
  ++found_;
  return found->second;
}

void Memo::forget(std::span<const Name> names) {
  const std::scoped_lock lock(mutex_);
  for (const Name& name : names) results_.erase(name);
}

void Memo::clear() {
  const std::scoped_lock lock(mutex_);
  results_.clear();
  found_ = 0;
}

}  // namespace edgewire::tasks
