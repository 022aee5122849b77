#include "perf/compare/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <map>
#include <set>
#include <span>
#include <variant>

#include "base/error.h"
#include "base/median.h"
#include "base/units.h"
#include "bounds/bound.h"
#include "bounds/frontier_bound.h"
#include "dense/plan/block_plan.h"
#include "perf/compare/matrix.h"

namespace edgewire::perf {

namespace {

/// A run without a link says this where others name their link.
const Matrix::Link kLoopback{"loopback", 0, {}};

bool same_but_link(const Cell& a, const Cell& b) {
  return a.processes == b.processes && a.workers == b.workers && a.transport == b.transport &&
         a.strategy == b.strategy && a.ownership == b.ownership;
}

const CompareRow& alone(const Comparison& comparison, int workers) {
  return *std::find_if(comparison.rows.begin(), comparison.rows.end(), [&](const CompareRow& row) {
    return row.cell.processes == 1 && row.cell.workers == workers;
  });
}

constexpr std::size_t kFraming = 0;  // index into plan::kFramings: how predictions count bytes on the wire

constexpr std::uint64_t kBitsPerS = 1'000'000'000;  // of the line that times of records are counted for

/// Returns what is counted for the processes, workers and ownership of a cell.
bounds::BoundOptions options_of(const Cell& like) {
  bounds::BoundOptions options;
  options.processes = {like.processes};
  options.workers = like.workers;
  options.ownerships = {like.ownership};
  options.strategies = {plan::Strategy::slots};
  options.framing = kFraming;
  options.memory_bytes = std::uint64_t{4} << 30;
  options.rates = {{"1G", kBitsPerS}};
  return options;
}

/// Counts what the most loaded process sends and computes, for the cells of one number of processes and
/// workers and one ownership.
bounds::Bound count(const Comparison& comparison, const Cell& like, const plan::Rows& graph,
                    plan::Encoding encoding) {
  auto options = options_of(like);
  options.encodings = {encoding};
  options.threads = comparison.cores;
  std::set<plan::Strategy> strategies;
  for (const CompareRow& row : comparison.rows)
    if (row.cell.has_processes_of(like) && row.cell.ownership == like.ownership)
      strategies.insert(*row.cell.strategy);
  options.strategies.assign(strategies.begin(), strategies.end());
  return bounds::compute_bound(graph, options);
}

/// Returns the edges of a graph or of a process. Where there is none, a run still takes some time: it counts
/// as one.
double some_edges(std::uint64_t edges) { return static_cast<double>(std::max<std::uint64_t>(1, edges)); }

/// Returns the rates at which the processes of a row compute: those of its run without a link, or else of
/// the process that ran alone.
bounds::Rates rates_of(const Comparison& comparison, const CompareRow& row) {
  constexpr double kMostRate = 1e15;  // where a run takes no time that a clock shows
  bounds::Rates rates;
  rates.cores = row.cell.workers;
  rates.line_bits_per_s = static_cast<double>(row.cell.link.bits_per_s);
  rates.turn = comparison.turn(row.cell);
  const double edges_per_s = row.loopback_seconds > 0 ? row.demand.edges / row.loopback_seconds
                                                      : rates.turn * some_edges(comparison.edges) /
                                                            alone(comparison, rates.cores).seconds.median;
  rates.edges_per_core_s = std::min(kMostRate, edges_per_s / rates.cores);
  return rates;
}

void fill_in(const Comparison& comparison, CompareRow& row, const bounds::Bound& bound) {
  const auto counted = std::ranges::find(bound.rows, *row.cell.strategy, &bounds::BoundRow::strategy);
  row.demand.processes = row.cell.processes;
  row.demand.edges = some_edges(counted->edges_max);
  row.demand.wire_bytes = counted->volume.wire_bytes_max[kFraming];
  row.rates = rates_of(comparison, row);
  row.prediction = bounds::predict(row.demand, row.rates);
  row.bound_seconds = row.prediction.wire_s;
}

}  // namespace

std::string Cell::name() const {
  if (processes == 1) return fmt::format("1 x {}", workers);
  return fmt::format("{} x {}, {}, {}, {}", processes, workers, transport, label(), link.name());
}

std::string Cell::processes_words() const {
  return fmt::format("{} processes x {} worker{}, {}", processes, workers, workers == 1 ? "" : "s",
                     transport);
}

std::string Cell::label() const {
  return ownership == "hash" ? strategy_name() : fmt::format("{} of {}", strategy_name(), ownership);
}

std::vector<Cell> cells_of(const Matrix& matrix) {
  std::vector<Cell> cells;
  std::set<int> processes(matrix.processes.begin(), matrix.processes.end());
  processes.insert(1);
  std::vector<std::optional<plan::Strategy>> strategies(matrix.strategies.begin(), matrix.strategies.end());
  if (strategies.empty()) strategies = {std::nullopt};
  for (const int p : processes)
    for (const int w : matrix.workers) {
      if (p == 1) {
        cells.emplace_back().workers = w;
        continue;
      }
      for (const auto& ownership : matrix.ownerships)
        for (const auto& transport : matrix.transports)
          for (const auto strategy : strategies) {
            if (strategy && !plan::goes_with(*strategy, ownership)) continue;
            const Cell cell{p, w, transport, strategy, kLoopback, bounds::partition_path(ownership, p)};
            if (matrix.loopback && transport == "tcp") cells.push_back(cell);
            for (const auto& link : matrix.links) cells.emplace_back(cell).link = link;
          }
    }
  return cells;
}

std::string left_out(const Matrix& matrix) {
  std::vector<std::string> strategies, ownerships;
  for (const auto& ownership : matrix.ownerships)
    for (const auto strategy : matrix.strategies) {
      if (plan::goes_with(strategy, ownership)) continue;
      index_in(strategies, std::string(to_name(strategy)));
      index_in(ownerships, ownership);
    }
  if (ownerships.empty()) return {};
  return fmt::format("left out: {} with {}, where processes own edges and send with {}",
                     list_of(strategies, " and "), list_of(ownerships, " and "),
                     plan::strategies_for(ownerships.front()));
}

RunFigures figures_from(const report::RunReport& report) {
  RunFigures run;
  run.seconds_total = report.seconds_total;
  run.ownership = report.ownership;
  if (report.has_supersteps) {
    run.seconds = report.seconds_kernel;
    for (const auto& step : report.supersteps) {
      run.record_bytes += step.record_bytes;
      run.payload_bytes += step.payload_bytes_sent;
      run.wire_bytes += step.wire_bytes_sent;
    }
    for (const auto& [name, value] : report.options)
      if (name == "source") run.source = std::get<std::string>(value);
    return run;
  }
  const auto& iterations = report.iterations;
  if (iterations.empty()) throw Error("a run without an iteration has no time that can be compared");
  const std::size_t measured = std::min(iterations.size(), std::max<std::size_t>(10, iterations.size() / 2));
  for (const auto& one : std::span(iterations).last(measured))
    run.seconds += one.seconds / static_cast<double>(measured);
  run.iterations = static_cast<int>(iterations.size());
  run.encoding = plan::encoding_from(report.wire);
  for (const auto& [rate, seconds] : report.bound.seconds_at)
    if (rate == "1G") run.bound_seconds_1g = seconds;
  run.payload_bytes = iterations.back().payload_bytes_sent;
  run.wire_bytes = iterations.back().wire_bytes_sent;
  return run;
}

int iterations_needed(const RunFigures& run, std::uint64_t bits_per_s, std::uint64_t burst_bytes) {
  constexpr double kBursts = 100, kMost = 1e6;          // as many iterations as pagerank takes
  const double bytes = run.bound_seconds_1g * 1e9 / 8;  // bytes of the most loaded process
  if (bytes <= 0 || run.seconds * static_cast<double>(bits_per_s) >= bytes * 8) return 0;
  const double needed = std::min(kMost, 2 * std::ceil(kBursts * static_cast<double>(burst_bytes) / bytes));
  return run.iterations < needed ? static_cast<int>(needed) : 0;
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {median_of_sorted(values), values.front(), values.back()};
}

double CompareRow::prediction_error() const {
  if (cell.processes == 1) return 0;
  return (prediction.seconds - seconds.median) / seconds.median;
}

double Comparison::turn(const Cell& cell) const {
  const double wanted = static_cast<double>(cell.processes) * cell.workers;
  return local_hosts ? std::min(1.0, cores / wanted) : 1.0;
}

double Comparison::median_prediction_error() const {
  std::vector<double> errors;
  for (const CompareRow& row : rows)
    if (row.cell.processes > 1) errors.push_back(std::fabs(row.prediction_error()));
  return errors.empty() ? 0 : median(std::move(errors));
}

std::string CompareSettings::kernel_words() const {
  std::string words = kernel;
  for (const auto& word : kernel_options) words += " " + word;
  return words;
}

const CompareRow& Comparison::first_link(const CompareRow& row) const {
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const CompareRow& other) { return same_but_link(other.cell, row.cell); });
}

