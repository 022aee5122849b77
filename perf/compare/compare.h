// The perf/compare folder sets runs of a kernel beside each other: numbers of processes and workers,
// transports, strategies, ownerships and line rates. It runs this program for each cell of that matrix,
// predicts how long the cell takes, and shows all as text and as a page. This file has the comparison.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bounds/model.h"
#include "dense/plan/count.h"
#include "dense/plan/volume.h"
#include "edgewire/graph.h"
#include "kernels/descriptor.h"
#include "profile/core_watch.h"
#include "report/run_report.h"

namespace edgewire::perf {

/// The values that are combined with each other into runs.
struct Matrix {
  std::vector<int> processes;  ///< 1 is added: predictions need it
  std::vector<int> workers;
  std::vector<std::string> transports;
  std::vector<plan::Strategy> strategies;  ///< none where a kernel follows a frontier: it sends records
  /// Line rates as given, bits per second, and the network interface that has it (else empty).
  struct Link {
    std::string rate;
    std::uint64_t bits_per_s = 0;
    std::string interface;

    std::string name() const { return interface.empty() ? rate : rate + " " + interface; }
  };
  std::vector<Link> links;
  /// The ownerships, as pagerank takes them. Strategies that do not go with one (plan::goes_with) are left
  /// out there.
  std::vector<std::string> ownerships{"hash"};
  /// Whether several processes are also run without a link, over the loopback of this machine. Only dense
  /// kernels need that: their predictions for local hosts come from there.
  bool loopback = false;
};

/// One way to run. A process alone has no transport or link; only dense kernels on several have a strategy.
struct Cell {
  int processes = 1;
  int workers = 1;
  std::string transport = "none";
  std::optional<plan::Strategy> strategy;
  Matrix::Link link{"none", 0, {}};
  std::string ownership = "hash";  ///< ownership; in a row: what "auto" took

  /// Returns "records" where a kernel follows a frontier, and "none" for a process alone.
  std::string strategy_name() const {
    if (processes == 1) return "none";
    return strategy ? std::string(plan::to_name(*strategy)) : "records";
  }
  /// Returns whether several processes of this machine run without a link.
  bool loopback() const { return processes > 1 && link.bits_per_s == 0; }
  bool has_processes_of(const Cell& other) const {
    return processes == other.processes && workers == other.workers;
  }
  /// Returns "slots" or "slots of ranges": the strategy and, unless it is hash, the ownership.
  std::string label() const;
  /// Returns a text such as "2 processes x 1 worker, tcp".
  std::string processes_words() const;
  /// Returns a text such as "2 x 1, tcp, slots, 1G".
  std::string name() const;
};

/// Returns the cells, in the order in which each round runs them: the links of a strategy one after the
/// other, and before them, where the matrix says so, the run without a link.
std::vector<Cell> cells_of(const Matrix& matrix);

/// Says which cells the matrix does not have, as "left out: worker and process with hilbert and grid, ...";
/// else returns an empty text.
std::string left_out(const Matrix& matrix);

/// What one run reported, in numbers.
struct RunNumbers {
  /// The time that is compared. For a dense kernel it is the mean of the second half of its iterations, at
  /// least of ten. For a kernel that follows a frontier it is the time of the kernel.
  double seconds = 0;
  double seconds_total = 0;
  std::uint64_t payload_bytes = 0, wire_bytes = 0;  ///< bytes in these seconds, summed over processes
  std::uint64_t record_bytes = 0;                   ///< sum over processes, where a kernel follows a frontier
  int iterations = 0;                               ///< all
  double bound_seconds_1g = 0;                      ///< the wire limit of an iteration at 1 Gbit/s
  plan::Encoding encoding = plan::Encoding::f32;    ///< how values travelled
};
/// What one run reported.
struct RunFigures : RunNumbers {
  std::string ownership{};
  std::string source{};  ///< vertex where the run started, if at one
};
/// Takes the figures from a report. Throws Error where the run has none.
RunFigures figures_from(const report::RunReport& report);

/// A link of local hosts that was idle passes `burst_bytes` at once, so a short run can be faster than the
/// link allows. Returns the iterations that a run must have so that the burst is at most 1 % of what its
/// measured half sends; 0 when the run was no faster than the link, or had as many.
int iterations_needed(const RunFigures& run, std::uint64_t bits_per_s, std::uint64_t burst_bytes);

struct Spread {
  double median = 0, min = 0, max = 0;
};
/// Returns the spread of at least one value.
Spread spread_of(std::vector<double> values);

struct CompareRow {
  Cell cell;
  int runs = 0;
  Spread seconds;  ///< see RunFigures
  Spread seconds_total;
  std::uint64_t payload_bytes = 0, wire_bytes = 0;
  std::uint64_t record_bytes = 0;        ///< median over the runs: in some kernels it depends on timing
  std::uint64_t bound_record_bytes = 0;  ///< what a run must send; 0 where nobody has counted it
  kernels::Exactness exactness = kernels::Exactness::exact;
  double bound_seconds = 0;       ///< the wire limit of these seconds
  double loopback_seconds = 0;    ///< median of the runs without a link; 0: there were none
  bounds::Prediction prediction;  ///< of a dense kernel
  bounds::Demand demand;          ///< what the prediction is made from, as are the rates
  bounds::Rates rates;

