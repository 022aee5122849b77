#include "report/progress.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/seconds.h"
#include "base/units.h"

namespace edgewire::report {
namespace {

constexpr std::uint64_t kDrawEvery_ns = 100'000'000, kForecastEvery_ns = 3'000'000'000;
constexpr double kLong_s = 60;
constexpr std::size_t kBarColumns = 24;
constexpr std::size_t kUsualColumns = 80;
constexpr std::string_view kErase = "\r\033[K";

/// Writes the text if the terminal takes it at once, else drops it: in one call, so that no line is torn.
void write_now(std::string_view text) noexcept {
  pollfd terminal{STDERR_FILENO, POLLOUT, 0};
  if (poll(&terminal, 1, 0) != 1 || (terminal.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

std::size_t columns() noexcept {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

bool is_terminal() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

std::string amount(const Step& step) {
  const std::string_view unit = step.unit;
  if (unit == "bytes")
    return step.total == 0 ? readable_bytes(step.done)
                           : fmt::format("{} of {}", readable_bytes(step.done), readable_bytes(step.total));
  return fmt::format("{}{}{}{}", step.done, step.total == 0 ? "" : fmt::format(" of {}", step.total),
                     unit.empty() ? "" : " ", unit);
}

std::string bar(const Step& step) {
  const double part = static_cast<double>(step.done) / static_cast<double>(step.total);
  const auto filled = static_cast<std::size_t>(part * static_cast<double>(kBarColumns));
  return fmt::format(" [{}{}] {:3.0f} %  ", std::string(filled, '#'), std::string(kBarColumns - filled, '-'),
                     part * 100);
}

/// Returns the time for the rest of a step of which more was done than `first`.
double rest_s(const Step& step, std::uint64_t first, double seconds) {
  return seconds * static_cast<double>(step.total - step.done) / static_cast<double>(step.done - first);
}

}  // namespace

std::string to_words(double seconds) {
  constexpr std::uint64_t kMinute = 60, kHour = 3600;
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < kMinute) return fmt::format("{} s", whole);
  if (whole < kHour) return fmt::format("{} min {} s", whole / kMinute, whole % kMinute);
  return fmt::format("{} h {} min", whole / kHour, whole % kHour / kMinute);
}

std::string forecast(const Step& step, std::uint64_t first, double seconds) {
  if (step.done <= first || step.done >= step.total) return {};
  const double rest = rest_s(step, first, seconds);
  if (rest < kLong_s) return {};
  return fmt::format("{}: {} after {}; the rest will take about {}", step.name, amount(step),
                     to_words(seconds), to_words(rest));
}

ProgressLine::ProgressLine()
    : terminal_(is_terminal()), every_ns_(terminal_ ? kDrawEvery_ns : kForecastEvery_ns), next_draw_ns_(0) {}

ProgressLine::~ProgressLine() { erase(); }

void ProgressLine::erase() noexcept {
  if (std::exchange(drawn_, false)) write_now(kErase);
}

void ProgressLine::show(const Step& step) noexcept {
  const bool is_new = name_.load(std::memory_order_relaxed) != step.name;
  const std::uint64_t now = now_ns();
  if (!is_new && now < next_draw_ns_.load(std::memory_order_relaxed)) return;
  std::unique_lock lock(mutex_, std::defer_lock);
  if (step.name == nullptr)
    lock.lock();  // the end is reported only once
  else if (!lock.try_lock())
    return;  // another thread draws
  try {
    if (name_.load(std::memory_order_relaxed) != step.name || step.done < begin_done_)
      begin(step, now);
    else if (now >= next_draw_ns_.load(std::memory_order_relaxed))
      draw(step, now);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): there is no line for want of memory
  }
}

/// Begins a step. A short step draws nothing.
void ProgressLine::begin(const Step& step, std::uint64_t now_ns) noexcept {
  if (step.name == nullptr) erase();
  name_.store(step.name, std::memory_order_relaxed);
  next_draw_ns_.store(now_ns + every_ns_, std::memory_order_relaxed);
  begin_ns_ = now_ns;
  begin_done_ = step.done;
}

void ProgressLine::draw(const Step& told, std::uint64_t now_ns) {
  next_draw_ns_.store(now_ns + every_ns_, std::memory_order_relaxed);
  if (told.name == nullptr) return;
  const Step step{told.name, told.total == 0 ? told.done : std::min(told.done, told.total), told.total,
                  told.unit, told.details};
  const double seconds = static_cast<double>(now_ns - begin_ns_) / 1e9;
  if (terminal_) return draw_on_terminal(step, seconds);
  if (told_.contains(step.name)) return;
  const std::string line = forecast(step, begin_done_, seconds);
  if (line.empty()) return;
  told_.emplace(step.name);
  note(line);
}

void ProgressLine::draw_on_terminal(const Step& step, double seconds) {
  const std::string details = step.details ? step.details() : "";
  std::string line = fmt::format("{}{}", kErase, step.name);
  if (step.total > 0) {
    line += bar(step) + amount(step);
    if (!details.empty()) line += ", " + details;
    if (step.done > begin_done_ && step.done < step.total)
      line += fmt::format(", {} left", to_words(rest_s(step, begin_done_, seconds)));
  } else {
    line += fmt::format(": {}, {}", details.empty() ? amount(step) : details, to_words(seconds));
  }
  write_now(std::string_view(line).substr(0, kErase.size() + columns() - 1));
  drawn_ = true;
}

Progress progress_on_stderr() {
  if (is_quiet()) return {};
  return [line = std::make_shared<ProgressLine>()](const Step& step) { line->show(step); };
}

Progress progress_on_terminal() { return is_terminal() ? progress_on_stderr() : Progress(); }

Ticker::Ticker(Progress progress, std::function<std::string()> details) : progress_(std::move(progress)) {
  step_.details = std::move(details);
  if (!progress_) return;
  thread_ = std::jthread([this](const std::stop_token& stop) {
    std::condition_variable_any ended;
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      ended.wait_for(lock, stop, std::chrono::nanoseconds(kDrawEvery_ns), [] { return false; });
      if (step_.name != nullptr) progress_(step_);
    }
  });
}

void Ticker::tell(const Step& step) {
  if (!progress_) return;
  const std::scoped_lock lock(mutex_);
  step_ = {step.name, step.done, step.total, step.unit, std::move(step_.details)};
  progress_(step_);
}

}  // namespace edgewire::report
