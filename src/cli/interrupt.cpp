#include "cli/interrupt.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include "graph/temporary_name.h"

namespace edgewire::cli {
namespace {

// Read by the signal handler, in whatever thread it runs: each stands alone.
std::atomic<InterruptLine::Counts> counts{InterruptLine::Counts::iterations};
std::atomic<bool> iterating{false};
std::atomic<std::uint64_t> iterations_done{0}, iterations_wanted{0};
std::atomic_flag told;
static_assert(std::atomic<InterruptLine::Counts>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

/// A line made with nothing but calls that are safe in a signal handler.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t count = std::min(text.size(), room());
    std::memcpy(text_.data() + size_, text.data(), count);
    size_ += count;
    return *this;
  }
  Line& operator<<(std::uint64_t number) {
    const auto [end, bad] = std::to_chars(text_.data() + size_, text_.data() + text_.size(), number);
    if (bad == std::errc{}) size_ = static_cast<std::size_t>(end - text_.data());
    return *this;
  }
  void say() const { [[maybe_unused]] const auto written = write(STDERR_FILENO, text_.data(), size_); }

 private:
  std::size_t room() const { return text_.size() - size_; }
  std::array<char, 160> text_;
  std::size_t size_ = 0;
};

void tell(int number) {
  if (told.test_and_set(std::memory_order_relaxed))
    return;                 // the parent passes on what a terminal sends to all
  const int error = errno;  // of the code that was interrupted: isatty sets it
  Line line;
  if (isatty(STDERR_FILENO) == 1) line << "\r\033[K";  // takes the progress bar away
  line << "edgewire: "
       << (number == SIGINT    ? "interrupted"
           : number == SIGTERM ? "told to end"
                               : "left by its terminal");
  const auto unit_of = counts.load(std::memory_order_relaxed);
  const bool iterations = unit_of == InterruptLine::Counts::iterations;
  const char* const unit = iterations ? "iteration" : "superstep";
  if (unit_of == InterruptLine::Counts::nothing) {
    line << " before the result was whole";
  } else if (iterating.load(std::memory_order_relaxed)) {
    line << " after " << unit << " " << iterations_done.load(std::memory_order_relaxed);
    if (iterations) line << " of " << iterations_wanted.load(std::memory_order_relaxed);
  } else {
    line << " before the first " << unit;
  }
  line << "\n";
  line.say();
  graph::TemporaryName::remove_all();
  errno = error;
  std::signal(number, SIG_DFL);
  std::raise(number);  // ends the process when the handler returns
}

}  // namespace

InterruptLine::InterruptLine(Counts unit) {
  counts.store(unit, std::memory_order_relaxed);
  for (std::size_t i = 0; i < kTold.size(); ++i) {
    if (sigaction(kTold[i], nullptr, &before_[i]) != 0 || before_[i].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = tell;
    for (const int other : kTold) sigaddset(&action.sa_mask, other);
    sigaction(kTold[i], &action, nullptr);
  }
}

InterruptLine::~InterruptLine() {
  for (std::size_t i = 0; i < kTold.size(); ++i) {
    struct sigaction now {};
    if (sigaction(kTold[i], nullptr, &now) == 0 && now.sa_handler == tell)
      sigaction(kTold[i], &before_[i], nullptr);
  }
}

Stages InterruptLine::listen(Stages stages) {
  return [inner = std::move(stages)](std::string_view step, std::uint64_t done, std::uint64_t total) {
    if (step == "iterate") {
      iterations_done.store(done, std::memory_order_relaxed);
      iterations_wanted.store(total, std::memory_order_relaxed);
      iterating.store(true, std::memory_order_relaxed);
    }
    inner(step, done, total);
  };
}

void InterruptLine::note_supersteps(std::uint64_t done) {
  iterations_done.store(done, std::memory_order_relaxed);
  iterating.store(true, std::memory_order_relaxed);
}

}  // namespace edgewire::cli
