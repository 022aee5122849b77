#pragma once

#include <functional>
#include <optional>
#include <string>

#include "launch/launch.h"

namespace edgewire::launch {

/// The launcher that started this process as one of several, as the environment tells.
struct Launcher {
  std::string name;    ///< "srun"
  int size = 0;        ///< number of processes; 0: unknown
  bool pmix = false;   ///< it offers PMIx
  std::string remedy;  ///< what to type when it does not
};

/// None when this process was started alone: then the job is local. The single process of a batch script is
/// alone, whatever its allocation holds.
std::optional<Launcher> find_launcher();

/// As run(), in a process that `launcher` started: rank, size and the way to rank 0 come from it by PMIx.
/// Throws Error when the processes cannot find each other, and UsageError for `processes` beside a launcher.
int run_launched(const LaunchOptions& options, const Launcher& launcher,
                 const std::function<void(Bootstrap&)>& body);

}  // namespace edgewire::launch
