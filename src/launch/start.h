// This file starts a job as the program does: failures go to stderr, and the job ends in an exit status.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "edgewire/launch.h"

namespace edgewire::launch {

/// A fact that is the same in all processes of a job, such as {"--damping", "0.85"}.
struct Fact {
  std::string name, value;
  bool operator==(const Fact&) const = default;
};

/// The options of a job's start that only the program gives.
struct StartOptions : LaunchOptions {
  /// The way to need less memory, for the line about a process that the kernel has killed for want of it.
  std::string less_memory = "fewer processes here and more on other hosts";
  std::vector<Fact> alike;  ///< facts that all processes must agree on: they may be started one by one
  std::function<void()> before_fork{};  ///< called in the parent of a local job before it forks; may be empty
};

/// Does what run() does, and returns the exit status for main: 0 only if all processes succeeded, 2 after a
/// UsageError of `body`, else 1 or 128 + the signal that ended a process. If `body` throws, one line on
/// stderr says what. Throws Error or UsageError when the job cannot start.
int start(const StartOptions& options, const std::function<void(Bootstrap&)>& body);

}  // namespace edgewire::launch
