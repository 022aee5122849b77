#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "perf/compare/compare.h"
#include "perf/compare/matrix.h"
#include "report/html.h"

namespace edgewire::perf {

namespace {

/// The rows that differ in ownership, strategy and link only.
using Setting = std::vector<const CompareRow*>;

std::vector<Setting> settings_of(const Comparison& comparison) {
  std::vector<Setting> settings;
  std::vector<std::string> names;
  for (const CompareRow& row : comparison.rows) {
    if (row.cell.processes == 1) continue;
    const std::size_t s = index_in(names, row.cell.processes_words());
    settings.resize(names.size());
    settings[s].push_back(&row);
  }
  return settings;
}

report::BarChart::Group& group_of(report::BarChart& chart, const CompareRow& row) {
  const std::string label = row.cell.label();
  if (chart.groups.empty() || chart.groups.back().label != label) chart.groups.push_back({label, {}});
  return chart.groups.back();
}

std::string times(const Comparison& comparison, const Setting& setting) {
  report::BarChart chart;
  chart.title = comparison.dense() ? "Time of an iteration" : "Time of the kernel";
  if (comparison.has_bounds) chart.mark_name = "what the wire needs at least";
  for (const CompareRow* row : setting) {
    const auto& time = row->seconds;
    std::string told = fmt::format("{}: {} ({} to {})", row->cell.name(), readable_seconds(time.median),
                                   readable_seconds(time.min), readable_seconds(time.max));
    if (comparison.has_bounds) told += fmt::format(", wire limit {}", readable_seconds(row->bound_seconds));
    group_of(chart, *row)
        .bars.push_back(
            bar_of(*row, index_in(chart.series, row->cell.link.name()), comparison.has_bounds, told));
  }
  return to_figure(chart);
}

std::string bytes(const Comparison& comparison, const Setting& setting) {
  report::BarChart chart;
  chart.title =
      fmt::format("Sent in {}, all processes together", comparison.dense() ? "an iteration" : "a run");
  chart.series = {comparison.dense() ? "values and ids" : "records"};
  chart.mark_name = "with all headers";
  for (const CompareRow* row : setting) {
    auto& bars = group_of(chart, *row).bars;
    if (!bars.empty()) continue;  // the same over each link
    const auto payload = static_cast<double>(row->payload_bytes), wire = static_cast<double>(row->wire_bytes);
    bars.push_back({0, payload, payload, payload, wire, readable_bytes(row->payload_bytes),
                    fmt::format("{}, with all headers {}", readable_bytes(row->payload_bytes),
                                readable_bytes(row->wire_bytes))});
  }
  return to_figure(chart);
}

std::string crossover(const Setting& setting) {
  report::LineChart chart;
  chart.title = "Where the link stops to matter";
  chart.x_label = "line rate, Gbit/s";
  chart.y_label = "ms per iteration";
  chart.first_colour = 2;
  chart.dots_name = "measured (lines: predicted)";
  double slowest = INFINITY, fastest = 0;
  for (const CompareRow* row : setting) {
    slowest = std::min(slowest, static_cast<double>(row->cell.link.bits_per_s));
    fastest = std::max(fastest, static_cast<double>(row->cell.link.bits_per_s));
  }
  for (const CompareRow* row : setting) {
    const std::string name = row->cell.label();
    const auto rate = static_cast<double>(row->cell.link.bits_per_s);
    if (chart.series.empty() || chart.series.back().name != name) {
      chart.series.push_back({name, {}, {}});
      for (int step = 0; step <= 60; ++step) {
        const double bits = slowest / 4 * std::pow(16 * fastest / slowest, step / 60.0);
        bounds::Rates rates = row->rates;
        rates.line_bits_per_s = bits;
        const double seconds = bounds::predict(row->demand, rates).seconds;
        if (seconds > 0) chart.series.back().line.emplace_back(bits / 1e9, seconds * 1e3);
      }
    }
    const double measured = row->seconds.median;
    if (measured > 0) chart.series.back().dots.emplace_back(rate / 1e9, measured * 1e3);
  }
  return to_figure(chart);
}

}  // namespace

std::string to_html(const Comparison& comparison) {
  std::vector<std::string> links;
  for (const CompareRow& row : comparison.rows)
    if (row.cell.processes > 1) index_in(links, row.cell.link.name());
  report::Page page(
      fmt::format("{}: {}", comparison.kernel == "pagerank" ? "PageRank" : comparison.kernel_words(),
                  fmt::join(links, " against ")),
      summary(comparison));
  for (const auto& line : headlines(comparison)) page.highlight(line);
  for (const Setting& setting : settings_of(comparison)) {
    page.heading(setting.front()->cell.processes_words());
    std::vector<std::string> figures{times(comparison, setting)};
    if (comparison.dense()) figures.push_back(crossover(setting));
    figures.push_back(bytes(comparison, setting));
    page.figures(figures);
  }
  if (const auto tables = side_by_side(comparison); !tables.empty()) {
    page.heading("Ownerships side by side");
    page.paragraph(fmt::format("{}.", kCellsSay));
    for (const Beside& one : tables) {
      page.heading(one.name());
      page.table(one.table);
      page.figures({to_figure(one.chart)});
    }
  }
  page.heading("All runs");
  page.table(to_table(comparison));
  if (comparison.dense())
    page.paragraph(fmt::format(
        "Predicted: the longer one of what the wire needs and of computing{}. Median error, without signs: "
        "{:.1f} %.",
        comparison.local_hosts ? ", which is measured without a link; where processes take turns on the "
                                 "cores, also a part of the shorter one"
                               : ", at the rate of one process alone",
        comparison.median_prediction_error() * 100));
  else
    page.paragraph(kNoPrediction);
  page.heading("How it was measured");
  page.list(comparison.notes);
  return page.html();
}

}  // namespace edgewire::perf
