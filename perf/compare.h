#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dense/plan/count.h"
#include "dense/plan/volume.h"
#include "graph/graph_file.h"
#include "kernels/count.h"
#include "perf/core_watch.h"
#include "perf/model.h"

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
  /// As pagerank takes them. Strategies that do not go with one (plan::goes_with) are left out there.
  std::vector<std::string> ownerships{"hash"};
  /// Whether several processes are also run without a link, over the loopback of this machine: predictions
  /// for local hosts come from there. Of dense kernels.
  bool loopback = false;
};

/// One way to run. A process alone has no transport or link; only dense kernels on several have a strategy.
struct Cell {
  int processes = 1;
  int workers = 1;
  std::string transport = "none";
  std::optional<plan::Strategy> strategy;
  Matrix::Link link{"none", 0, {}};
  std::string ownership = "hash";  ///< in a row: what "auto" took

  /// "records" where a kernel follows a frontier, "none" of a process alone.
  std::string strategy_name() const {
    if (processes == 1) return "none";
    return strategy ? std::string(plan::to_name(*strategy)) : "records";
  }
  /// Whether several processes of this machine run without a link.
  bool loopback() const { return processes > 1 && link.bits_per_s == 0; }
  bool has_processes_of(const Cell& other) const {
    return processes == other.processes && workers == other.workers;
  }
  /// "slots", "slots of ranges": the strategy and, unless it is hash, the ownership.
  std::string label() const;
  /// "2 processes x 1 worker, tcp"
  std::string processes_words() const;
  /// "2 x 1, tcp, slots, 1G"
  std::string name() const;
};

/// The cells, in the order in which each round runs them: the links of a strategy one after the other, and
/// before them, where the matrix says so, the run without a link.
std::vector<Cell> cells_of(const Matrix& matrix);

/// "left out: worker and process with hilbert and grid, ...": which cells the matrix does not have; else
/// empty.
std::string left_out(const Matrix& matrix);

/// What one run reported.
struct RunFigures {
  /// What is compared. Of a dense kernel the mean of the second half of its iterations, at least of ten; of
  /// one that follows a frontier the time of the kernel.
  double seconds = 0;
  double seconds_total = 0;
  std::uint64_t payload_bytes = 0, wire_bytes = 0;  ///< in these seconds, summed over processes
  std::uint64_t vertices = 0, edges = 0;
  std::string ownership;
  int iterations = 0;              ///< all
  double bound_seconds_1g = 0;     ///< the wire limit of an iteration at 1 Gbit/s
  std::string encoding = "f32";    ///< how values travelled, or "records"
  std::uint64_t record_bytes = 0;  ///< of a kernel that follows a frontier, summed over processes
  std::string source{};            ///< where the run started, if at one vertex
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
  Spread seconds;  ///< see RunFigures
  Spread seconds_total;
  std::uint64_t payload_bytes = 0, wire_bytes = 0;
  std::uint64_t record_bytes = 0;        ///< median over the runs: in some kernels it depends on timing
  std::uint64_t bound_record_bytes = 0;  ///< what a run must send; 0 where nobody has counted it
  kernels::Exactness exactness = kernels::Exactness::exact;
  double bound_seconds = 0;  ///< the wire limit of these seconds
  double predicted_seconds = 0;
  Limit limited_by = Limit::cores;
  double balanced_bits_per_s = 0;  ///< line rate above which the wire is not the limit; 0: always
  double loopback_seconds = 0;     ///< median of the runs without a link; 0: there were none
  double compute_seconds = 0;      ///< these, or predicted without any wire
  Demand demand;                   ///< what the prediction is made from, as are the rates
  Rates rates;

  /// (predicted - measured) / measured. Of a process alone 0: it is what predictions come from.
  double prediction_error() const;
  double fraction_of_limit() const { return bound_seconds / seconds.median; }
  /// Faster than its link allows, by more than rounding: something is wrong, and nothing follows from it.
  bool above_limit() const { return cell.processes > 1 && fraction_of_limit() > 1.02; }
};

struct Comparison {
  std::string kernel = "pagerank";
  std::vector<std::string> kernel_options;  ///< as given, behind --
  std::string graph;
  std::uint64_t vertices = 0, edges = 0;
  int cores = 1;  ///< of this machine
  bool local_hosts = false;
  int iterations = 0;              ///< of a dense kernel or cdlp; else 0
  bool has_bounds = true;          ///< else bounds are 0, and a note says why
  std::vector<CompareRow> rows;    ///< in the order of cells
  std::vector<std::string> notes;  ///< what a reader must know
  LostCores lost;                  ///< of this machine, while the runs went on

  bool dense() const { return kernels::is_dense(kernel); }
  /// The kernel and its options, as they are typed.
  std::string kernel_words() const;
  /// Whether others had so much of the cores that no conclusion holds: more than a twentieth.
  bool lost_cores() const { return lost.all() > 0.05 * cores; }
  /// The part of its time in which a process of the cell computes, where local hosts take turns on the cores
  /// of this machine; 1: always.
  double turn(const Cell& cell) const;
  /// Of rows with several processes: the median of the errors without their signs; 0 when there are none.
  double median_prediction_error() const;
  /// The row with the same processes, workers, transport and strategy and the first link.
  const CompareRow& first_link(const CompareRow& row) const;
  /// How much faster the row is than first_link(), as "1.25 x"; of that row itself nothing.
  std::string speed_up(const CompareRow& row) const;
};

/// `runs[c]` are those of cell c, at least one each. Rows without bounds and predictions. A run without a
/// link is no row: it gives the rows of its strategy their loopback_seconds.
std::vector<CompareRow> aggregate(const std::vector<Cell>& cells,
                                  const std::vector<std::vector<RunFigures>>& runs);

/// Of a dense kernel: fills in bounds and predictions. Volumes are counted. The time of computing is that of
/// the run without a link; where there is none, each process computes its share at the rate of the row with
/// one process, and local hosts share this machine's cores. Throws Error.
void add_predictions(Comparison& comparison, const plan::Rows& graph, plan::Encoding encoding);

/// Why a kernel that follows a frontier has none.
inline constexpr const char* kNoPrediction =
    "no prediction: what a process computes in a superstep, and how long it waits for the others, does not "
    "follow from the time of one process alone";
/// Of a kernel that follows a frontier: fills in what frontier_bound() counts for the run, which started at
/// `source` where the kernel starts at a vertex. Where the run is not one that can be counted: has_bounds is
/// false, and a note says why. Throws Error.
void add_frontier_bounds(Comparison& comparison, const graph::GraphFile& graph, const std::string& source);

/// Of dense kernels: "1G with cover (25 ms) is faster than 10G with worker (32 ms)". For each number of
/// processes: compares the best strategy over the slowest link with the best strategy of 2015 (worker,
/// process, edge) over the fastest link. Of kernels that follow a frontier: the best row over the fastest
/// link with the best one over the slowest. If their spreads overlap, there is no difference. Where cores
/// were lost, or a row is above its limit: a line that says why nothing follows.
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
