#include "report/progress.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string_view>

namespace edgewire::report {
namespace {

constexpr std::int64_t kDrawEvery_ns = 100'000'000;
constexpr int kBarColumns = 24;
constexpr std::size_t kUsualColumns = 80;
constexpr std::string_view kErase = "\r\033[K";

std::int64_t now_ns() noexcept {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

/// Writes if the terminal takes it at once, else drops it: one call, so that lines of others are not torn.
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

}  // namespace

Progress::Progress(const char* what, std::uint64_t total, const char* unit, bool enabled)
    : what_(what),
      unit_(unit),
      total_(total),
      enabled_(enabled && is_terminal()),
      next_draw_ns_(now_ns() + kDrawEvery_ns) {}

Progress::~Progress() {
  if (drawn_.load(std::memory_order_relaxed)) write_now(kErase);
}

void Progress::set(std::uint64_t done) noexcept {
  if (is_due()) draw(done);
}

/// Whoever moves the due time draws.
bool Progress::is_due() noexcept {
  if (!enabled_) return false;
  const std::int64_t now = now_ns();
  std::int64_t due = next_draw_ns_.load(std::memory_order_relaxed);
  return now >= due &&
         next_draw_ns_.compare_exchange_strong(due, now + kDrawEvery_ns, std::memory_order_relaxed);
}

void Progress::draw(std::uint64_t done) noexcept {
  done = std::min(done, total_);
  const double part = total_ == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total_);
  const auto filled = static_cast<std::size_t>(part * kBarColumns);
  constexpr std::string_view kFull = "########################";
  constexpr std::string_view kEmpty = "------------------------";
  static_assert(kFull.size() == kBarColumns && kEmpty.size() == kBarColumns);
  std::array<char, 256> line{};
  const auto result =
      fmt::format_to_n(line.data(), line.size(), "{}{} [{}{}] {:3.0f} %  {} of {} {}", kErase, what_,
                       kFull.substr(0, filled), kEmpty.substr(filled), part * 100, done, total_, unit_);
  draw_line({line.data(), std::min(result.size, line.size())});
}

void Progress::draw_text(std::string_view text) noexcept {
  std::array<char, 256> line{};
  const auto result = fmt::format_to_n(line.data(), line.size(), "{}{}: {}", kErase, what_, text);
  draw_line({line.data(), std::min(result.size, line.size())});
}

void Progress::draw_line(std::string_view line) noexcept {
  write_now(line.substr(0, kErase.size() + columns() - 1));
  drawn_.store(true, std::memory_order_relaxed);
}

}  // namespace edgewire::report
