#include "cli/interrupt.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "graph/temporary_name.h"

namespace edgewire::cli {
namespace {

// Read by the signal handler, in whatever thread it runs: each stands alone. A step's name and unit are
// literals.
std::atomic<const char*> first_step{nullptr};
std::atomic<const char*> step_name{nullptr}, step_unit{nullptr};
std::atomic<std::uint64_t> step_done{0}, step_total{0};
std::atomic<const char*> counted_unit{nullptr};
std::atomic<const std::function<std::uint64_t()>*> counted{nullptr};
std::atomic_flag told;
static_assert(std::atomic<const char*>::is_always_lock_free &&
              std::atomic<std::uint64_t>::is_always_lock_free);

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

/// Of units that are counted one after the other: what one of them is called, else null.
const char* single(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, const char*>, 4> kSingle{
      {{"iterations", "iteration"}, {"supersteps", "superstep"}, {"runs", "run"}, {"levels", "level"}}};
  for (const auto& [several, one] : kSingle)
    if (unit == several) return one;
  return nullptr;
}

/// " after iteration 3 of 10", " while reading, after 4000 of 100000 bytes", " before the first superstep"
void tell_step(Line& line) {
  const char* const name = step_name.load(std::memory_order_relaxed);
  if (name == nullptr) {
    line << " before " << first_step.load(std::memory_order_relaxed);
    return;
  }
  const char* const unit = step_unit.load(std::memory_order_relaxed);
  const std::uint64_t done = step_done.load(std::memory_order_relaxed),
                      total = step_total.load(std::memory_order_relaxed);
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
  const auto* const count = counted.load(std::memory_order_acquire);  // pairs with Counting()
  if (count != nullptr)
    line << ", with " << (*count)() << " " << counted_unit.load(std::memory_order_relaxed);
}

void tell(int number) {
  if (told.test_and_set(std::memory_order_relaxed))
    return;                 // the parent passes on what a terminal sends to all
  const int error = errno;  // of the code that was interrupted: isatty sets it
  Line line;
  if (isatty(STDERR_FILENO) == 1) line << "\r\033[K";  // takes the progress line away
  line << "edgewire: "
       << (number == SIGINT    ? "interrupted"
           : number == SIGTERM ? "told to end"
                               : "left by its terminal");
  tell_step(line);
  line << "\n";
  line.say();
  graph::TemporaryName::remove_all();
  errno = error;
  std::signal(number, SIG_DFL);
  std::raise(number);  // ends the process when the handler returns
}

}  // namespace

InterruptLine::InterruptLine(const char* first) {
  first_step.store(first, std::memory_order_relaxed);
  step_name.store(nullptr, std::memory_order_relaxed);
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
    if (step.name != nullptr && *step.unit != '\0') {
      step_done.store(step.done, std::memory_order_relaxed);
      step_total.store(step.total, std::memory_order_relaxed);
      step_unit.store(step.unit, std::memory_order_relaxed);
      step_name.store(step.name, std::memory_order_relaxed);
    }
    if (inner && !told.test(std::memory_order_relaxed)) inner(step);  // the line is the last one
  };
}

InterruptLine::Counting::Counting(const char* unit, std::function<std::uint64_t()> count)
    : count_(std::move(count)) {
  counted_unit.store(unit, std::memory_order_relaxed);
  counted.store(&count_, std::memory_order_release);
}

InterruptLine::Counting::~Counting() { counted.store(nullptr, std::memory_order_relaxed); }

}  // namespace edgewire::cli
