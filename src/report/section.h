#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace edgewire::report {

/// A part of a report that another folder measures, in a form for programs and one for people.
struct Section {
  virtual ~Section() = default;
  virtual nlohmann::ordered_json to_json() const = 0;
  /// Returns lines, which end with a newline.
  virtual std::string to_text() const = 0;
};

}  // namespace edgewire::report
