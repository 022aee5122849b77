#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <functional>
#include <utility>

#include "edgewire/progress.h"

namespace edgewire::process {

/// The line on stderr, for SIGINT and SIGTERM, that says how far the run has come before they end the process
/// as they would have. Signals that are ignored (nohup) stay so. One process of a job has it, and only one at
/// a time. A run that fails destroys it before it says why: a signal then adds no second line.
class InterruptLine {
 public:
  /// Begins to listen to signals. `first`: a literal that names what comes next before the run tells of a
  /// step, as in "interrupted before the first iteration".
  explicit InterruptLine(const char* first = "the result was whole");
  ~InterruptLine();
  InterruptLine(const InterruptLine&) = delete;
  InterruptLine& operator=(const InterruptLine&) = delete;

  /// Returns `progress`, listened to: the line names the last step that has a unit. Once the line is said,
  /// `progress` hears of no more steps.
  static Progress listen(Progress progress);
  /// Does the same as listen(), but returns an empty function where `progress` is empty.
  static Progress listen_if_shown(Progress progress) {
    return progress ? listen(std::move(progress)) : Progress();
  }
  /// A guard with which the line adds count() and `unit`, a literal, as in ", with 40 tasks run". `count`
  /// does only what a signal handler may.
  class Counting {
   public:
    Counting(const char* unit, std::function<std::uint64_t()> count);
    ~Counting();
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

    const char* unit() const { return unit_; }
    std::uint64_t count() const { return count_(); }

   private:
    const char* unit_;
    std::function<std::uint64_t()> count_;
  };

 private:
  static constexpr std::array kTold = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kTold.size()> before_{};
};

}  // namespace edgewire::process
