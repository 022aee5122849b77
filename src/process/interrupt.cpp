#include "process/interrupt.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/output_folder.h"

namespace edgewire::process {
namespace {

/// The facts that the line says of a step. Its texts are literals.
struct Told {
  const char* name = nullptr;
  const char* unit = nullptr;
  std::uint64_t done = 0, total = 0;
};

/// The last step that was told. The signal handler reads it in whatever thread it runs, and never waits, even
/// if it has interrupted the writer. So there are two places: the writer fills the one that nobody reads,
/// then turns to it. A reader that finds another turn afterwards reads again.
class LastStep {
 public:
  /// Writes a step, or drops it where another thread is writing one.
  void write(const Told& step) {
    if (writing_.test_and_set(std::memory_order_acquire)) return;
    const std::uint64_t turn = turn_.load(std::memory_order_relaxed);
    Place& place = places_[(turn + 1) % 2];
    // Each store is a release: a reader of one of the values sees that the place had been left before.
    place.name.store(step.name, std::memory_order_release);
    place.unit.store(step.unit, std::memory_order_release);
    place.done.store(step.done, std::memory_order_release);
    place.total.store(step.total, std::memory_order_release);
    turn_.store(turn + 1, std::memory_order_release);
    writing_.clear(std::memory_order_release);
  }
  Told read() const {
    for (std::uint64_t turn = turn_.load(std::memory_order_acquire);;) {
      const Place& place = places_[turn % 2];
      const Told step{place.name.load(std::memory_order_acquire), place.unit.load(std::memory_order_acquire),
                      place.done.load(std::memory_order_acquire),
                      place.total.load(std::memory_order_acquire)};
      const std::uint64_t now = turn_.load(std::memory_order_acquire);
      if (now == turn) return step;
      turn = now;
    }
  }

 private:
  struct Place {
    std::atomic<const char*> name{nullptr}, unit{nullptr};
    std::atomic<std::uint64_t> done{0}, total{0};
  };
  std::array<Place, 2> places_;
  std::atomic<std::uint64_t> turn_{0};
  std::atomic_flag writing_;
};

// The signal handler reads them.
LastStep last_step;
std::atomic<const char*> first_step{nullptr};
std::atomic<const InterruptLine::Counting*> counting{nullptr};
std::atomic_flag line_told;
static_assert(std::atomic<const char*>::is_always_lock_free &&
              std::atomic<std::uint64_t>::is_always_lock_free);

/// A line that is made only with calls that are safe in a signal handler.
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

/// Returns the name of one unit where units are counted one after the other, else null.
const char* single(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, const char*>, 4> kSingle{
      {{"iterations", "iteration"}, {"supersteps", "superstep"}, {"runs", "run"}, {"levels", "level"}}};
  for (const auto& [several, one] : kSingle)
    if (unit == several) return one;
  return nullptr;
}

/// Adds the step: " after iteration 3 of 10", " while reading, after 40 of 100 bytes".
void tell_step(Line& line) {
  const auto [name, unit, done, total] = last_step.read();
  if (name == nullptr) {
    line << " before " << first_step.load(std::memory_order_relaxed);
    return;
  }
  const char* const one = single(unit);
  if (one != nullptr && done == 0) {
    line << " before the end of the first " << one;
  } else {
    if (one == nullptr) line << " while " << name << ",";
    line << " after ";
    if (one != nullptr) line << one << " ";
    line << done;
    if (total > 0) line << " of " << total;
    if (one == nullptr) line << " " << unit;
  }
  const auto* const more = counting.load(std::memory_order_acquire);  // pairs with Counting()
  if (more != nullptr) line << ", with " << more->count() << " " << more->unit();
}

void tell(int number) {
  if (line_told.test_and_set(std::memory_order_relaxed))
    return;                 // the parent passes on what a terminal sends to all
  const int error = errno;  // belongs to the interrupted code; isatty() changes it
  Line line;
  if (isatty(STDERR_FILENO) == 1) line << "\r\033[K";  // takes the progress line away
  line << "edgewire: "
       << (number == SIGINT    ? "interrupted"
           : number == SIGTERM ? "told to end"
                               : "left by its terminal");
  tell_step(line);
  line << "\n";
  line.say();
  TemporaryName::remove_all();
  errno = error;
  std::signal(number, SIG_DFL);
  std::raise(number);  // ends the process when the handler returns
}

}  // namespace

InterruptLine::InterruptLine(const char* first) {
  first_step.store(first, std::memory_order_relaxed);
  last_step.write({});
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

Progress InterruptLine::listen(Progress progress) {
  return [inner = std::move(progress)](const Step& step) {
    if (step.name != nullptr && *step.unit != '\0')
      last_step.write({step.name, step.unit, step.done, step.total});
    if (inner && !line_told.test(std::memory_order_relaxed)) inner(step);  // the line is the last one
  };
}

InterruptLine::Counting::Counting(const char* unit, std::function<std::uint64_t()> count)
    : unit_(unit), count_(std::move(count)) {
  counting.store(this, std::memory_order_release);
}

InterruptLine::Counting::~Counting() { counting.store(nullptr, std::memory_order_relaxed); }

}  // namespace edgewire::process
