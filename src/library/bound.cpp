#include "edgewire/bound.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "base/units.h"
#include "bounds/bound.h"
#include "options/kernels.h"
#include "options/measures.h"
#include "report/html.h"

namespace edgewire {

namespace {

bounds::BoundOptions asked(const BoundOptions& options) {
  bounds::BoundOptions asked;
  asked.processes = options.processes;
  std::ranges::sort(asked.processes);
  asked.workers = options.workers;
  asked.ownerships = options.ownerships;
  bounds::check_ownerships(asked.ownerships, asked.processes, false);
  for (const Strategy one : options.strategies)
    asked.strategies.push_back(plan::strategy_from(word_of(opt::strategy, one)));
  if (options.wires.empty()) throw UsageError("wires: there are none");
  asked.encodings = options.wires;
  for (const std::string& rate : options.rates) asked.rates.emplace_back(rate, plan::line_rate_bits(rate));
  check_range(opt::threads, options.threads);
  asked.threads = workers_or_default(options.threads);
  asked.memory_bytes = options.memory_bytes;
  return asked;
}

/// Returns the bars of a chart for the row: one group for each number of processes and ownership.
std::vector<report::BarChart::Bar>& bars_of(report::BarChart& chart, const BoundRow& row) {
  const std::string label = fmt::format("{} processes, {}", row.processes, row.ownership);
  if (chart.groups.empty() || chart.groups.back().label != label) chart.groups.push_back({label, {}});
  return chart.groups.back().bars;
}

/// Returns the index of the row's strategy and wire among the series.
std::size_t series_of(report::BarChart& chart, const BoundRow& row) {
  std::string name = word_of(opt::strategy, row.strategy);
  if (row.wire != Wire::f32) name += " " + word_of(opt::any_wire, row.wire);
  std::size_t i = 0;
  while (i < chart.series.size() && chart.series[i] != name) ++i;
  if (i == chart.series.size()) chart.series.push_back(name);
  return i;
}

std::string bytes_chart(const Bound& bound) {
  report::BarChart chart;
  chart.title = "Sent in an iteration, all processes together";
  chart.mark_name = "with all headers";
  for (const BoundRow& row : bound.rows) {
    const auto payload = static_cast<double>(row.payload_bytes), wire = static_cast<double>(row.wire_bytes);
    bars_of(chart, row)
        .push_back({series_of(chart, row), payload, payload, payload, wire, readable_bytes(row.payload_bytes),
                    fmt::format("{}, with all headers {}", readable_bytes(row.payload_bytes),
                                readable_bytes(row.wire_bytes))});
  }
  return to_figure(chart);
}

std::string seconds_chart(const Bound& bound, std::size_t rate, const std::string& name) {
  report::BarChart chart;
  chart.title = fmt::format("Time of the most loaded link at {}", name);
  for (const BoundRow& row : bound.rows) {
    const double seconds = row.seconds_at[rate];
    const std::string text = readable_seconds(seconds);
    bars_of(chart, row).push_back({series_of(chart, row), seconds, seconds, seconds, -1, text, text});
  }
  return to_figure(chart);
}

/// Returns a page with charts of these rows. `rates`: as they were asked for. `name`: the graph's name.
std::string bound_page(const std::string& name, const Bound& bound, const std::vector<std::string>& rates) {
  report::Page page("What must cross the wire", name);
  std::vector<std::string> figures{bytes_chart(bound)};
  for (std::size_t rate = 0; rate < rates.size(); ++rate)
    figures.push_back(seconds_chart(bound, rate, rates[rate]));
  page.figures(figures);
  return page.html();
}

}  // namespace

Bound bound(const Graph& graph, const BoundOptions& options) {
  const auto how = asked(options);
  bounds::check(how);
  graph.expect_all_rows();
  graph.verify_rows(0, graph.vertices());
  const auto counted = bounds::compute_bound({graph.offsets(), graph.targets()}, how, options.progress);
  Bound bound;
  for (const auto& row : counted.rows) {
    if (!plan::go_together(row.strategy, row.encoding)) continue;
    bound.rows.push_back({row.processes, row.ownership,
                          meant_by<Strategy>(opt::strategy, plan::to_name(row.strategy)), row.encoding,
                          row.volume.values_sent_total, row.volume.payload_bytes_total,
                          row.volume.wire_bytes_total[how.framing], row.seconds_at});
  }
  bound.text = bounds::to_text(counted, how);
  bound.json = bounds::to_json(counted, how);
  bound.page = bound_page(graph.path(), bound, options.rates);
  return bound;
}

}  // namespace edgewire
