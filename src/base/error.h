// The base folder has what any room may use. It includes no other folder of ours than the public headers.
// This file has the ways in which Edgewire gives up.
#pragma once

#include <exception>
#include <string>

#include "edgewire/error.h"

namespace edgewire {

/// A file changed while it was used, so that nothing is right any more. Where a run fails, this is the cause,
/// whatever else was noticed of it, such as a lost peer.
class FileChanged : public Error {
 public:
  FileChanged(const std::string& line, bool told) : Error(line), told_(told) {}
  /// Returns whether another process of the job has said it, or is about to.
  bool told() const noexcept { return told_; }

 private:
  bool told_;
};

/// A failure because nobody reads stdout any more, as behind `| head`. The program says nothing and exits
/// with 141, as if SIGPIPE had ended it. So do processes of a job that hear this message from another.
class OutputClosed : public Error {
 public:
  static constexpr const char* kMessage = "nobody reads its output any more";
  OutputClosed() : Error(kMessage) {}
};
/// Exit status that shells show for a program that SIGPIPE has ended.
inline constexpr int kOutputClosedStatus = 141;

/// Returns the shell's limit that may be the cause of an errno, and one that would do, such as " (`ulimit -n`
/// allows 8: raise it with `ulimit -n 1024`)", or "".
std::string limit_to_raise(int cause);

/// Returns what the system says of an errno, and the limit to raise, or that a filter of system calls, such
/// as a container's, may have refused the call. So the text before it names what was tried.
std::string reason(int cause);

/// Returns the line for a failure of any kind.
std::string line_of(const std::exception& error);

/// Writes text to stderr, in one call. What cannot be written (stderr is closed, nobody reads it, its disk is
/// full) is lost and costs nothing else: this neither throws nor ends the process.
void say(const std::string& text) noexcept;

/// Says a line in the program's name on stderr, see say(), unless the program is to be quiet.
void note(const std::string& line);
/// Says on stderr why the program, or a process of its job, fails: in one line as note() does, but always.
void say_failure(const std::string& line);
/// Lets note() say nothing from now on (--quiet), or something again, in this process and in those that it
/// forks.
void be_quiet(bool is_quiet = true) noexcept;
bool is_quiet() noexcept;

}  // namespace edgewire
