// The values of a run in files, from which another run continues. A folder holds one checkpoint: a file of
// each process, `values.ITERATION.RANK`, and `manifest`, which rank 0 puts in place when all of them are
// whole. Files of the checkpoint before last are removed with the next one, so that a manifest never names
// what is not there. Against torn files, after a machine has crashed, each has a checksum.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/exchange.h"
#include "kernels/dense_job.h"
#include "launch/wire_up.h"

namespace edgewire::kernels {

/// What one process takes up again.
struct ResumedState {
  std::uint64_t iteration = 0;  ///< that many are done
  std::vector<float> values;    ///< by index of the own vertices
  engine::Scalars scalars{};    ///< the own part, as it was
  bool has_scalars = false;     ///< false: this process owned other vertices, the kernel must sum up anew
};

/// Writes checkpoints of one run. `what` says in one line what is computed of which graph, with all that the
/// values depend on.
class Checkpoint {
 public:
  /// Collective. Makes the folder. Throws Error when it holds a checkpoint and `resumed` is another folder.
  Checkpoint(launch::WireUp& wire, std::string folder, std::string what, const std::string& resumed);

  /// This process's file; after that of all processes, commit() makes them the checkpoint. Throw Error.
  void write(std::uint64_t iteration, std::span<const std::uint32_t> ids, std::span<const float> values,
             const engine::Scalars& scalars);
  void commit(std::uint64_t iteration);

 private:
  std::string path_of(std::uint64_t iteration) const;

  launch::WireUp& wire_;
  std::string folder_;
  std::string what_;
  std::uint64_t run_ = 0;                  ///< tells the files of one run from those of another
  std::vector<std::uint64_t> iterations_;  ///< whose files are there
};

/// Reads the checkpoint of `folder`, written by any number of processes. Collective. Throws Error that names
/// the file when something is missing, torn, of another run or of another graph or kernel.
ResumedState resume(launch::WireUp& wire, const std::string& folder, const std::string& what,
                    const DenseJob& job);

}  // namespace edgewire::kernels
