#include "shuffle/check.h"

#include <fmt/core.h>

#include <cerrno>
#include <string_view>

#include <fcntl.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file_calls.h"

namespace edgewire::shuffle {

namespace {

/// Returns whether a comes before b: compares the keys first, then all bytes.
bool comes_before(std::string_view a, std::string_view b, const RecordShape& shape) {
  const auto order =
      a.substr(shape.key_offset, shape.key_bytes).compare(b.substr(shape.key_offset, shape.key_bytes));
  return order != 0 ? order < 0 : a < b;
}

}  // namespace

PartProof prove_part(const std::string& path, const RecordShape& shape, const std::string& called) {
  const std::string& name = called.empty() ? path : called;
  const OpenFile file(uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (file.descriptor() < 0) throw Error(fmt::format("{}: cannot read: {}", name, reason(errno)));
  PartProof proof;
  constexpr std::size_t kReadBytes = std::size_t{1} << 20;  // more than a record has
  std::string block(kReadBytes / shape.bytes * shape.bytes, '\0');
  std::uint64_t bytes = 0;
  do {
    bytes = read_up_to(file.descriptor(), name, block.data(), block.size(), proof.records * shape.bytes);
    for (std::string_view rest(block.data(), bytes); !rest.empty(); rest.remove_prefix(shape.bytes)) {
      const std::uint64_t at = proof.records * shape.bytes;
      if (rest.size() < shape.bytes)
        throw Error(fmt::format("{}: byte {}: the part ends within a record", name, at));
      const std::string_view record = rest.substr(0, shape.bytes);
      if (proof.records == 0)
        proof.first = record;
      else if (comes_before(record, proof.last, shape))
        throw Error(fmt::format("{}: byte {}: the record belongs before the one ahead of it", name, at));
      proof.last = record;
      proof.checksum += checksum(record.data(), record.size());
      ++proof.records;
    }
  } while (bytes == block.size());
  return proof;
}

std::string fault_of(const std::vector<PartProof>& parts, const RecordShape& shape, std::uint64_t records,
                     std::uint64_t checksum) {
  const PartProof* before = nullptr;
  std::uint64_t count = 0, sum = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    count += parts[p].records;
    sum += parts[p].checksum;
    if (parts[p].records == 0) continue;
    if (before != nullptr && comes_before(parts[p].first, before->last, shape))
      return fmt::format("part {} begins with a record that belongs before it", p);
    before = &parts[p];
  }
  if (count != records) return fmt::format("the parts hold {} records and the input {}", count, records);
  return sum == checksum ? "" : "the records are not those of the input";
}

std::string pack_proofs(const std::vector<PartProof>& proofs) {
  std::string message;
  for (const PartProof& proof : proofs) {
    message.append(reinterpret_cast<const char*>(&proof.records), sizeof proof.records);
    message.append(reinterpret_cast<const char*>(&proof.checksum), sizeof proof.checksum);
    if (proof.records > 0) message.append(proof.first).append(proof.last);
  }
  return message;
}

std::vector<PartProof> unpack_proofs(const std::string& message, const RecordShape& shape) {
  std::vector<PartProof> proofs;
  std::size_t at = 0;
  const auto take = [&](void* to, std::size_t bytes) {
    if (message.size() - at < bytes) throw Error("a process sent a faulty proof of its parts");
    std::memcpy(to, message.data() + at, bytes);
    at += bytes;
  };
  while (at < message.size()) {
    PartProof& proof = proofs.emplace_back();
    take(&proof.records, sizeof proof.records);
    take(&proof.checksum, sizeof proof.checksum);
    if (proof.records == 0) continue;
    for (std::string* record : {&proof.first, &proof.last}) {
      record->resize(shape.bytes);
      take(record->data(), shape.bytes);
    }
  }
  return proofs;
}

}  // namespace edgewire::shuffle
