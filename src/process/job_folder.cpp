#include "process/job_folder.h"

#include <algorithm>
#include <utility>

namespace edgewire::process {

std::unique_ptr<OutputFolder> make_folder(launch::Bootstrap& bootstrap, std::string path,
                                          OutputFolder::Parents parents) {
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