  /// Returns (predicted - measured) / measured. A process alone has 0, since predictions come from it.
  double prediction_error() const;
  double fraction_of_limit() const { return bound_seconds / seconds.median; }
  /// Returns whether the row is faster than its link allows, by more than rounding. Then something is wrong,
  /// and nothing follows from it.
  bool above_limit() const { return cell.processes > 1 && fraction_of_limit() > 1.02; }
};

/// What is compared, as it was asked for.
struct CompareSettings {
  std::string kernel = "pagerank";
  std::vector<std::string> kernel_options;  ///< options as given, behind --
  std::string graph;                        ///< name that the user gives it
  int iterations = 0;                       ///< iterations of a dense kernel or cdlp; else 0
  bool local_hosts = false;  ///< the hosts are network namespaces of this machine; else those of a list

  bool dense() const { return kernels::descriptor_of(kernel).dense; }
  /// Returns the kernel and its options, as they are typed.
  std::string kernel_words() const;
};

struct Comparison : CompareSettings {
  std::uint64_t vertices = 0, edges = 0;
  int cores = 1;                     ///< cores of this machine
  bool has_bounds = true;            ///< else bounds are 0, and a note says why
  std::vector<CompareRow> rows{};    ///< rows in the order of cells
  std::vector<std::string> notes{};  ///< what a reader must know
  profile::LostCores lost{};         ///< cores of this machine that others had while the runs went on

  /// Returns whether others had so much of the cores that no conclusion holds: more than a twentieth.
  bool lost_cores() const { return lost.all() > 0.05 * cores; }
  /// Returns the part of its time in which a process of the cell computes, where local hosts take turns on
  /// the cores of this machine; 1: always.
  double turn(const Cell& cell) const;
  /// Returns the median of the errors without their signs, over the rows with several processes; 0 when
  /// there are none.
  double median_prediction_error() const;
  /// Returns the row with the same processes, workers, transport and strategy and the first link.
  const CompareRow& first_link(const CompareRow& row) const;
  /// Returns how much faster the row is than first_link(), as "1.25 x"; for that row itself it returns
  /// nothing.
  std::string speed_up(const CompareRow& row) const;
};

/// Makes rows, which have no bounds and predictions yet. `runs[c]` are those of cell c, at least one each. A
/// run without a link is no row: it gives the rows of its strategy their loopback_seconds.
std::vector<CompareRow> aggregate(const std::vector<Cell>& cells,
                                  const std::vector<std::vector<RunFigures>>& runs);

/// Fills in bounds and predictions of a dense kernel. Volumes are counted. The time of computing is that of
/// the run without a link. Where there is none, each process computes its share at the rate of the row with
/// one process, and local hosts share this machine's cores. Throws Error.
void add_predictions(Comparison& comparison, const plan::Rows& graph, plan::Encoding encoding);

/// This says why a kernel that follows a frontier has no prediction.
inline constexpr const char* kNoPrediction =
    "no prediction: what a process computes in a superstep, and how long it waits for the others, does not "
    "follow from the time of one process alone";
/// Fills in what bounds::frontier_bound() counts for the run of a kernel that follows a frontier. The run
/// started at `source` where the kernel starts at a vertex. Where the run cannot be counted, has_bounds is
/// false, and a note says why. Throws Error.
void add_frontier_bounds(Comparison& comparison, const Graph& graph, const std::string& source);

/// Returns lines such as "1G with cover (25 ms) is faster than 10G with worker (32 ms)". There is one for
/// each number of processes. For dense kernels it compares the best strategy over the slowest link with the
/// best strategy of 2015 (worker, process, edge) over the fastest link. For kernels that follow a frontier
/// it compares the best row over the fastest link with the best one over the slowest. If their spreads
/// overlap, there is no difference. Where cores were lost, or a row is above its limit, a line says why
/// nothing follows.
std::vector<std::string> headlines(const Comparison& comparison);

/// Returns the comparison as text for people, ending with a newline.
std::string to_text(const Comparison& comparison);
/// Returns {"rows": [...]}, and what the rows have in common.
std::string to_json(const Comparison& comparison);
/// Returns one line for each row, and a header.
std::string to_csv(const Comparison& comparison);
/// Returns one self-contained page with tables and charts.
std::string to_html(const Comparison& comparison);

}  // namespace edgewire::perf
