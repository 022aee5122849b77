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

/// Runs a program (found in PATH, /usr/sbin or /sbin) with `input` as its stdin, and waits for it. SIGINT,
/// SIGTERM and SIGHUP are passed to the program; this process gets them when the program has ended. If this
/// process dies, the program gets SIGTERM. One call at a time, from the main thread. Throws Error when the
/// program cannot be started.
ProgramEnd run_program(const std::vector<std::string>& words, std::string_view input = {});

}  // namespace edgewire::launch
