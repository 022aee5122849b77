#include "launch/frames.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/needed_calls.h"
#include "base/release.h"
#include "transport/crc32c.h"

namespace edgewire::launch {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 16;

}  // namespace

void require_message_calls() {
  require_calls({{"poll", [] { return long{poll(nullptr, 0, 0)}; }},
                 {"recvfrom", [] { return recv(-1, nullptr, 0, 0); }},
                 {"sendto", [] { return send(-1, nullptr, 0, 0); }}});
}

std::uint32_t FrameHeader::right_check() const noexcept {
  return transport::crc32c(std::as_bytes(std::span(this, 1)).first(offsetof(FrameHeader, check)));
}

Message frame(FrameKind kind, std::uint32_t tag, std::string_view payload) {
  FrameHeader header{payload.size(), kind, tag};
  header.payload_check = transport::crc32c(std::as_bytes(std::span(payload)));
  header.check = header.right_check();
  std::string bytes(sizeof header, '\0');
  bytes.reserve(sizeof header + payload.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes += payload;
  return std::make_shared<const std::string>(std::move(bytes));
}

ssize_t MessageReader::read(int stream) {
  std::array<char, kReadBytes> arrived;  // not a member of the reader: rank 0 has a reader for each process
  const ssize_t got = recv(stream, arrived.data(), arrived.size(), 0);
  if (got <= 0 || useless_) return got;
  bytes_.erase(0, std::exchange(taken_, 0));
  if (bytes_.empty() && bytes_.capacity() > kReadBytes) release(bytes_);  // free the memory of a long message
  bytes_.append(arrived.data(), got);
  return got;
}

MessageReader::Next MessageReader::next(Arrival& arrival) {
  const std::string_view rest = std::string_view(bytes_).substr(taken_);
  FrameHeader& header = arrival.header;
  if (rest.size() < sizeof header) return Next::Partial;
  std::memcpy(&header, rest.data(), sizeof header);
  if (header.check != header.right_check()) return refused(Next::Changed);
  if (header.length > kMaxMessageBytes) return refused(Next::TooLong);
  if (rest.size() - sizeof header < header.length) return Next::Partial;
  arrival.payload = rest.substr(sizeof header, header.length);
  if (header.payload_check != transport::crc32c(std::as_bytes(std::span(arrival.payload))))
    return refused(Next::Changed);
  taken_ += sizeof header + header.length;
  return Next::Whole;
}

MessageReader::Next MessageReader::refused(Next why) {
  useless_ = true;
  bytes_.clear();
  taken_ = 0;
  return why;
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
