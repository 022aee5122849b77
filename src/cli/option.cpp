#include "cli/option.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "base/nearest.h"
#include "base/units.h"
#include "cli/suggest.h"
#include "dense/plan/volume.h"

namespace edgewire::cli {

namespace {

std::map<const CLI::Option*, const options::Option*> rows;  // rows of the options of the one command line

}  // namespace

CLI::Validator between(double least, double most) {
  return {[least, most](std::string& text) {
            double value = 0;
            const bool is_number = CLI::detail::lexical_cast(text, value);
            return is_number && value >= least && value <= most
                       ? std::string()
                       : fmt::format("{} is not a number from {} to {}", text, least, most);
          },
          fmt::format("{} to {}", least, most)};
}

CLI::Validator one_of(std::vector<std::string> words,
                      std::function<std::string(const std::string& word)> hint) {
  const std::string description = fmt::format("{{{}}}", fmt::join(words, ","));
  return {[words = std::move(words), hint = std::move(hint)](const std::string& word) {
            if (std::ranges::find(words, word) != words.end()) return std::string();
            std::string meant = hint ? hint(word) : "";
            if (meant.empty()) meant = did_you_mean(nearest(word, words));
            return fmt::format("{} is not one of {}{}", word, list_of(words),
                               meant.empty() ? "" : "; " + meant);
          },
          description};
}

CLI::Validator sizes() {
  return {[](std::string& text) {
            constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;
            constexpr std::string_view kUnits = "kmgtp";
            const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
            std::uint64_t bytes = 0;
            const bool is_number =
                std::from_chars(text.data(), text.data() + digits, bytes).ec == std::errc{};
            std::string unit = CLI::detail::to_lower(text.substr(digits));
            std::size_t power = unit.empty() ? kUnits.npos : kUnits.find(unit[0]);
            power = power == kUnits.npos ? 0 : power + 1;
            if (power > 0) unit.erase(0, 1);
            const bool is_unit = unit.empty() || unit == "b" || (power > 0 && (unit == "i" || unit == "ib"));
            if (!is_number || !is_unit || bytes > kMostBytes >> 10 * power)
              return fmt::format("{} is not a number of bytes up to 1024P, such as 512M or 4G", text);
            text = std::to_string(bytes << 10 * power);
            return std::string();
          },
          ""};
}

std::string names_of(const options::Option& row) {
  return row.letter == 0 ? fmt::format("--{}", row.name) : fmt::format("-{},--{}", row.letter, row.name);
}

CLI::Option* describe(CLI::Option* option, const options::Option& row, const std::string& help, bool whole) {
  rows[option] = &row;
  option->description(help.empty() ? std::string(row.help) : help);
  if (!row.value_name.empty()) option->type_name(std::string(row.value_name));
  if (row.bytes) option->transform(sizes());
  if (!row.words.empty()) option->check(one_of(options::split_words(row.words)));
  if (row.has_range() && whole)
    option->check(cli::whole(static_cast<std::int64_t>(row.least), static_cast<std::int64_t>(row.most)));
  if (row.has_range() && !whole) option->check(between(row.least, row.most));
  return option;
}

const options::Option* row_of(const CLI::Option* option) {
  const auto found = rows.find(option);
  return found == rows.end() ? nullptr : found->second;
}

std::string our_option(const std::string& word) {
  if (word == "-V" || word == "-v") return "--version";
  const auto found = std::ranges::find_if(
      rows, [&](const auto& one) { return options::has_word(one.second->other_names, word); });
  return found == rows.end() ? std::string() : fmt::format("--{}", found->second->name);
}

void forget_rows() { rows.clear(); }

CLI::Option* add(CLI::App& command, const options::Option& row, bool& value, const std::string& help) {
  if (row.words.empty()) return describe(command.add_flag(names_of(row), value), row, help);
  const auto words = options::split_words(row.words);
  const auto set = [&value, usual = value, first = words[0]](const std::string& word) {
    value = (word == first) == usual;
  };
  return describe(command.add_option_function<std::string>(names_of(row), set), row, help)
      ->default_str(words[0]);
}

CLI::Option* add_rate(CLI::App& command, const options::Option& row, std::uint64_t& bits_per_s,
                      const std::string& help) {
  const auto set = [&bits_per_s](const std::string& text) { bits_per_s = plan::line_rate_bits(text); };
  return describe(command.add_option_function<std::string>(names_of(row), set), row, help);
}

}  // namespace edgewire::cli
