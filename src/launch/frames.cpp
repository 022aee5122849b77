#include "launch/frames.h"

#include <cstring>

#include "error.h"

namespace edgewire::launch {

Message frame(Kind kind, std::uint32_t tag, std::string_view payload) {
  const FrameHeader header{payload.size(), kind, tag};
  std::string bytes(sizeof header, '\0');
  bytes.reserve(sizeof header + payload.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes += payload;
  return std::make_shared<const std::string>(std::move(bytes));
}

std::string pack(std::span<const std::string> items) {
  std::string bytes;
  for (const std::string& item : items) {
    const std::uint64_t length = item.size();
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes += item;
  }
  return bytes;
}

std::vector<std::string> unpack(std::string_view bytes, int count) {
  std::vector<std::string> items;
  for (int i = 0; i < count; ++i) {
    std::uint64_t length = 0;
    if (bytes.size() < sizeof length) throw Error("a message of the bootstrap is cut short");
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes.remove_prefix(sizeof length);
    if (bytes.size() < length) throw Error("a message of the bootstrap is cut short");
    items.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return items;
}

}  // namespace edgewire::launch
