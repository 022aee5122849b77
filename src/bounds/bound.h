// The bounds folder says before a run what it must send, how long it takes at least, and what memory it
// needs. This file computes the fewest bytes of an iteration, by processes, ownership, strategy and encoding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bounds/model.h"
#include "dense/plan/count.h"
#include "dense/plan/volume.h"
#include "edgewire/progress.h"

namespace edgewire::bounds {

struct BoundOptions {
  std::vector<int> processes;
  int workers = 1;
  /// The ownerships. hash, ranges: vertices have owners, and edges follow their sources (or, mirrored, their
  /// destinations). hilbert, grid: edges have owners. Anything else is a partition file, in whose name "{}"
  /// stands for the number of processes.
  std::vector<std::string> ownerships;
  std::vector<plan::Strategy> strategies;
  /// The encodings of values: two 2-byte encodings cost the same.
  std::vector<plan::Encoding> encodings{plan::Encoding::f32, plan::Encoding::bf16};
  std::vector<std::pair<std::string, std::uint64_t>> rates;  ///< line rates as given, in bits per second
  std::size_t framing = 0;         ///< index into plan::kFramings of the framing of the seconds
  bool as_published_2015 = false;  ///< whether to add rows that count what a process sends to itself
  int threads = 1;
  std::uint64_t memory_bytes = 0;  ///< limit of memory beside the graph
  /// Bytes of a weight for each edge in tiles, where the kernel reads weights.
  std::uint64_t weight_bytes = 0;
  std::optional<Rates> model;  ///< rates of the machines; those of `rates` replace their line rate
};

/// Throws UsageError when an option makes no sense.
void check(const BoundOptions& options);

/// Returns the number of messages that rank 0, the process with most of them, sends before the first
/// iteration. It counts handshakes, collective calls and lists of the plan. The job is one over a host list
/// or a launcher, uses TCP and a given strategy, and sends no rows. The run report calls it setup_messages.
std::uint64_t setup_messages(int processes, int workers);

/// The figures of the covers for one number of processes.
struct CoverFigures {
  std::uint64_t matching = 0;  ///< size of a matching: no cover of this ownership has fewer values
  double gap = 0;
  double planning_core_s = 0;
};

struct BoundRow {
  int processes = 1;
  int workers = 1;
  std::string ownership;
  plan::Strategy strategy = plan::Strategy::slots;
  plan::Encoding encoding = plan::Encoding::f32;
  bool self_traffic = false;  ///< whether it counts what processes send to themselves, too, as in 2015
  plan::Volume volume;
  std::vector<double> seconds_at;  ///< time of the most loaded process, both ways at once, [rate]
  std::uint64_t edges_max = 0;     ///< number of edges that the process with most of them computes
  double edges_mean = 0;
  std::optional<CoverFigures> cover;
  std::uint64_t memory_bytes = 0;       ///< memory of a process, see dense_memory()
  std::vector<Prediction> predictions;  ///< predictions, [rate]; empty without a model
};

struct Bound {
  std::vector<BoundRow> rows;
  std::uint64_t counting_bytes = 0;  ///< most memory that a count took beside the graph
  std::uint32_t passes = 0;          ///< most passes over the graph for one number of processes and ownership
};

/// Returns exact counts, in the order of processes, ownerships, strategies, encodings. With owners of edges
/// only slots and cover have rows. `progress` hears of each count. Throws Error, and UsageError as check().
Bound compute_bound(const plan::Rows& rows, const BoundOptions& options, const Progress& progress = {});

/// Returns the bound as text for people, ending with a newline.
std::string to_text(const Bound& bound, const BoundOptions& options);
/// Returns one line for each row, and a header.
std::string to_csv(const Bound& bound, const BoundOptions& options);
/// Returns {"rows": [...]}, and the common facts of the rows.
std::string to_json(const Bound& bound, const BoundOptions& options);

/// Returns the path of a partition file for `processes`. Other ownerships stay as they are.
std::string partition_path(const std::string& ownership, int processes);

/// Throws UsageError where one is neither the name of an ownership nor a file, see
/// partition::check_ownership_name(), or is "auto" and may not be.
void check_ownerships(std::span<const std::string> ownerships, std::span<const int> processes,
                      bool may_be_auto);

/// Reads the partition files among `ownerships`. Throws Error where one cannot be read, or does not fit.
void check_partition_files(std::span<const std::string> ownerships, std::span<const int> processes,
                           std::uint64_t vertices);

}  // namespace edgewire::bounds
