// This file writes a profile as a page for people. Charts are `<figure>`s for report::Page.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/units.h"
#include "options/jobs.h"
#include "profile/profile.h"
#include "report/drawing.h"
#include "report/html.h"

namespace edgewire::profile {

namespace {

using report::Drawing;
using report::Points;

constexpr double kLeft = Drawing::kLeft, kRight = Drawing::kRight, kTop = Drawing::kTop;
/// The classes of the page's style; waiting stands out.
constexpr const char* kPhaseStyle[topology::kPhases] = {"s0", "s2", "s1", "s4"};

/// Returns a round number that is not less, and whose half is round, too.
double round_up(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double digit : {1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0})
    if (digit * power >= value) return digit * power;
  return 10 * power;
}

double ms(std::uint64_t ns) { return static_cast<double>(ns) * 1e-6; }

void phase_legend(Drawing& figure) {
  for (std::size_t p = 0; p < topology::kPhases; ++p) figure.legend(kPhaseStyle[p], topology::kPhaseNames[p]);
}

std::string describe(const Profile& profile, const Span& span, std::size_t rank) {
  const char* name = topology::kPhaseNames[static_cast<std::size_t>(span.phase)];
  std::string text = fmt::format("{} {}", name, readable_seconds(seconds(span.end_ns - span.begin_ns)));
  if (span.phase == topology::Phase::wait && span.peer >= 0)
    text += static_cast<std::size_t>(span.peer) == rank ? " for own workers"
                                                        : fmt::format(" for rank {}", span.peer);
  if (span.phase == topology::Phase::send && span.peer >= 0) text += fmt::format(" to rank {}", span.peer);
  if (span.phase == topology::Phase::compute && profile.of_engine())
    text += fmt::format(", column {}", span.item);
  return text;
}

double largest(const Series& series) {
  return series.values.empty() ? 0 : static_cast<double>(std::ranges::max(series.values));
}

/// Returns the figure, with texts below the two ends of the time axis at `bottom`.
std::string with_time_axis(Drawing& figure, double bottom, const std::string& begin, const std::string& end) {
  figure.text(kLeft, bottom + 15, begin);
  figure.text(kRight, bottom + 15, end, "end");
  return figure.figure(bottom + 20);
}

/// Returns all names that charts of any rank show in this unit, in the order of their colours.
std::vector<std::string> shown_names(const Profile& profile, const std::string& unit) {
  std::vector<std::string> names;
  for (const auto& process : profile.processes)
    for (const auto& series : process.samples.series)
      if (series.unit == unit && largest(series) > 0 && std::ranges::find(names, series.name) == names.end())
        names.push_back(series.name);
  return names;
}

/// Draws the phases of each worker in the last iterations. Clocks of other machines differ; their processes
/// are shifted so that the last iterations of all processes end together.
std::string phases_figure(const Profile& profile) {
  constexpr std::size_t kIterations = 2, kMostRows = 24;
  constexpr double kRow = 24, kLeast = 0.1;  // height of a row, and least width of a box that can be seen
  const auto& first = profile.processes.front().iterations;
  if (first.empty()) return {};
  const std::size_t shown = std::min(first.size(), kIterations);
  Drawing figure(fmt::format("What each worker did in the last {} {}s", shown, profile.words.step));
  phase_legend(figure);
  const double length_ns = static_cast<double>(first.back().end_ns - first[first.size() - shown].begin_ns);
  double y = kTop;
  std::size_t rows = 0;
  for (std::size_t p = 0; p < profile.processes.size(); ++p) {
    const auto& process = profile.processes[p];
    const bool same_clock = process.facts.host == profile.processes.front().facts.host;
    const std::uint64_t end_ns = same_clock ? first.back().end_ns : process.iterations.back().end_ns;
    const auto x = [&](std::uint64_t ns) {
      const double before = static_cast<double>(end_ns) - static_cast<double>(ns);
      return std::clamp(kRight - (kRight - kLeft) * before / length_ns, kLeft, kRight);
    };
    for (std::size_t w = 0; w < process.spans.size() && rows < kMostRows; ++w, ++rows, y += kRow) {
      figure.text(kLeft - 5, y + kRow - 9, fmt::format("{}.{}", p, w), "end");
      for (const auto& span : process.spans[w]) {
        const double from = x(span.begin_ns), to = x(span.end_ns);
        if (to - from < kLeast) continue;
        figure.box(kPhaseStyle[static_cast<std::size_t>(span.phase)], from, y, to - from, kRow - 4,
                   describe(profile, span, p));
      }
    }
  }
  figure.text(kLeft, y + 12, "rank.worker");
  figure.text(kRight, y + 12, readable_seconds(length_ns * 1e-9), "end");
  return figure.figure(y + 18);
}

/// Draws the phases of each of the latest iterations of a process, as means of its workers.
std::string iterations_figure(const Profile& profile, std::size_t rank) {
  constexpr std::size_t kMost = 100;
  constexpr double kBottom = 150;
  const auto& process = profile.processes[rank];
  const auto& all = process.iterations;
  const std::size_t first = all.size() > kMost ? all.size() - kMost : 0;
  double most = 1e-9;
  for (const auto& other : profile.processes)
    for (std::size_t i = std::min(first, other.iterations.size()); i < other.iterations.size(); ++i)
      most = std::max(most, ms(other.iterations[i].end_ns - other.iterations[i].begin_ns));
  most = round_up(most);
  const std::string& step = profile.words.step;
  Drawing figure(
      fmt::format("{}{}s of rank {}, ms", static_cast<char>(step[0] - 'a' + 'A'), step.substr(1), rank));
  phase_legend(figure);
  figure.y_axis(most, kBottom);
  const double width = (kRight - kLeft) / static_cast<double>(std::max<std::size_t>(all.size() - first, 1));
  for (std::size_t i = first; i < all.size(); ++i) {
    double y = kBottom;
    for (std::size_t p = 0; p < topology::kPhases; ++p) {
      const double mean = ms(all[i].phases[p]) / process.facts.workers;
      const double height = (kBottom - kTop) * mean / most;
      y -= height;
      figure.box(kPhaseStyle[p], kLeft + width * static_cast<double>(i - first) + width * 0.08, y,
                 width * 0.84, height,
                 fmt::format("{} {}{}: {} {}", step, profile.iterations - all.size() + i + 1,
                             i < profile.names.size() ? ", " + profile.names[i] : "",
                             topology::kPhaseNames[p], readable_seconds(mean / 1e3)));
    }
  }
  return with_time_axis(figure, kBottom, std::to_string(profile.iterations - all.size() + first + 1),
                        std::to_string(profile.iterations));
}

/// Draws the parts of the time in which disk, wire and cores were busy, with the ends of steps.
std::string balance_figure(const Balance& balance) {
  constexpr double kBottom = 150, kPercent = 100;
  Drawing figure("Busy disk, wire and cores, %");
  figure.y_axis(kPercent, kBottom);
  const auto count = static_cast<double>(balance.intervals.size());
  const auto curve = [&](std::size_t colour, const char* name, double Balance::Interval::*share) {
    figure.legend(fmt::format("s{}", colour), name);
    Points points;
    for (std::size_t i = 0; i < balance.intervals.size(); ++i) {
      const double y = kBottom - (kBottom - kTop) * balance.intervals[i].*share;
      for (const std::size_t edge : {i, i + 1})
        points.emplace_back(kLeft + (kRight - kLeft) * static_cast<double>(edge) / count, y);
    }
    figure.curve(colour, colour, points);
  };
  if (balance.disk_known) curve(0, "disk", &Balance::Interval::disk);
  if (balance.has_wire()) curve(1, "wire", &Balance::Interval::wire);
  curve(2, "cores", &Balance::Interval::cores);
  const double length_s = balance.interval_s * count;
  double end_s = 0;
  for (const auto& step : balance.steps) {
    end_s += step.seconds;
    const double x = kLeft + (kRight - kLeft) * std::min(1.0, end_s / length_s);
    figure.line(x, kTop, x, kBottom);
  }
  return with_time_axis(figure, kBottom, "0 s; lines: ends of steps", readable_seconds(length_s));
}

constexpr std::size_t kMostFigures = 8;  // most processes of which there are charts

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
  report::Table table{{"rank", "compute ms", "send ms", "wait ms", "apply ms", "slowest worker ms",
                       profile.words.items + " M", "CPU %"}};
  for (std::size_t p = 0; p < profile.processes.size(); ++p) {
    const auto& load = profile.load.processes[p];
    auto& row = table.rows.emplace_back(std::vector{std::to_string(p)});
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
  report::Table table{{corner}};
  for (std::size_t q = 0; q < profile.processes.size(); ++q) table.header.push_back(std::to_string(q));
  for (std::size_t p = 0; p < profile.processes.size(); ++p) {
    auto& row = table.rows.emplace_back(std::vector{std::to_string(p)});
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

std::string samples_figure(const Profile& profile, std::size_t rank, const std::string& unit,
                           const std::string& title) {
  constexpr double kBottom = 110, kLine = 18;
  const auto& samples = profile.processes[rank].samples;
  const auto names = shown_names(profile, unit);
  std::vector<const Series*> shown;
  double most = 0;
  for (const auto& series : samples.series) {
    if (series.unit != unit || largest(series) <= 0) continue;
    shown.push_back(&series);
    most = std::max(most, largest(series));
  }
  if (shown.empty()) return {};
  most = round_up(most);
  Drawing figure(fmt::format("{} of rank {}, {}", title, rank, unit));
  if (samples.at_ns.size() == 1) {  // there is no curve, and no time axis
    double y = kTop + 12;
    figure.text(
        0, y,
        fmt::format("Short run: there is one sample.{}", opt::sample_interval.hint(" Try {}.", "0.01")));
    for (const auto* series : shown)
      figure.text(
          0, y += kLine,
          fmt::format("{}: {}", series->name, report::tick_text(static_cast<double>(series->values.front()))),
          "start");
    return figure.figure(y + 8);
  }
  figure.y_axis(most, kBottom);
  const std::uint64_t begin = samples.at_ns.front();
  const double length = std::max(1.0, static_cast<double>(samples.at_ns.back() - begin));
  for (const auto* series : shown) {
    const auto colour = static_cast<std::size_t>(std::ranges::find(names, series->name) - names.begin());
    figure.legend(fmt::format("s{}", colour % Drawing::kColours), series->name);
    Points points;
    for (std::size_t i = 0; i < samples.at_ns.size(); ++i) {
      const double share = static_cast<double>(samples.at_ns[i] - begin) / length;
      points.emplace_back(kLeft + (kRight - kLeft) * share,
                          kBottom - (kBottom - kTop) * static_cast<double>(series->values[i]) / most);
    }
    figure.curve(colour, colour, points);
  }
  return with_time_axis(figure, kBottom, "0 s", readable_seconds(length * 1e-9));
}

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
      return fmt::format("{:.3f}", ms(who.waited_ns[whom]) / who.facts.workers / per_iteration);
    }));
  }
  figures.clear();
  for (std::size_t p = 0; p < shown; ++p)
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
  if (!figures.empty()) {
    page.heading("The machines meanwhile");
    page.figures(figures);
  }
  return page.html();
}

}  // namespace edgewire::profile
