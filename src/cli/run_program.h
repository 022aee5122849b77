#pragma once

namespace edgewire::cli {

/// Does what the command line asks for. Returns the exit status of the process: 0; 1 after a failure; 2 where
/// the command line is wrong; or a status that a command has chosen. Failures are a line on stderr.
int run_program(int argc, char** argv);

}  // namespace edgewire::cli
