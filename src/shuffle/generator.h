#pragma once

#include <cstdint>
#include <string>

namespace edgewire::shuffle {

enum class RecordOrder { random, sorted, reversed };

/// Records for tests of sorting: a key of 8 letters and digits, which is one of `keys`, then the
/// record's number in 20 digits, then letters; a line end is the last byte.
struct RecordsWanted {
  std::uint64_t records = 0;
  std::size_t record_bytes = 100;  ///< bytes of a record, at least 32
  std::uint64_t keys = 65536;      ///< number of different keys
  RecordOrder order = RecordOrder::random;
  std::uint64_t seed = 1;
  std::uint32_t files = 1;
};

/// Writes "records-00000" and so on to `folder`, which is made where it is not there. The same seed gives the
/// same records. Throws Error that names the file.
void generate_records(const std::string& folder, const RecordsWanted& wanted);

}  // namespace edgewire::shuffle
