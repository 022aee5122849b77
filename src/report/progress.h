// The progress of a run on a terminal.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "edgewire/progress.h"

namespace edgewire::report {

/// A line on stderr that shows the step which is under way. Where its whole is known, the line has a bar, and
/// the time that the rest will take. Else it has the time that the step has taken. The line is erased when a
/// step without a name is shown, and in the end. Where stderr is no terminal nothing is drawn, but a line
/// gives once for each step the time that it will take, see forecast().
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();

  /// Shows a step. Any thread may call it, at any rate: it reads the clock, and draws at most ten times a
  /// second. It never blocks on a terminal that is held. Steps of one name are one step.
  void show(const Step& step) noexcept;

 private:
  void begin(const Step& step, std::uint64_t now_ns) noexcept;
  void draw(const Step& step, std::uint64_t now_ns);
  void draw_on_terminal(const Step& step, double seconds);
  void erase() noexcept;

  const bool terminal_;
  const std::uint64_t every_ns_;             ///< time between looks whether there is something to show
  std::atomic<const char*> name_{nullptr};   ///< name of the step that is under way; guards nothing
  std::atomic<std::uint64_t> next_draw_ns_;  ///< time of the next drawing on the steady clock; guards nothing
  std::mutex mutex_;
  std::uint64_t begin_ns_ = 0;
  std::uint64_t begin_done_ = 0;  ///< units of the step that were done at begin_ns_
  bool drawn_ = false;
  std::set<std::string, std::less<>> told_;  ///< steps whose forecast has been printed
};

/// Returns a Progress that shows steps in a ProgressLine, which ends with its last copy; empty with --quiet.
Progress progress_on_stderr();
/// Returns the same, but an empty function where stderr is no terminal.
Progress progress_on_terminal();

/// Returns the text for a step that takes at least another minute, such as "searching: 20 of 4000 sources
/// after 5 s; the rest will take about 16 min 35 s". It is empty for others, and where the time is unknown.
/// `first`: the units that were done `seconds` ago.
std::string forecast(const Step& step, std::uint64_t first, double seconds);

/// Returns a text such as "5 s", "3 min 20 s", "2 h 5 min".
std::string to_words(double seconds);

/// A thread that reports a step again and again while it lives. It is for work that is silent meanwhile. It
/// has no thread where progress is not shown.
class Ticker {
 public:
  /// Starts the thread. `details` returns those of all steps; that thread calls it.
  explicit Ticker(Progress progress, std::function<std::string()> details = {});

  /// Reports this step from now on, without its own details.
  void tell(const Step& step);

 private:
  Progress progress_;
  std::mutex mutex_;
  Step step_;
  std::jthread thread_;
};

}  // namespace edgewire::report
