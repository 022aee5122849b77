// This file writes a profile as a page for people.
#include <fmt/core.h>

#include <algorithm>
#include <sstream>

#include "profile/profile.h"
#include "profile/profile_charts.h"
#include "report/html.h"

namespace edgewire::profile {

namespace {

constexpr std::size_t kMostFigures = 8;  // most processes of which there are charts

double ms(double ns) { return ns * 1e-6; }

void add_verdict(report::Page& page, const Verdict& verdict) {
  std::istringstream lines(verdict.to_text());
  std::vector<std::string> others;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("limit:"))
      page.highlight(line);
    else
      others.push_back(line);
  }
  if (!others.empty()) page.list(others);
}

report::Table phases(const Profile& profile) {
  report::Table table;
  table.header = {
      "rank", "compute ms", "send ms", "wait ms", "apply ms", "slowest worker ms", profile.words.items + " M",
      "CPU %"};
  for (std::size_t p = 0; p < profile.processes.size(); ++p) {
    const auto& load = profile.load.processes[p];
    auto& row = table.rows.emplace_back();
    row.push_back(fmt::format("{}", p));
    for (std::size_t phase = 0; phase < topology::kPhases; ++phase)
      row.push_back(fmt::format("{:.4g}", 1e3 * mean_seconds(profile.processes[p], phase)));
    row.push_back(fmt::format("{:.4g}", 1e3 * load.slowest_worker_s));
    row.push_back(fmt::format("{:.2f}", load.items / 1e6));
    row.push_back(fmt::format("{:.0f}", 100 * load.cpu_share));
  }
  return table;
}

/// Returns a table with a row for each process and a column for each process.
template <class Cell>
report::Table matrix(const Profile& profile, const std::string& corner, const Cell& cell) {
  report::Table table;
  table.header = {corner};
  for (std::size_t q = 0; q < profile.processes.size(); ++q) table.header.push_back(fmt::format("{}", q));
  for (std::size_t p = 0; p < profile.processes.size(); ++p) {
    auto& row = table.rows.emplace_back();
    row.push_back(fmt::format("{}", p));
    for (std::size_t q = 0; q < profile.processes.size(); ++q)
      row.push_back(cell(profile.processes[p], p, q));
  }
  return table;
}

std::string imbalance(const Profile& profile) {
  report::BarChart chart;
  chart.title = "Work of " + profile.words.a_step();
  chart.series = {"mean of its workers", "its slowest worker"};
  for (std::size_t p = 0; p < profile.load.processes.size() && p < 2 * kMostFigures; ++p) {
    const auto& load = profile.load.processes[p];
    const auto bar = [](std::size_t series, double seconds) {
      const double value = 1e3 * seconds;
      return report::BarChart::Bar{series, value, value, value, -1, fmt::format("{:.3g} ms", value), {}};
    };
    chart.groups.push_back({fmt::format("rank {}", p), {bar(0, load.work_s), bar(1, load.slowest_worker_s)}});
  }
  return to_figure(chart);
}

}  // namespace

std::string Profile::to_html(const std::string& title, const std::string& subtitle) const {
  report::Page page(title, subtitle);
  page.heading("What limited the run");
  add_verdict(page, verdict);
  page.paragraph(counters_line());
  if (balance) {
    page.heading("Disk, wire and cores");
    page.paragraph(balance->to_line());
    page.table(balance->to_table());
    page.paragraph(fmt::format("{}.", Balance::kTableSays));
    page.figures({balance_figure(*balance)});
  }
  page.heading("Where the time went");
  page.table(phases(*this));
  const std::string step = words.a_step();
  page.paragraph(fmt::format(
      "Of {} and worker. Wait is for peers, for room in a full queue, for a disk, or for own workers.",
      step));
  std::vector<std::string> figures{phases_figure(*this), imbalance(*this)};
  const std::size_t shown = std::min(processes.size(), kMostFigures);
  for (std::size_t p = 0; p < shown; ++p) figures.push_back(iterations_figure(*this, p));
  page.figures(figures);
  const auto per_iteration = static_cast<double>(std::max<std::uint64_t>(iterations, 1));
  if (processes.size() > 1) {
    page.heading("Between processes");
    page.paragraph(fmt::format("Bytes on the wire in {}, from the row's rank to the column's:", step));
    page.table(matrix(*this, "from \\ to", [&](const ProcessProfile& from, std::size_t, std::size_t to) {
      return fmt::format("{:.0f}", static_cast<double>(from.wire_bytes_to[to]) / per_iteration);
    }));
    page.paragraph(fmt::format(
        "Milliseconds that a worker of the row's rank waits in {} for the column's (on the diagonal: for its "
        "own workers):",
        step));
    page.table(matrix(*this, "who \\ for", [&](const ProcessProfile& who, std::size_t, std::size_t whom) {
      return fmt::format("{:.3f}",
                         ms(static_cast<double>(who.waited_ns[whom])) / who.facts.workers / per_iteration);
    }));
  }
  figures.clear();
  for (std::size_t p = 0; p < shown; ++p) {
    for (const auto& [unit, what] : {std::pair{"cores", "CPU"},
                                     {"workers waiting", "Waits"},
                                     {"chunks/s", "Chunks"},
                                     {"chunks", "Chunks"},
                                     {"Gbit/s", "Network"},
                                     {"packets/s", "RDMA"},
                                     {"MB", "Memory"},
                                     {"MB/s", "Disks"}})
      if (auto figure = samples_figure(*this, p, unit, what); !figure.empty())
        figures.push_back(std::move(figure));
  }
  if (!figures.empty()) {
    page.heading("The machines meanwhile");
    page.figures(figures);
  }
  return page.html();
}

}  // namespace edgewire::profile
