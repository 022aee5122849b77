// The one way from JSON to text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace edgewire::report {

/// JSON as text: lines that are `indent` deep, or one line for -1. Bytes that are no UTF-8, as paths may hold
/// them, become U+FFFD: JSON has no others.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace edgewire::report
