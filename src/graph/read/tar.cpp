#include "graph/read/decompress.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace edgewire::graph {

namespace {

/// Reads a number in octal digits, or, where its first bit is set, in binary (GNU tar, from 8 GB on).
std::uint64_t number(std::string_view field) {
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80U) != 0) {
    for (const char byte : field.substr(field.size() - 8))
      value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }
  for (const char digit : field)
    if (digit >= '0' && digit <= '7') value = value * 8 + static_cast<std::uint64_t>(digit - '0');
  return value;
}

std::string_view word(std::string_view field) { return field.substr(0, field.find('\0')); }

/// The header of one file (POSIX.1-1988, "ustar").
struct Member {
  explicit Member(std::string_view block)
      : path(word(block.substr(0, 100))), bytes(number(block.substr(124, 12))), kind(block[156]) {
    const std::string_view prefix = word(block.substr(345, 155));
    // GNU tar writes "ustar  " and keeps something else in place of a prefix.
    if (block.substr(257, 6) == std::string_view("ustar\0", 6) && !prefix.empty())
      path = fmt::format("{}/{}", prefix, path);
    if (path.starts_with("./")) path.erase(0, 2);
  }
  bool is_file() const { return kind == '0' || kind == '\0'; }
  bool is_graph() const {
    const std::size_t slash = path.rfind('/');
    if (!is_file() || slash == std::string::npos) return false;
    const std::string file = path.substr(slash + 1);
    std::string folder = path.substr(0, slash);
    folder.erase(0, folder.rfind('/') + 1);  // npos + 1 is 0
    return file == folder + ".mtx" || file == "out." + folder;
  }

  std::string path;
  std::uint64_t bytes;
  char kind;
};

std::uint64_t padded_to_block(std::uint64_t bytes) { return (bytes + kTarBlock - 1) / kTarBlock * kTarBlock; }

bool checksum_holds(std::string_view block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i)
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(block[i]);
  return sum == number(block.substr(148, 8));
}

}  // namespace

bool is_tar(std::string_view first_block) {
  return first_block.size() >= kTarBlock && first_block.substr(257, 5) == "ustar";
}

TarReader::TarReader(std::unique_ptr<ByteStream> archive, std::string name, std::string_view first_block)
    : archive_(std::move(archive)), name_(std::move(name)) {
  std::string block(first_block.substr(0, kTarBlock));
  std::string others;
  // The archive ends with blocks of zeros, or with the file.
  while (block.size() == kTarBlock && block.find_first_not_of('\0') != std::string::npos) {
    if (!checksum_holds(block)) fail("its tar header is damaged");
    const Member member(block);
    if (member.bytes > std::uint64_t{1} << 62) fail("its tar header is damaged");
    if (member.is_graph()) {
      member_ = member.path;
      left_ = member.bytes;
      return;
    }
    constexpr std::size_t kEnough = 200;
    if (member.is_file() && others.size() < kEnough) others += (others.empty() ? "" : ", ") + member.path;
    skip(padded_to_block(member.bytes));
    block.resize(archive_->read(block.data(), kTarBlock));
  }
  fail(fmt::format("the archive holds no NAME/NAME.mtx or NAME/out.NAME, but {}; unpack it and name one file",
                   others.empty() ? "no file" : others));
}

std::size_t TarReader::read(char* to, std::size_t room) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room, left_));
  const std::size_t made = archive_->read(to, wanted);
  if (made < wanted) fail(fmt::format("the archive ends within {}", member_));
  left_ -= made;
  if (left_ == 0 && wanted > 0) {
    std::vector<char> rest(std::size_t{64} << 10);
    while (archive_->read(rest.data(), rest.size()) > 0) {
    }
  }
  return made;
}

void TarReader::skip(std::uint64_t bytes) {
  std::array<char, kTarBlock * 16> some;
  while (bytes > 0) {
    const std::size_t made =
        archive_->read(some.data(), static_cast<std::size_t>(std::min<std::uint64_t>(bytes, some.size())));
    if (made == 0) fail("the archive is cut short");
    bytes -= made;
  }
}

void TarReader::fail(std::string_view what) const { throw Error(fmt::format("{}: {}", name_, what)); }

}  // namespace edgewire::graph
