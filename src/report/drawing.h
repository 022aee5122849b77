// This file has the means to draw charts.
#pragma once

#include <fmt/core.h>

#include <iterator>
#include <string>
#include <string_view>

#include "report/html.h"

namespace edgewire::report {

/// A chart while it is drawn, in units of an SVG view box. Styles are classes of the page. Text is escaped.
class Drawing {
 public:
  /// The places in charts with a linear axis on the left.
  static constexpr double kWidth = 440, kLeft = 58, kRight = 430, kTop = 6;
  static constexpr std::size_t kColours = 6, kDashes = 4;

  explicit Drawing(std::string_view title, double width = kWidth) : width_(width), title_(escaped(title)) {}
  void legend(std::string_view style, std::string_view name) {
    legend_ += fmt::format("<span><i class=\"{}\"></i>{}</span>", style, escaped(name));
  }
  void line(double x1, double y1, double x2, double y2, std::string_view style = "grid") {
    add("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" />\n", style, x1, y1, x2,
        y2);
  }
  void text(double x, double y, std::string_view words, std::string_view anchor = "start",
            std::string_view style = "soft") {
    add("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", style, x, y, anchor,
        escaped(words));
  }
  /// Draws a box. `title`: the text that is shown on touch.
  void box(std::string_view style, double x, double y, double width, double height, std::string_view title) {
    add("<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
        "height=\"{:.2f}\"><title>{}</title></rect>\n",
        style, x, y, width, height, escaped(title));
  }
  void curve(std::size_t colour, std::size_t dashes, const Points& points) {
    add("<polyline class=\"curve l{} d{}\" points=\"", colour % kColours, dashes % kDashes);
    for (const auto& [x, y] : points) add("{:.1f},{:.1f} ", x, y);
    add("\" />\n");
  }
  /// Draws ticks at 0, a half and `most`.
  void y_axis(double most, double bottom) {
    for (const double share : {0.0, 0.5, 1.0}) {
      const double y = bottom - share * (bottom - kTop);
      line(kLeft, y, kRight, y);
      text(kLeft - 5, y + 4, tick_text(share * most), "end");
    }
  }
  /// Adds any other shape.
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(shapes_), format, std::forward<Arguments>(arguments)...);
  }
  /// Returns the chart as a `<figure>`.
  std::string figure(double height) const {
    return fmt::format(
        "<figure><figcaption>{}</figcaption>\n<div class=\"legend\">{}</div>\n"
        "<svg viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\">\n{}</svg></figure>\n",
        title_, legend_, width_, height, title_, shapes_);
  }

 private:
  double width_;
  std::string title_, legend_, shapes_;
};

}  // namespace edgewire::report
