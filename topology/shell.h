// This file has what a process has from its shell: standard streams, limits, and signals to ignore.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace edgewire::topology {

/// Makes a process fit for a job, whatever its shell left it; each call after the first finds all done.
/// - Standard streams that are closed are opened on /dev/null, so that no other file gets their number: what
///   is then written to stdout or read from stdin fails as before, and what is written to stderr is lost.
/// - As many files as the hard limit allows may be open. The soft one is low for programs that use select(),
///   and nothing here does.
/// - Stacks of this and of later threads have a usual size.
/// - A call that writes past the limit of a file's size fails, and not ended by SIGXFSZ.
/// Throws Error where a limit is too low for any command.
void settle_in_shell();

/// Throws Error, which names the limit (`ulimit -n`) and what would do, where fewer than `files` can be open
/// at a time. `otherwise`: what else would help, such as ", or ask for fewer --partitions".
void require_open_files(std::uint64_t files, std::string_view otherwise = "");

/// Returns whether the process ignores a signal, as shells make it by nohup, `trap '' INT` and for background
/// jobs of scripts. Such a signal must stay ignored.
bool is_ignored(int signal_number) noexcept;

/// Writes `text`, and what was printed before it, to stdout. Throws Error where it cannot be written, and
/// OutputClosed where nobody reads it and SIGPIPE would have ended the process.
void write_stdout(std::string_view text);

}  // namespace edgewire::topology
