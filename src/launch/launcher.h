#pragma once

#include <functional>
#include <optional>
#include <string>

#include "launch/start.h"

namespace edgewire::launch {

/// The launcher that started this process as one of several. The environment names it.
struct Launcher {
  std::string name;    ///< name, such as "srun"
  int size = 0;        ///< number of processes; 0: unknown
  bool pmix = false;   ///< whether it offers PMIx
  std::string remedy;  ///< text to type if it does not offer PMIx
};

/// Returns nothing if this process was started alone: then the job is local. The single process of a batch
/// script is alone, even if its allocation has several nodes.
std::optional<Launcher> find_launcher();

/// Does the same as start(), in a process that `launcher` started; rank, size and the hub's addresses come
/// over PMIx. Throws Error when the processes do not meet, UsageError for `processes` beside a launcher.
int run_launched(const StartOptions& options, const Launcher& launcher,
                 const std::function<void(Bootstrap&)>& body);

/// Runs `body` on this bootstrap, tells others and stderr of a failure, and returns the status. Never throws.
int run_body(Bootstrap& bootstrap, const std::function<void(Bootstrap&)>& body);

/// Forks all processes of a local job and watches over them; returns the first non-zero exit status.
int run_local(const StartOptions& options, const std::function<void(Bootstrap&)>& body);

/// Tells the cause of a failure to whoever waits for the job: on stderr, or by what run() throws.
void tell_failure(const std::string& line);
/// Tells in the parent of a job that a process has died, which is why others have lost it. `tolerated`: the
/// job goes on, and its failure would be another one.
void tell_death(const std::string& line, bool tolerated);

/// Counts a job that a process forked next will run: it gets the next number.
void count_job();

}  // namespace edgewire::launch
