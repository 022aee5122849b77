#pragma once

#include <string>

#include "base/output_folder.h"
#include "launch/bootstrap.h"

namespace edgewire::cli {

/// "ranks.tsv.0001-of-0004": the name of one process's part of an output.
std::string part_path(const std::string& path, int rank, int size);

/// Where a process of a host list has made the folder, it goes also if only others are left. Collective.
void adopt_folder(launch::Bootstrap& bootstrap, OutputFolder& folder);

/// As check_writable, of the parts of all processes. Collective.
void check_part_writable(launch::Bootstrap& bootstrap, const std::string& path);

/// Writes this process's part, so that a job leaves all its parts or none: names appear when the content of
/// all is written, after older parts of the same names have gone. Collective; throws Error with the path.
void write_part(launch::Bootstrap& bootstrap, const std::string& path, const std::string& text);

}  // namespace edgewire::cli