std::string Comparison::speed_up(const CompareRow& row) const {
  const CompareRow& first = first_link(row);
  return &first == &row ? std::string() : fmt::format("{:.2f} x", first.seconds.median / row.seconds.median);
}

std::vector<CompareRow> aggregate(const std::vector<Cell>& cells,
                                  const std::vector<std::vector<RunFigures>>& runs) {
  std::vector<CompareRow> rows;
  const Cell* loopback = nullptr;
  double loopback_seconds = 0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    std::vector<double> compared, total, records;
    for (const RunFigures& run : runs[c]) {
      compared.push_back(run.seconds);
      records.push_back(static_cast<double>(run.record_bytes));
      total.push_back(run.seconds_total);
    }
    if (cells[c].loopback()) {
      loopback = &cells[c];
      loopback_seconds = spread_of(std::move(compared)).median;
      continue;
    }
    CompareRow row;
    row.cell = cells[c];
    if (loopback != nullptr && same_but_link(*loopback, row.cell)) row.loopback_seconds = loopback_seconds;
    row.runs = static_cast<int>(runs[c].size());
    row.seconds = spread_of(compared);
    row.seconds_total = spread_of(total);
    if (cells[c].processes > 1) {
      row.cell.ownership = runs[c].front().ownership;
      row.payload_bytes = runs[c].front().payload_bytes;
      row.wire_bytes = runs[c].front().wire_bytes;
      row.record_bytes = static_cast<std::uint64_t>(median(records));
    }
    rows.push_back(row);
  }
  return rows;
}

