// This file makes options of the command line from their rows (src/options).
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "options/option.h"

namespace edgewire::cli {

/// Returns a check that a number is in a range. "nan" is in no range.
CLI::Validator between(double least, double most);
/// Returns the same check for a whole number.
template <class Integer>
CLI::Validator whole(Integer least, Integer most) {
  return {[least, most](const std::string& text) {
            Integer value{};
            return CLI::detail::lexical_cast(text, value) && value >= least && value <= most
                       ? std::string()
                       : fmt::format("{} is not a whole number from {} to {}", text, least, most);
          },
          ""};
}
/// Returns a check that a value is one of these words. `hint`: returns a hint on another word, or an empty
/// text. The message then suggests the nearest of the words.
CLI::Validator one_of(std::vector<std::string> words,
                      std::function<std::string(const std::string& word)> hint = {});
/// Returns a conversion to bytes of a number and a unit, such as 512M or 4GiB (k, M, G, T, P: powers of
/// 1024). CLI::AsSizeValue takes -1 for a very large number.
CLI::Validator sizes();

/// Returns the names of an option, in the form of CLI11: "-p,--processes".
std::string names_of(const options::Option& row);
/// Gives a new option the help, type and checks of its row, which outlives it. `help`: replaces the help of
/// the row, unless it is empty. `whole`: the option takes whole numbers only.
CLI::Option* describe(CLI::Option* option, const options::Option& row, const std::string& help = {},
                      bool whole = false);
/// Returns the row of an option; null: it has none.
const options::Option* row_of(const CLI::Option* option);
/// Returns the option that other programs call `word`: "--processes" for "-n"; else an empty text.
std::string our_option(const std::string& word);
/// Forgets the options of an earlier command line.
void forget_rows();

/// Whether the numbers of an option are whole ones.
template <class Value>
constexpr bool kAreWhole = std::is_integral_v<Value>;
template <class Value>
constexpr bool kAreWhole<std::optional<Value>> = std::is_integral_v<Value>;
template <class Value>
constexpr bool kAreWhole<std::vector<Value>> = std::is_integral_v<Value>;

/// Adds an option by its row, and returns it. Help shows the default, unless it is out of the option's range.
template <class Value>
CLI::Option* add(CLI::App& command, const options::Option& row, Value& value, const std::string& help = {}) {
  CLI::Option* const option = describe(command.add_option(names_of(row), value), row, help, kAreWhole<Value>);
  if constexpr (std::is_arithmetic_v<Value>) {
    if (!row.has_range() || row.is_in_range(static_cast<double>(value))) option->capture_default_str();
  } else if constexpr (std::is_same_v<Value, std::string>) {
    option->capture_default_str();
  }
  return option;
}
/// Adds a flag in the same way; or, where the row has two words, an option, whose first word is the default.
CLI::Option* add(CLI::App& command, const options::Option& row, bool& value, const std::string& help = {});
/// Adds an option whose words stand for `meanings`, in the order of the row. `value` is one of them.
template <class Value>
CLI::Option* add_choice(CLI::App& command, const options::Option& row, Value& value,
                        const std::vector<Value>& meanings, const std::string& help = {}) {
  const auto words = options::split_words(row.words);
  const auto set = [&value, words, meanings](const std::string& word) {
    value = meanings.at(static_cast<std::size_t>(std::ranges::find(words, word) - words.begin()));
  };
  const auto usual = std::ranges::find(meanings, value) - meanings.begin();
  return describe(command.add_option_function<std::string>(names_of(row), set), row, help)
      ->default_str(words.at(static_cast<std::size_t>(usual)));
}
/// Adds an option whose words stand for the values of an enumeration, in the order of the row.
template <class Enum>
requires std::is_enum_v<Enum> CLI::Option* add_choice(CLI::App& command, const options::Option& row,
                                                      Enum& value, const std::string& help = {}) {
  std::vector<Enum> meanings;
  for (std::size_t i = 0; i < options::split_words(row.words).size(); ++i)
    meanings.push_back(static_cast<Enum>(i));
  return add_choice(command, row, value, meanings, help);
}
/// Adds an option whose value is a line rate in bit/s: "1G".
CLI::Option* add_rate(CLI::App& command, const options::Option& row, std::uint64_t& bits_per_s,
                      const std::string& help = {});

}  // namespace edgewire::cli
