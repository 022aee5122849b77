#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace edgewire::launch {

constexpr double kStopTimeoutS = 10;

/// Throws Error where a system call is refused without which no process can be started and waited for.
void require_process_calls();

/// The error of a program that was stopped (SIGSTOP) and nobody let it go on, so it is killed. The line names
/// it.
class ProgramStopped : public Error {
  using Error::Error;
};

/// The end of a program: how it ended, and what it printed.
struct ProgramEnd {
  int status = 0;  ///< exit status, or 128 + the signal that ended it
  std::string output;
  std::string diagnostics;  ///< text of stderr

  /// Returns the last line of stderr, or the status in words: why the program failed.
  std::string last_words() const;
};

/// Runs a program (found in PATH, /usr/sbin or /sbin) with `input` as its stdin, and waits for it. SIGINT,
/// SIGTERM and SIGHUP are passed to the program; this process gets them when the program has ended. If this
/// process dies, the program gets SIGTERM. One call at a time, from the main thread. Throws Error when the
/// program cannot be started, ProgramStopped when it is stopped for longer than `stop_timeout_s`.
ProgramEnd run_program(const std::vector<std::string>& words, std::string_view input = {},
                       double stop_timeout_s = kStopTimeoutS);
/// Does the same with a child of this process, which has no input and calls `body`: that returns its exit
/// status and throws nothing. No thread may exist. `name`: what messages call it.
ProgramEnd run_in_child(const std::string& name, const std::function<int()>& body);

}  // namespace edgewire::launch
