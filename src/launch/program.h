#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgewire::launch {

/// How a program ended, and what it printed.
struct ProgramEnd {
  int status = 0;  ///< exit status, or 128 + the signal that ended it
  std::string output;
  std::string diagnostics;  ///< of stderr

  /// The last line of stderr, or the status in words: why the program failed.
  std::string last_words() const;
};

/// Runs a program (looked for in PATH, /usr/sbin and /sbin) with `input` as its stdin, and waits for it.
/// SIGINT, SIGTERM and SIGHUP go to the program first and to this process when that has ended; it gets
/// SIGTERM should this process die. One call at a time, from the main thread. Throws Error when it cannot be
/// started.
ProgramEnd run_program(const std::vector<std::string>& words, std::string_view input = {});

}  // namespace edgewire::launch
