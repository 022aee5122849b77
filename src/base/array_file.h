// A file in which one process keeps arrays from one run to the next: sections of plain values behind a key,
// which says in lines what they were made from. All little endian:
//
//   header           64 bytes
//   key              lines of text "NAME VALUE", padded with zeros to 8 bytes
//   section table    {u64 offset, u64 bytes} of each section
//   checksums        u64 of each block of each section, in order: XXH3-64
//   sections         each at a multiple of 64 (empty ones nowhere); cut into blocks of 1 MiB, the last one
//   shorter
//
// The header holds the checksum of all that comes before the sections. The reader takes sections in order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/mapped_file.h"
#include "base/parallel.h"

namespace edgewire {

struct ArrayFileHeader {
  static constexpr std::array<char, 8> kMagic{'E', 'W', 'P', 'L', 'A', 'N', '\r', '\n'};
  static constexpr std::uint32_t kVersion = 7;  ///< grows when the layout or the meaning of a section changes
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t sections = 0;
  std::uint64_t key_bytes = 0;    ///< number of bytes of the key, without padding
  std::uint64_t front_bytes = 0;  ///< number of bytes before the sections
  std::uint64_t file_bytes = 0;
  /// Number that is the same in all files which the processes of one run wrote.
  std::uint64_t generation = 0;
  std::uint64_t reserved = 0, checksum = 0;
  /// Returns the checksum for the field `checksum`: XXH3-64 of the header, with the checksum of `rest`, the
  /// rest of the front, in that field.
  std::uint64_t checksum_with(std::span<const std::uint8_t> rest) const;
};
static_assert(sizeof(ArrayFileHeader) == 64 && std::is_trivially_copyable_v<ArrayFileHeader>);

struct ArrayFileSection {
  std::uint64_t offset, bytes;
};

/// Collects sections, then writes them. The arrays must stay as they are until then.
class ArrayFileWriter {
 public:
  /// Adds an array as a section.
  template <class Values>
  void operator()(const Values& values) {
    add({std::as_bytes(std::span(values))});
  }
  template <class Value>
  requires std::is_trivially_copyable_v<Value>
  void value(const Value& one) { add({std::as_bytes(std::span(&one, 1))}); }
  /// Adds a copy of an array.
  template <class Value>
  void copy(const std::vector<Value>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    add({copies_.emplace_back(bytes.begin(), bytes.end())});
  }
  /// Adds one section of several parts.
  void add(std::vector<std::span<const std::byte>> parts);

  /// Writes the file, whole or not at all. Throws Error with the path.
  void write(const std::string& path, const std::string& key, std::uint64_t generation,
             const ForEach& for_each) const;

 private:
  struct Section {
    std::vector<std::span<const std::byte>> parts;
    std::vector<std::uint64_t> starts;  ///< offset of each part
    std::uint64_t bytes = 0;
    /// Copies the section's bytes from `begin` on.
    void copy(std::uint64_t begin, std::span<std::byte> out) const;
  };
  std::vector<Section> sections_;
  std::deque<std::vector<std::byte>> copies_;
};

/// Maps what ArrayFileWriter wrote. Throws Error with the path, and with the byte offset where there is one,
/// when the file is missing, another user's, cut short, damaged, or has another key.
class ArrayFileReader {
 public:
  /// Opens the file. `for_each` is called while sections are read.
  ArrayFileReader(const std::string& path, const std::string& key, ForEach for_each);

  std::uint64_t generation() const noexcept { return header_.generation; }
  /// Copies the next section into an array, which gets its size.
  template <class Values>
  void operator()(Values& values) {
    values.resize(bytes<typename Values::value_type>() / sizeof(typename Values::value_type));
    copy(std::as_writable_bytes(std::span(values)));
  }
  template <class Value>
  requires std::is_trivially_copyable_v<Value>
  void value(Value& one) {
    if (bytes<Value>() != sizeof one) fail("a section has another size");
    copy(std::as_writable_bytes(std::span(&one, 1)));
  }
  /// Returns the next section as it is in the file. It is valid as long as this lives.
  template <class Value>
  std::span<const Value> map() {
    const std::uint64_t count = bytes<Value>() / sizeof(Value);
    return {reinterpret_cast<const Value*>(check({})), count};
  }
  /// Throws Error: "PATH: byte OFFSET: WHAT", the offset being that of the next section.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  /// Checks the next section and returns its whole values.
  template <class Value>
  std::uint64_t bytes() const {
    static_assert(alignof(Value) <= 64);
    if (next_section_ == sections_.size()) fail("a section is missing");
    const std::uint64_t size = sections_[next_section_].bytes;
    if (size % sizeof(Value) != 0) fail("a section has another size");
    return size;
  }
  void check_front(const std::string& key);
  /// Checks this section, copies it into `copies`, unless that is empty, and goes to the next section.
  const std::uint8_t* check(std::span<std::byte> copies);
  void copy(std::span<std::byte> out);

  MappedFile file_;
  ForEach for_each_;
  ArrayFileHeader header_;
  std::vector<ArrayFileSection> sections_;
  std::vector<std::uint64_t> checksums_;
  std::size_t next_section_ = 0, next_block_ = 0;
};

}  // namespace edgewire
