#pragma once

#include <string_view>

namespace edgewire {

/// Without the blanks, tabs and carriage returns at both ends. Of nothing but these the empty text at the
/// end, so that messages can say where it is.
inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return text.substr(text.size());
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

}  // namespace edgewire
