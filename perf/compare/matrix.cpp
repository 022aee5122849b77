// This file sets strategies beside ownerships: it takes the rows of a comparison that only these tell apart.
#include "perf/compare/matrix.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/units.h"

namespace edgewire::perf {

namespace {

std::string cell_text(const CompareRow& row) {
  return fmt::format("{}, {}, {:.0f} %", readable_seconds(row.seconds.median),
                     readable_bytes(row.payload_bytes), row.fraction_of_limit() * 100);
}

}  // namespace

std::size_t index_in(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  const auto index = static_cast<std::size_t>(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return index;
}

std::string Beside::name() const { return like.processes_words() + ", " + like.link.name(); }

report::BarChart::Bar bar_of(const CompareRow& row, std::size_t series, bool has_bounds, std::string title) {
  const Spread& time = row.seconds;
  return {series,
          time.median,
          time.min,
          time.max,
          has_bounds ? row.bound_seconds : -1,
          readable_seconds(time.median),
          std::move(title)};
}

std::vector<Beside> side_by_side(const Comparison& comparison) {
  std::vector<Beside> all;
  if (!comparison.dense()) return all;
  for (const CompareRow& row : comparison.rows) {
    const Cell& cell = row.cell;
    if (cell.processes == 1) continue;
    auto one = std::ranges::find_if(all, [&](const Beside& other) {
      return other.like.has_processes_of(cell) && other.like.transport == cell.transport &&
             other.like.link.name() == cell.link.name();
    });
    if (one == all.end()) one = all.insert(one, Beside{cell});
    const std::size_t o = index_in(one->chart.series, cell.ownership);
    const std::size_t s = index_in(one->strategies, cell.strategy_name());
    one->table.rows.resize(one->strategies.size(), {cell.strategy_name()});
    one->chart.groups.resize(one->strategies.size(), {cell.strategy_name(), {}});
    for (auto& line : one->table.rows) line.resize(one->chart.series.size() + 1, "-");
    std::string& text = one->table.rows[s][o + 1];
    if (text != "-") continue;  // "auto" may have taken what has a row already
    text = cell_text(row);
    one->chart.groups[s].bars.push_back(bar_of(row, o, true, cell.name() + ": " + text));
  }
  std::erase_if(all, [](const Beside& one) { return one.chart.series.size() < 2; });
  for (Beside& one : all) {
    one.table.header.insert(one.table.header.end(), one.chart.series.begin(), one.chart.series.end());
    one.chart.title = fmt::format("An iteration over {}", one.like.link.rate);
    one.chart.mark_name = "what the wire needs at least";
  }
  return all;
}

}  // namespace edgewire::perf
