// A program reads graphs whose ids have its width: edgewire those of 32 bits, edgewire-wide those of 64.
#pragma once

#include <span>
#include <string>

namespace edgewire::cli {

/// Where one of these files is a graph with ids of the other width, runs the program for it in place of this
/// one, with the same command line: the one beside this program, else the one in PATH. So each process of a
/// launcher does by itself. Throws Error that says what to install or build where there is none, and where
/// the files are of both widths.
void hand_over_other_ids(std::span<const std::string> files);

}  // namespace edgewire::cli
