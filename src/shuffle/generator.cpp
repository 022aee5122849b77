#include "shuffle/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/mixing.h"
#include "base/output_file.h"
#include "base/output_folder.h"
#include "options/files.h"

namespace edgewire::shuffle {

namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 20;
constexpr std::size_t kKeyBytes = 8, kNumberBytes = 20;
constexpr std::uint64_t kMostKeys = 2'821'109'907'456;  // 36^8

__extension__ using Uint128 = unsigned __int128;

std::uint64_t scale(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return static_cast<std::uint64_t>(static_cast<Uint128>(a) * b / c);
}

/// Writes a key. Keys are text: numbers in base 36 with leading zeros, spread over all numbers of 8 digits.
void write_key(char* to, std::uint64_t key, std::uint64_t keys) {
  std::uint64_t number = scale(key, kMostKeys, keys);
  for (std::size_t digit = kKeyBytes; digit-- > 0; number /= 36)
    to[digit] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
}

std::uint64_t key_of(const RecordsWanted& wanted, std::uint64_t number) {
  if (wanted.order == RecordOrder::sorted) return scale(number, wanted.keys, wanted.records);
  if (wanted.order == RecordOrder::reversed)
    return scale(wanted.records - 1 - number, wanted.keys, wanted.records);
  return SplitMix64(wanted.seed + SplitMix64(number).next()).next() % wanted.keys;
}

void write_record(char* to, const RecordsWanted& wanted, std::uint64_t number) {
  write_key(to, key_of(wanted, number), wanted.keys);
  fmt::format_to(to + kKeyBytes, "{:0{}}", number, kNumberBytes);
  for (std::size_t i = kKeyBytes + kNumberBytes; i + 1 < wanted.record_bytes; ++i)
    to[i] = static_cast<char>('A' + (number + i) % 26);
  to[wanted.record_bytes - 1] = '\n';
}

}  // namespace

void generate_records(const std::string& folder, const RecordsWanted& wanted) {
  check_range(opt::generated_record, wanted.record_bytes);
  check_range(opt::keys, wanted.keys);
  check_range(opt::files, wanted.files);
  OutputFolder made(folder);
  made.make();
  const std::size_t block = std::max<std::size_t>(1, kWriteBytes / wanted.record_bytes);
  std::vector<char> memory(block * wanted.record_bytes);
  std::vector<std::unique_ptr<OutputFile>> files;
  for (std::uint64_t f = 0; f < wanted.files; ++f) {
    files.push_back(std::make_unique<OutputFile>(fmt::format("{}/records-{:05}", folder, f)));
    const std::uint64_t begin = scale(wanted.records, f, wanted.files);
    const std::uint64_t end = scale(wanted.records, f + 1, wanted.files);
    if (end > begin) files.back()->reserve((end - begin) * wanted.record_bytes);
    for (std::uint64_t first = begin; first < end; first += block) {
      const std::uint64_t count = std::min<std::uint64_t>(block, end - first);
      for (std::uint64_t i = 0; i < count; ++i)
        write_record(&memory[i * wanted.record_bytes], wanted, first + i);
      files.back()->write(memory.data(), count * wanted.record_bytes, (first - begin) * wanted.record_bytes);
    }
  }
  OutputFile::commit_all(files);
  made.keep();
}

}  // namespace edgewire::shuffle
