// Finds the word that somebody meant who has mistyped it.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace edgewire {

/// Characters to insert, delete, replace or swap with their neighbour (optimal string alignment).
inline std::size_t typing_errors(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

/// Returns the candidate that `given` was probably meant to be: the only one that it begins, in any case of
/// letters, or the one with the fewest typing errors, if they are few; empty if none is near.
inline std::string nearest(const std::string& given, std::span<const std::string> candidates) {
  std::string word = given;
  for (char& letter : word) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));

  const auto begins = [&](const std::string& one) { return word.size() >= 3 && one.starts_with(word); };
  if (word.size() >= 3 && std::ranges::count_if(candidates, begins) == 1 && !word.ends_with('-'))
    return *std::ranges::find_if(candidates, begins);
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& one : candidates) {
    if (const std::size_t errors = typing_errors(word, one); errors < least) {
      least = errors;
      best = one;
    }
  }
  return best;
}

}  // namespace edgewire
