// This file sets strategies beside ownerships: it takes the rows of a comparison that only these tell apart.
#pragma once

#include <string>
#include <vector>

#include "perf/compare/compare.h"
#include "report/html.h"

namespace edgewire::perf {

/// Returns the index of a name in a list, which it joins when it is new.
std::size_t index_in(std::vector<std::string>& names, const std::string& name);

/// The rows with the same processes, workers, transport and link.
struct Beside {
  Cell like;                              ///< one of these rows
  std::vector<std::string> strategies{};  ///< [row of the table, group of the chart]
  report::Table table{{"strategy"}};      ///< a line for each strategy and a column for each ownership
  report::BarChart chart{};               ///< the times, and what the wire needs

  /// Returns a text such as "2 processes x 1 worker, tcp, 1G".
  std::string name() const;
};

/// Returns the rows of a dense kernel with several ownerships side by side; else an empty list.
std::vector<Beside> side_by_side(const Comparison& comparison);

/// Tells readers which figures a cell of the tables has.
inline constexpr const char* kCellsSay =
    "In a cell: time of an iteration, payload of all processes together, how much of that time the link "
    "needs at least";
/// Returns a table for people, with a line for each row of a comparison.
report::Table to_table(const Comparison& comparison);
/// Returns the bar of the time of a row. `title`: what is shown on touch.
report::BarChart::Bar bar_of(const CompareRow& row, std::size_t series, bool has_bounds, std::string title);
/// Returns what is compared, and how often it was run: a line.
std::string summary(const Comparison& comparison);

}  // namespace edgewire::perf
