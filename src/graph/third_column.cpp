#include "graph/third_column.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>
#include <vector>

namespace edgewire::graph {

namespace {

bool is_one_of(std::string_view name, std::span<const std::string_view> words) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::find(words.begin(), words.end(), lower) != words.end();
}

/// The words of a line, without quotes.
std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBetween = " \t\r,;|\"'";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(kBetween); at < line.size();) {
    const std::size_t end = std::min(line.find_first_of(kBetween, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBetween, end);
  }
  return words;
}

}  // namespace

bool is_end_name(std::string_view name) {
  constexpr std::array<std::string_view, 26> kNames = {
      "source",     "target",   "src",         "dst",      "dest",      "from",      "to",
      "fromnodeid", "tonodeid", "destination", "sourceid", "source_id", "target_id", "targetid",
      "from_id",    "to_id",    "node1",       "node2",    "u",         "v",         "i",
      "j",          "id1",      "id2",         "node_1",   "node_2"};
  return is_one_of(name, kNames);
}

WeightColumn third_column(std::string_view comments) {
  constexpr std::array<std::string_view, 2> kWeights = {"weight", "weights"};
  constexpr std::array<std::string_view, 9> kTimes = {"time",       "times",    "date",   "ts",   "timestamp",
                                                      "timestamps", "datetime", "unixts", "epoch"};
  WeightColumn column = WeightColumn::guessed;
  while (!comments.empty()) {
    const std::size_t end = std::min(comments.find('\n'), comments.size());
    std::string_view line = comments.substr(0, end);
    comments.remove_prefix(std::min(end + 1, comments.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t#%/"), line.size()));
    const auto words = words_of(line);
    if (words.size() != 3 || !is_end_name(words[0]) || !is_end_name(words[1])) continue;
    if (is_one_of(words[2], kWeights)) column = WeightColumn::named;
    if (is_one_of(words[2], kTimes)) column = WeightColumn::time;
  }
  return column;
}

}  // namespace edgewire::graph
