// Writes the values of a run to files, so that another run can continue from them. Each process writes
// `values.ITERATION.RANK`, and once `ids.RUN.RANK` with the ids of its vertices. When the files of all
// processes are complete, rank 0 writes `manifest`, which names the checkpoint. Files are written from a copy
// while the iterations go on. The last three checkpoints stay in the folder, so the manifest always names
// files that exist; the next checkpoint reuses the files of the one before them. Each file has a checksum,
// because a crash of the machine may leave it incomplete.
#pragma once

#include <cstdint>
#include <future>
#include <span>
#include <string>
#include <vector>

#include "exchange/exchange.h"
#include "job/checkpoint_file.h"
#include "job/dense_job.h"
#include "launch/bootstrap.h"

namespace edgewire::job {

/// The state from which one process continues.
struct ResumedState {
  std::uint64_t iteration = 0;  ///< that many are done
  std::vector<double> values;   ///< by index of the owned vertices
  exchange::Totals totals{};    ///< this process's part, as it was
  bool has_totals = false;      ///< false: this process owned other vertices, so the program must sum again
};

/// Writes checkpoints of one run, in the background. `what` says in one line what is computed of which graph,
/// with all that the values depend on. `bootstrap` and `job` outlive it. All members throw Error.
class Checkpoint {
 public:
  /// Collective. Makes the folder. Throws Error when it holds a checkpoint and `resumed` is another folder.
  Checkpoint(launch::Bootstrap& bootstrap, DenseJob& job, std::string folder, std::string what,
             const std::string& resumed);

  /// Starts to write this process's values, by index, of which it takes a copy. After kept(true).
  void start(std::uint64_t iteration, std::span<const double> values, const exchange::Totals& totals);
  /// How many are whole in this process; `wait`: when the last that was started is. Throws what went wrong
  /// with it.
  std::uint64_t kept(bool wait);
  /// At rank 0, when all processes have kept the last that was started: makes it the checkpoint.
  void commit();
  /// Collective, after the last iteration: waits for what was started, and commits it.
  void finish();

 private:
  CheckpointHeader header(const Magic& magic) const;
  void write();

  launch::Bootstrap& bootstrap_;
  DenseJob& job_;
  std::string folder_;
  std::string what_;
  std::uint64_t run_ = 0;   ///< tells the files of one run from those of another
  std::uint64_t last_ = 0;  ///< iteration
  std::uint64_t started_ = 0, committed_ = 0;
  std::vector<std::uint64_t> iterations_;  ///< whose files are there
  CheckpointFile file_;
  std::future<void> writing_;  ///< last, so that it is waited for before the others go
};

/// Reads the checkpoint of `folder`, written by any number of processes. Collective. Throws Error that names
/// the file when something is missing, torn, of another run or of another graph or kernel.
ResumedState resume(launch::Bootstrap& bootstrap, const std::string& folder, const std::string& what,
                    const DenseJob& job);

}  // namespace edgewire::job