void add_predictions(Comparison& comparison, const plan::Rows& graph, plan::Encoding encoding) {
  bounds::Bound bound;
  const CompareRow* counted = nullptr;
  for (CompareRow& row : comparison.rows) {
    if (row.cell.processes == 1) {
      row.prediction.seconds = row.prediction.cores_s = row.seconds.median;
      continue;
    }
    if (counted == nullptr || !counted->cell.has_processes_of(row.cell) ||
        counted->cell.ownership != row.cell.ownership) {
      bound = count(comparison, row.cell, graph, encoding);
      counted = &row;
    }
    fill_in(comparison, row, bound);
  }
}

namespace {

/// These are the options of kernels with which a run may send something else than is counted without them.
constexpr std::array kSendsOther{"--sources",       "--samples", "--parallel", "--weighted", "--precision",
                                 "--deterministic", "--parents", "--edges",    "--devices",  "--memory"};

/// Returns the first such option, or an empty text.
std::string uncounted(const std::vector<std::string>& options) {
  for (const std::string& word : options) {
    std::string name = word.substr(0, word.find('='));
    if (std::ranges::find(kSendsOther, name) != kSendsOther.end()) return name;
  }
  return {};
}

void count_rows(Comparison& comparison, const Graph& graph, const std::string& source) {
  const auto count = kernels::count_of(
      {comparison.kernel, source, static_cast<std::uint64_t>(comparison.iterations)}, graph);
  std::map<std::pair<int, std::string>, bounds::FrontierBound> counted;
  for (CompareRow& row : comparison.rows) {
    if (row.cell.processes == 1) continue;
    const std::pair key(row.cell.processes, row.cell.ownership);
    auto found = counted.find(key);
    if (found == counted.end())
      found = counted.emplace(key, bounds::frontier_bound(graph, count, options_of(row.cell)).front()).first;
    const bounds::FrontierBound& bound = found->second;
    row.bound_record_bytes = bound.record_bytes;
    row.exactness = bound.exactness;
    row.bound_seconds =
        bound.seconds_at[0] * static_cast<double>(kBitsPerS) / static_cast<double>(row.cell.link.bits_per_s);
  }
}

}  // namespace

void add_frontier_bounds(Comparison& comparison, const Graph& graph, const std::string& source) {
  const std::string other = uncounted(comparison.kernel_options);
  comparison.has_bounds =
      other.empty() && (source.empty() != kernels::descriptor_of(comparison.kernel).has_source);
  if (!comparison.has_bounds) {
    comparison.notes.push_back(fmt::format("no wire limit: edgewire bound counts what {} sends without {}",
                                           comparison.kernel, other.empty() ? "several sources" : other));
    return;
  }
  try {
    count_rows(comparison, graph, source);
  } catch (const std::exception& error) {  // the measured figures are printed without a limit
    comparison.has_bounds = false;
    comparison.notes.push_back(fmt::format("no wire limit: {}", error.what()));
  }
}

}  // namespace edgewire::perf
