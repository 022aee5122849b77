// This file has the one way from structs to JSON, and from JSON to text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

namespace edgewire::report {

using Json = nlohmann::ordered_json;

/// Returns JSON as text: lines that are `indent` deep, or one line for -1. Bytes that are no UTF-8, as in
/// paths become U+FFFD: JSON has no others.
template <class AnyJson>
std::string json_text(const AnyJson& json, int indent = -1) {
  return json.dump(indent, ' ', false, AnyJson::error_handler_t::replace);
}

/// Adds a field to an object. Enumerations have their to_name(). An empty std::optional adds nothing.
template <class Value>
void add_field(Json& json, const std::string& name, const Value& value) {
  if constexpr (requires { value.has_value(); }) {
    if (value) add_field(json, name, *value);
  } else if constexpr (requires { value.valueless_by_exception(); }) {
    std::visit([&](const auto& one) { json[name] = one; }, value);
  } else if constexpr (requires { to_name(value); }) {
    json[name] = to_name(value);
  } else {
    json[name] = value;
  }
}

}  // namespace edgewire::report

#define EDGEWIRE_ADD_FIELD(member) edgewire::report::add_field(fields_json, #member, fields_from.member);
/// Adds fields to a JSON object: members of the struct `from`, under their own names and in this order.
#define EDGEWIRE_ADD_FIELDS(json, from, ...)                                   \
  do {                                                                         \
    auto& fields_json = (json);                                                \
    const auto& fields_from = (from);                                          \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(EDGEWIRE_ADD_FIELD, __VA_ARGS__)) \
  } while (false)
/// Defines to_json() for a struct of which all these members are fields. NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE
/// does not know ordered JSON before version 3.12, nor optional members.
#define EDGEWIRE_JSON_OF(Type, ...)                                                      \
  [[maybe_unused]] inline void to_json(edgewire::report::Json& json, const Type& from) { \
    EDGEWIRE_ADD_FIELDS(json, from, __VA_ARGS__);                                        \
  }
