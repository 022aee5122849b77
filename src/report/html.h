// This file writes pages for people: one HTML file with tables and charts, without network or script, for
// dark or light and for phones. It is well-formed as XML, so that any strict parser can check it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/table.h"

namespace edgewire::report {

/// Returns text for HTML and XML: markup is escaped, and what may not stand in XML becomes U+FFFD.
std::string escaped(std::string_view text);

/// Returns a figure beside an axis: three digits or more, never with an exponent ("1600", "0.05"). `value`
/// is not below 0.
std::string tick_text(double value);

/// Horizontal bars in labelled groups.
struct BarChart {
  struct Bar {
    std::size_t series = 0;  ///< index into `series`
    double value = 0, low = 0, high = 0;
    double mark = -1;   ///< limit, drawn across the bar; below 0: none
    std::string text;   ///< text beside the bar
    std::string title;  ///< text that is shown on touch
  };
  struct Group {
    std::string label;
    std::vector<Bar> bars;
  };
  std::string title;
  std::vector<std::string> series;
  std::string mark_name;  ///< name for the legend; empty: there are no marks
  std::vector<Group> groups;
};

using Points = std::vector<std::pair<double, double>>;

/// Lines and dots over two logarithmic axes. All coordinates are above 0.
struct LineChart {
  struct Series {
    std::string name;
    Points line, dots;
  };
  std::string title, x_label, y_label;
  std::vector<Series> series;
  /// Colour of the first series, so that it is not mistaken for one of a chart beside it.
  std::size_t first_colour = 0;
  std::string dots_name;  ///< name for the legend
};

/// Returns a chart as a `<figure>`.
std::string to_figure(const BarChart& chart);
std::string to_figure(const LineChart& chart);

/// A page that is written from top to bottom. All text that it is given is escaped.
class Page {
 public:
  Page(std::string_view title, std::string_view subtitle);
  void heading(std::string_view text);
  void paragraph(std::string_view text);
  /// Adds a text that a reader must not miss.
  void highlight(std::string_view text);
  void list(const std::vector<std::string>& items);
  void table(const Table& table);
  /// Adds figures, side by side where there is room.
  void figures(const std::vector<std::string>& figures);
  /// Returns the whole file.
  std::string html() const;

 private:
  std::string title_;
  std::string body_;
};

}  // namespace edgewire::report
