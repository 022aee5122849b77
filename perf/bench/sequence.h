#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace edgewire::bench {

/// The letters of the first sequence of a FASTA file, in capitals. Throws Error that names the file and the
/// line.
std::string read_fasta(const std::string& path);

/// A random sequence of A, C, G and T, and a relative of about its length: one letter of ten is another one,
/// and one of fifty is lost or has a new one before it. The same seed gives the same pair.
std::pair<std::string, std::string> related_sequences(std::size_t letters, std::uint64_t seed);

}  // namespace edgewire::bench
