#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perf/core_watch.h"
#include "perf/model.h"
#include "plan/count.h"
#include "plan/volume.h"

namespace edgewire::perf {

/// The values that are combined with each other into runs.
struct Matrix {
  std::vector<int> processes;  ///< 1 is added: predictions need it
  std::vector<int> workers;
  std::vector<std::string> transports;
  std::vector<plan::Strategy> strategies;
  /// Line rates as given, bits per second, and the network interface that has it (else empty).
  struct Link {
    std::string rate;
    std::uint64_t bits_per_s = 0;
    std::string interface;
  };
  std::vector<Link> links;
  /// As pagerank takes them. Where processes own edges (hilbert, grid), there is one strategy, slots.
  std::vector<std::string> ownerships{"hash"};
};

/// One way to run. A process alone has no strategy, transport or link.
struct Cell {
  int processes = 1;
  int workers = 1;
  std::string transport = "none";
  std::optional<plan::Strategy> strategy;
  Matrix::Link link{"none", 0, {}};
  std::string ownership = "hash";  ///< in a row: what "auto" took

  std::string strategy_name() const { return strategy ? std::string(plan::to_name(*strategy)) : "none"; }
  /// "slots", "slots of ranges": the strategy and, unless it is hash, the ownership.
  std::string label() const;
  /// "2 x 1, tcp, slots, 1G"
  std::string name() const;
};

/// The cells, in the order in which each round runs them: the links of a strategy one after the other.
std::vector<Cell> cells_of(const Matrix& matrix);

/// What one run reported.
struct RunFigures {
  double seconds_per_iteration = 0;  ///< mean of the second half of its iterations, at least of ten
  double seconds_total = 0;
  std::uint64_t payload_bytes = 0, wire_bytes = 0;  ///< in an iteration, summed over processes
  std::uint64_t vertices = 0, edges = 0;
  std::string ownership;
  int iterations = 0;           ///< all
  double bound_seconds_1g = 0;  ///< the wire limit of an iteration at 1 Gbit/s
};
/// From the run report in JSON. Throws Error.
RunFigures figures_from(std::string_view json);

/// A link of local hosts that was idle passes `burst_bytes` at once, so a short run can be faster than the
/// link allows. Returns the iterations that a run must have so that the burst is at most 1 % of what its
/// measured half sends; 0 when the run was no faster than the link, or had as many.
int iterations_needed(const RunFigures& run, std::uint64_t bits_per_s, std::uint64_t burst_bytes);

struct Spread {
  double median = 0, min = 0, max = 0;
};
/// Of at least one value.
Spread spread_of(std::vector<double> values);

struct CompareRow {
  Cell cell;
  int runs = 0;
  Spread seconds_per_iteration, seconds_total;
  std::uint64_t payload_bytes = 0, wire_bytes = 0;
  double bound_seconds = 0;  ///< the wire limit of an iteration
  double predicted_seconds = 0;
  Limit limited_by = Limit::cores;
  double balanced_bits_per_s = 0;  ///< line rate above which the wire is not the limit; 0: always
  double compute_seconds = 0;      ///< predicted without any wire

  /// (predicted - measured) / measured. Of a process alone 0: it is what predictions come from.
  double prediction_error() const;
  double fraction_of_limit() const { return bound_seconds / seconds_per_iteration.median; }
  /// Faster than its link allows, by more than rounding: something is wrong, and nothing follows from it.
  bool above_limit() const { return cell.processes > 1 && fraction_of_limit() > 1.02; }
};

struct Comparison {
  std::string graph;
  std::uint64_t vertices = 0, edges = 0;
  int cores = 1;  ///< of this machine
  bool local_hosts = false;
  int iterations = 0;
  std::vector<CompareRow> rows;    ///< in the order of cells
  std::vector<std::string> notes;  ///< what a reader must know
  LostCores lost;                  ///< of this machine, while the runs went on

  /// Whether others had so much of the cores that no conclusion holds: more than a twentieth.
  bool lost_cores() const { return lost.all() > 0.05 * cores; }
  /// Of rows with several processes: the median of the errors without their signs; 0 when there are none.
  double median_prediction_error() const;
  /// The row with the same processes, workers, transport and strategy and the first link.
  const CompareRow& first_link(const CompareRow& row) const;
};

/// `runs[c]` are those of cell c, at least one each. Rows without bounds and predictions.
std::vector<CompareRow> aggregate(const std::vector<Cell>& cells,
                                  const std::vector<std::vector<RunFigures>>& runs);

/// Fills in bounds and predictions: volumes are counted, the compute rate of a core is that of the row with
/// one process. Local hosts share this machine's cores. Throws Error.
void add_predictions(Comparison& comparison, const plan::Rows& graph, plan::Encoding encoding);

/// "1G with cover (25 ms) is faster than 10G with worker (32 ms)". For each number of processes: compares the
/// best strategy over the slowest link with the best strategy of 2015 (worker, process, edge) over the
/// fastest link. If their spreads overlap, there is no difference.
/// Where cores were lost, or a row is above its limit: a line that says why nothing follows.
std::vector<std::string> headlines(const Comparison& comparison);

/// For people, ending with a newline.
std::string to_text(const Comparison& comparison);
/// {"rows": [...]}, and what the rows have in common.
std::string to_json(const Comparison& comparison);
/// One line a row, with a header.
std::string to_csv(const Comparison& comparison);
/// One self-contained page with tables and charts.
std::string to_html(const Comparison& comparison);

}  // namespace edgewire::perf
