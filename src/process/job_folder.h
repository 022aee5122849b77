// The folder into which all processes of a job write.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/output_folder.h"
#include "launch/bootstrap.h"

namespace edgewire::process {

/// Makes the folder for the output of a job, on each host that does not have it. If the job has made it, it
/// goes as OutputFolder says, whichever process is left. Collective; throws Error as OutputFolder::make().
inline std::unique_ptr<OutputFolder> make_folder(
    launch::Bootstrap& bootstrap, std::string path,
    OutputFolder::Parents parents = OutputFolder::Parents::must_exist) {
  auto folder = std::make_unique<OutputFolder>(std::move(path), parents);
  bootstrap.allgather("");  // all have looked for the folder before one makes it
  const bool is_mine = folder->make();
  folder->adopt();  // its maker may be lost before it says so
  const auto makers = bootstrap.allgather(is_mine ? "made" : "");
  // The folder belongs to another job.
  if (std::ranges::all_of(makers, [](const auto& said) { return said.empty(); })) folder->keep();
  return folder;
}

}  // namespace edgewire::process
