// The folder into which all processes of a job write.
#pragma once

#include <memory>
#include <string>

#include "base/output_folder.h"
#include "launch/bootstrap.h"

namespace edgewire::process {

/// Makes the folder for the output of a job, on each host that does not have it. If the job has made it, it
/// goes as OutputFolder says, also where only one process is left, and whichever process has made it.
/// Collective; throws Error as OutputFolder::make() does.
std::unique_ptr<OutputFolder> make_folder(launch::Bootstrap& bootstrap, std::string path,
                                          OutputFolder::Parents parents = OutputFolder::Parents::must_exist);

}  // namespace edgewire::process
