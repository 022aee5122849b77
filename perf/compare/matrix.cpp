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

std::vector<Beside> side_by_side(const Comparison& comparison) {
  std::vector<Beside> tables;
  if (!comparison.dense()) return tables;
  for (const CompareRow& row : comparison.rows) {
    if (row.cell.processes == 1) continue;
    auto table = std::ranges::find_if(tables, [&](const Beside& one) {
      return one.like.has_processes_of(row.cell) && one.like.transport == row.cell.transport &&
             one.like.link.rate == row.cell.link.rate && one.like.link.interface == row.cell.link.interface;
    });
    if (table == tables.end()) table = tables.insert(table, Beside{row.cell, {}, {}, {}});
    const std::size_t o = index_in(table->ownerships, row.cell.ownership);
    const std::size_t s = index_in(table->strategies, row.cell.strategy_name());
    table->rows.resize(table->strategies.size());
    for (auto& line : table->rows) line.resize(table->ownerships.size());
    if (table->rows[s][o] == nullptr)
      table->rows[s][o] = &row;  // "auto" may have taken what has a row already
  }
  std::erase_if(tables, [](const Beside& one) { return one.ownerships.size() < 2; });
  return tables;
}

report::Table to_table(const Beside& beside) {
  report::Table table;
  table.header = {"strategy"};
  table.header.insert(table.header.end(), beside.ownerships.begin(), beside.ownerships.end());
  for (std::size_t s = 0; s < beside.strategies.size(); ++s) {
    auto& line = table.rows.emplace_back(std::vector{beside.strategies[s]});
    for (const CompareRow* row : beside.rows[s]) line.push_back(row == nullptr ? "-" : cell_text(*row));
  }
  return table;
}

std::string to_chart(const Beside& beside) {
  report::BarChart chart;
  chart.title = fmt::format("An iteration over {}", beside.like.link.rate);
  chart.series = beside.ownerships;
  chart.mark_name = "what the wire needs at least";
  for (std::size_t s = 0; s < beside.strategies.size(); ++s) {
    auto& group = chart.groups.emplace_back(report::BarChart::Group{beside.strategies[s], {}});
    for (std::size_t o = 0; o < beside.ownerships.size(); ++o) {
      const CompareRow* row = beside.rows[s][o];
      if (row == nullptr) continue;
      const Spread& time = row->seconds;
      group.bars.push_back({o, time.median, time.min, time.max, row->bound_seconds,
                            readable_seconds(time.median), row->cell.name() + ": " + cell_text(*row)});
    }
  }
  return to_figure(chart);
}

std::string to_text(const Beside& beside) {
  return fmt::format("{}\n{}\n", beside.name(), report::to_text(to_table(beside)));
}

}  // namespace edgewire::perf
