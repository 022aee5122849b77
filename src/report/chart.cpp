#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "report/drawing.h"
#include "report/html.h"

namespace edgewire::report {

namespace {

// The approximate pixels of a chart on a phone, and as one of three on a desktop.
constexpr double kWidth = 360;

std::string colour_of(std::size_t series) { return fmt::format("s{}", series % Drawing::kColours); }

/// A logarithmic axis from decade digits 1, 2 or 5 around its values.
class LogAxis {
 public:
  LogAxis(double least, double most, double from, double to) : from_(from), to_(to) {
    least_ = round_to_tick(least, false);
    most_ = round_to_tick(most, true);
    if (most_ <= least_) most_ = least_ * 10;
  }
  double at(double value) const {
    return from_ + (to_ - from_) * std::log(value / least_) / std::log(most_ / least_);
  }
  /// Returns all of 1, 2, 5 of each decade, or only the decades when these are many.
  std::vector<double> ticks() const {
    const bool few = most_ / least_ < 2000;
    std::vector<double> result;
    const auto first = static_cast<int>(std::floor(std::log10(least_) + 1e-9));
    for (int exponent = first; std::pow(10, exponent) <= most_ * 1.001; ++exponent)
      for (const double digit : {1.0, 2.0, 5.0}) {
        const double tick = std::pow(10, exponent) * digit;
        if ((few || digit == 1) && tick >= least_ * 0.999 && tick <= most_ * 1.001) result.push_back(tick);
      }
    return result;
  }

 private:
  static double round_to_tick(double value, bool up) {
    const double decade = std::pow(10, std::floor(std::log10(value)));
    double below = decade;
    for (const double digit : {1.0, 2.0, 5.0, 10.0}) {
      if (value <= decade * digit * 1.0001)
        return up || value >= decade * digit * 0.9999 ? decade * digit : below;
      below = decade * digit;
    }
    return below;
  }
  double from_, to_, least_, most_;
};

struct Extent {
  double least = INFINITY, most = 0;
  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

void draw_axes(Drawing& drawing, const LineChart& chart, const LogAxis& x, const LogAxis& y, double left,
               double right, double top, double bottom) {
  for (const double tick : x.ticks()) {
    drawing.line(x.at(tick), top, x.at(tick), bottom);
    drawing.text(x.at(tick), bottom + 15, tick_text(tick), "middle");
  }
  for (const double tick : y.ticks()) {
    drawing.line(left, y.at(tick), right, y.at(tick));
    drawing.text(left - 5, y.at(tick) + 4, tick_text(tick), "end");
  }
  drawing.text((left + right) / 2, bottom + 32, chart.x_label, "middle");
  drawing.text(4, top - 9, chart.y_label);
}

}  // namespace

std::string tick_text(double value) {
  if (value == 0 || value >= 1000) return fmt::format("{:.0f}", value);
  if (value >= 1e-3) return fmt::format("{:.3g}", value);
  std::string text = fmt::format("{:.9f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

std::string to_figure(const BarChart& chart) {
  constexpr double kBar = 17, kGap = 4, kLabel = 20, kBetween = 10, kText = 92;
  Drawing drawing(chart.title, kWidth);
  for (std::size_t s = 0; s < chart.series.size(); ++s) drawing.legend(colour_of(s), chart.series[s]);
  if (!chart.mark_name.empty()) drawing.legend("bar", chart.mark_name);
  Extent extent;
  for (const auto& group : chart.groups)
    for (const auto& bar : group.bars) extent.add(std::max({bar.value, bar.high, bar.mark}));
  const double scale = extent.most > 0 ? (kWidth - kText) / extent.most : 0;
  double y = 2;
  for (const auto& group : chart.groups) {
    drawing.text(0, y + 12, group.label, "start", "group");
    y += kLabel;
    for (const auto& bar : group.bars) {
      drawing.add("<g><title>{}</title>\n", escaped(bar.title.empty() ? bar.text : bar.title));
      drawing.add("<rect class=\"{}\" x=\"0\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"2\" />\n",
                  colour_of(bar.series), y, std::max(bar.value * scale, 1.0), kBar);
      if (bar.high > bar.low) {
        const double middle = y + kBar / 2;
        drawing.line(bar.low * scale, middle, bar.high * scale, middle, "spread");
        for (const double end : {bar.low, bar.high})
          drawing.line(end * scale, middle - 3, end * scale, middle + 3, "spread");
      }
      if (bar.mark >= 0)
        drawing.line(bar.mark * scale + 1, y - 2, bar.mark * scale + 1, y + kBar + 2, "mark");
      drawing.text(std::max({bar.value, bar.high, bar.mark}) * scale + 7, y + 13, bar.text, "start", "");
      drawing.add("</g>\n");
      y += kBar + kGap;
    }
    y += kBetween;
  }
  return drawing.figure(y);
}

std::string to_figure(const LineChart& chart) {
  constexpr double kLeft = 44, kRight = kWidth - 8, kTop = 22, kBottom = 250, kHeight = 290;
  Drawing drawing(chart.title, kWidth);
  Extent xs, ys;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    drawing.legend(colour_of(chart.first_colour + s), chart.series[s].name);
    for (const auto* points : {&chart.series[s].line, &chart.series[s].dots})
      for (const auto& [x, y] : *points) {
        xs.add(x);
        ys.add(y);
      }
  }
  if (!chart.dots_name.empty()) drawing.legend("dot", chart.dots_name);
  if (xs.most <= 0) {
    drawing.text(0, kTop, "nothing was measured");
    return drawing.figure(2 * kTop);
  }
  const LogAxis x(xs.least, xs.most, kLeft, kRight), y(ys.least, ys.most, kBottom, kTop);
  draw_axes(drawing, chart, x, y, kLeft, kRight, kTop, kBottom);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    // The line is dashed, so that one that lies upon another hides it in parts only.
    auto points = chart.series[s].line;
    for (auto& [at, value] : points) at = x.at(at), value = y.at(value);
    drawing.curve(chart.first_colour + s, s, points);
  }
  for (std::size_t s = 0; s < chart.series.size(); ++s)
    for (const auto& [at, value] : chart.series[s].dots)
      drawing.add(
          "<circle class=\"measured l{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"><title>{}: "
          "{:.4g}</title></circle>\n",
          (chart.first_colour + s) % Drawing::kColours, x.at(at), y.at(value),
          7.0 -
              1.5 * static_cast<double>(s % Drawing::kDashes),  // rings inside each other where they coincide
          escaped(chart.series[s].name), value);
  return drawing.figure(kHeight);
}

}  // namespace edgewire::report
