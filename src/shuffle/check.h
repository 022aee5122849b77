// Proof that parts are the sorted input, as valsort gives it: they are in order, and nothing was lost, added
// or changed. Shares no code with the sort.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shuffle/record.h"

namespace edgewire::shuffle {

/// The proof of a part: its content when it was read.
struct PartProof {
  std::uint64_t records = 0;
  std::uint64_t checksum = 0;  ///< sum of the XXH3 of each record
  std::string first, last;     ///< first and last record
};

/// Reads a part. Throws Error where a record belongs before another: it names the byte, and the file as it is
/// `called` or by its path.
PartProof prove_part(const std::string& path, const RecordShape& shape, const std::string& called = {});
/// Returns the fault of these parts, in their order: "" when they are sorted `records` with this checksum.
std::string fault_of(const std::vector<PartProof>& parts, const RecordShape& shape, std::uint64_t records,
                     std::uint64_t checksum);

/// These functions make messages of proofs for the control plane, and proofs of such messages.
std::string pack_proofs(const std::vector<PartProof>& proofs);
std::vector<PartProof> unpack_proofs(const std::string& message, const RecordShape& shape);

}  // namespace edgewire::shuffle
