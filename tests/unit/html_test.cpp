// Whether browsers and strict parsers take whole pages is tested end to end.
#include "report/html.h"

#include <doctest/doctest.h>

namespace edgewire::report {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST_CASE("text is escaped, and what XML does not allow is replaced") {
  const std::string replaced = "\xEF\xBF\xBD";
  CHECK(escaped("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&#39;");
  CHECK(escaped("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80\t\n") ==
        "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80\t\n");
  CHECK(escaped(std::string("a\0b\x1B", 4)) == "a" + replaced + "b" + replaced);
  CHECK(escaped("\xFF\xC3") == replaced + replaced);                 // no UTF-8, cut short
  CHECK(escaped("\xC0\xAF") == replaced + replaced);                 // overlong /
  CHECK(escaped("\xED\xA0\x80") == replaced + replaced + replaced);  // half of a surrogate pair
  CHECK(escaped("\xEF\xBF\xBF") == replaced + replaced + replaced);  // U+FFFF
  CHECK(escaped("\xF4\x90\x80\x80") == replaced + replaced + replaced + replaced);  // above U+10FFFF
}

TEST_CASE("all that a page is given is escaped") {
  Page page("<t>", "<s>");
  page.heading("<h>");
  page.paragraph("<p>");
  page.highlight("<q>");
  page.list({"<l>"});
  page.table({{"<a>"}, "<", {{"<c>"}}});
  BarChart bars;
  bars.title = bars.mark_name = "<b>";
  bars.series = {"<e>"};
  bars.groups = {{"<g>", {{0, 1, 1, 1, -1, "<x>", "<y>"}}}};
  LineChart lines;
  lines.title = lines.x_label = lines.y_label = lines.dots_name = "<z>";
  lines.series = {{"<n>", {{1, 1}, {2, 2}}, {{1, 1}}}};
  page.figures({to_figure(bars), to_figure(lines)});
  const std::string html = page.html();
  for (const char letter : std::string("tsqlcexyzn")) {
    CAPTURE(letter);
    CHECK_FALSE(contains(html, std::string("<") + letter + ">"));
    CHECK(contains(html, std::string("&lt;") + letter + "&gt;"));
  }
  for (const char* text : {"&lt;h&gt;", "&lt;p&gt;", "&lt;a&gt;", "&lt;b&gt;", "&lt;g&gt;"})
    CHECK(contains(html, text));
}

TEST_CASE("charts without spread or extent have finite shapes") {
  BarChart bars;
  bars.series = {"a"};
  bars.groups = {{"zero", {{0, 0, 0, 0, 0, "0", ""}}}};
  LineChart lines;
  const std::string none = to_figure(lines);
  lines.series = {{"a", {}, {{1, 1}}}};
  for (const std::string& figure : {to_figure(bars), none, to_figure(lines)}) {
    CHECK(contains(figure, "</svg></figure>"));
    CHECK_FALSE(contains(figure, "nan"));
    CHECK_FALSE(contains(figure, "inf"));
  }
}

TEST_CASE("ticks are plain numbers") {
  CHECK(tick_text(0) == "0");
  CHECK(tick_text(0.00005) == "0.00005");
  CHECK(tick_text(0.05) == "0.05");
  CHECK(tick_text(2.5) == "2.5");
  CHECK(tick_text(1600) == "1600");
  CHECK(tick_text(2e9) == "2000000000");
}

TEST_CASE("a chart without values says so and has no axes") {
  const std::string figure = to_figure(LineChart{});
  CHECK(contains(figure, "nothing was measured"));
  CHECK_FALSE(contains(figure, "grid"));
}

TEST_CASE("series that coincide can be told apart by dashes and rings") {
  LineChart lines;
  for (const char* name : {"worker", "process"})
    lines.series.push_back({name, {{1, 1600}, {2, 3200}}, {{1, 1600}}});
  const std::string figure = to_figure(lines);
  CHECK(contains(figure, "curve l0 d0"));
  CHECK(contains(figure, "curve l1 d1"));
  CHECK(contains(figure, "r=\"7.0\""));
  CHECK(contains(figure, "r=\"5.5\""));
}

TEST_CASE("bars are as long as their values") {
  BarChart bars;
  bars.series = {"a"};
  bars.groups = {{"g", {{0, 10, 10, 10, -1, "10", ""}, {0, 5, 4, 6, 2, "5", ""}}}};
  const std::string figure = to_figure(bars);
  CHECK(contains(figure, "width=\"268.0\""));
  CHECK(contains(figure, "width=\"134.0\""));
  CHECK(contains(figure, "class=\"mark\""));
}

}  // namespace
}  // namespace edgewire::report
