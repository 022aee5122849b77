// Local alignment of two sequences by tasks: blocks of the dynamic-programming matrix, in a wavefront.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "edgewire/tasks.h"

namespace edgewire::bench {

/// Returns the letters of the first sequence of a FASTA file, in capitals. Throws Error with file and line.
std::string read_fasta(const std::string& path);

/// A random sequence of A, C, G and T, and a relative of about its length: one letter of ten is another one,
/// and one of fifty is lost or has a new one before it. The same seed gives the same pair.
std::pair<std::string, std::string> related_sequences(std::size_t letters, std::uint64_t seed);

/// Points for equal letters, and costs of others, up to 1000. A gap costs gap_open + its length * gap_extend.
struct Scoring {
  std::int32_t match = 2, mismatch = 3, gap_open = 5, gap_extend = 2;
};
inline constexpr std::size_t kMostLetters = 1'000'000;  ///< of a sequence, so that scores fit 32 bits

/// The best local alignment: its score and where it ends, counted from 1; 0, 0, 0 if nothing is alike. Of
/// equal scores the one that ends first in `a`, then in `b`.
struct Best {
  std::int32_t score = 0;
  std::uint32_t end_a = 0, end_b = 0;
};

struct Alignment {
  std::string a, b;
  Scoring scoring{};
  std::uint32_t rows = 1, columns = 1;  ///< blocks that `a` and `b` are cut into; not more than letters
};

/// Smith and Waterman, "Identification of common molecular subsequences", JMB 1981, with affine gaps by
/// Gotoh, "An improved algorithm for matching biological sequences", JMB 1982. A task for each block; it
/// waits for the blocks to its left, above it, and at its upper left corner. Rows of blocks take turns among
/// the processes. Returns the first task's function; its result is to_bytes(Best).
tasks::FunctionId add_alignment(tasks::Registry& registry, const std::shared_ptr<const Alignment>& alignment);

/// The same by the definition, a letter of `a` at a time. Shares no code with the tasks.
Best align_plainly(std::string_view a, std::string_view b, const Scoring& scoring);

}  // namespace edgewire::bench
