// The report folder tells people how a run goes and how it went: progress on the terminal, the run report.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace edgewire::report {

/// A bar on stderr for one long step; erased when the step ends. Draws nothing where stderr is no terminal.
/// `what` and `unit` are not copied: give literals.
class Progress {
 public:
  /// `total` units are to be done. `enabled`: for one process of a job only.
  Progress(const char* what, std::uint64_t total, const char* unit, bool enabled = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` units are done by now. From any thread, at any rate: it reads the clock, and draws at most ten
  /// times a second. Never blocks on a terminal that is held.
  void set(std::uint64_t done) noexcept;
  /// As set(), for a step whose end nobody knows: draws text(), a string, behind `what`, without a bar.
  template <class Text>
  void say(const Text& text) {
    if (is_due()) draw_text(text());
  }

 private:
  bool is_due() noexcept;
  void draw_text(std::string_view text) noexcept;
  void draw_line(std::string_view line) noexcept;
  void draw(std::uint64_t done) noexcept;

  const char* what_;
  const char* unit_;
  std::uint64_t total_;
  bool enabled_;
  std::atomic<bool> drawn_{false};          ///< guards nothing else
  std::atomic<std::int64_t> next_draw_ns_;  ///< on the steady clock; guards nothing else
};

}  // namespace edgewire::report
