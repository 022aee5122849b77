#include "report/html.h"

#include <fmt/core.h>

namespace edgewire::report {

namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --page: #fbfbfa; --card: #fff; --text: #1d1f23; --soft: #61666f; --line: #dfe1e5;
  --s0: #3f6fd1; --s1: #e08a1e; --s2: #2f9e6e; --s3: #b8489b; --s4: #7a62d3; --s5: #8a6d4b; }
@media (prefers-color-scheme: dark) { :root { --page: #15171a; --card: #1d2024; --text: #e8e9eb; --soft: #a0a6b0;
  --line: #363b42; --s0: #7aa2f2; --s1: #f0ac55; --s2: #5cc795; --s3: #dd84c6; --s4: #a797f0; --s5: #c2a27c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif;
  -webkit-text-size-adjust: 100%; text-size-adjust: 100%; overflow-wrap: anywhere; }
main { max-width: 74rem; margin: 0 auto; padding: 1.25rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
.subtitle, footer { color: var(--soft); margin: .3rem 0 1.4rem; }
footer { margin-top: 2.5rem; font-size: .85rem; }
.highlight { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--s0);
  border-radius: 6px; padding: .7rem 1rem; margin: .6rem 0; font-weight: 500; }
.charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); }
figure { margin: 0; min-width: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .9rem 1rem; }
figcaption { font-weight: 600; margin-bottom: .3rem; }
svg { display: block; width: 100%; height: auto; max-width: 30rem; font: 12px system-ui, sans-serif; fill: var(--text); }
.legend { display: flex; flex-wrap: wrap; gap: .1rem .9rem; font-size: .82rem; color: var(--soft); margin-bottom: .5rem; }
.legend i { display: inline-block; width: .7em; height: .7em; border-radius: 2px; margin-right: .35em; }
.legend .bar { width: 3px; height: 1em; border-radius: 0; background: var(--text); vertical-align: -.15em; }
.legend .dot { border-radius: 50%; background: none; border: 2px solid var(--soft); }
.s0 { fill: var(--s0); background: var(--s0); } .s1 { fill: var(--s1); background: var(--s1); }
.s2 { fill: var(--s2); background: var(--s2); } .s3 { fill: var(--s3); background: var(--s3); }
.s4 { fill: var(--s4); background: var(--s4); } .s5 { fill: var(--s5); background: var(--s5); }
.l0 { stroke: var(--s0); } .l1 { stroke: var(--s1); } .l2 { stroke: var(--s2); } .l3 { stroke: var(--s3); }
.l4 { stroke: var(--s4); } .l5 { stroke: var(--s5); }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
.d1 { stroke-dasharray: 8 6; } .d2 { stroke-dasharray: 2 5; } .d3 { stroke-dasharray: 12 4 2 4; }
.measured { fill: none; stroke-width: 2; }
.grid { stroke: var(--line); stroke-width: 1; }
.mark { stroke: var(--text); stroke-width: 2.5; }
.spread { stroke: var(--text); stroke-opacity: .55; stroke-width: 1.2; }
.soft { fill: var(--soft); }
.group { font-weight: 600; }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
tbody tr:last-child td { border-bottom: 0; }
.text { text-align: left; }
ul { padding-left: 1.2rem; } li { margin: .25rem 0; }
)";

/// Returns the length of the UTF-8 sequence that `text` begins with when XML allows its character, else 0.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' ? 1 : 0;
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  unsigned code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool forbidden =
      (code >= 0xD800 && code < 0xE000) || code == 0xFFFE || code == 0xFFFF || code > 0x10FFFF;
  return overlong || forbidden ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  constexpr std::string_view kMarkup = "&<>\"'";
  constexpr const char* kEscaped[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (const auto markup = kMarkup.find(text.front()); markup != kMarkup.npos)
      result += kEscaped[markup];
    else
      result += bytes == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result;
}

Page::Page(std::string_view title, std::string_view subtitle) : title_(escaped(title)) {
  body_ = fmt::format("<h1>{}</h1>\n<p class=\"subtitle\">{}</p>\n", title_, escaped(subtitle));
}

void Page::heading(std::string_view text) { body_ += fmt::format("<h2>{}</h2>\n", escaped(text)); }
void Page::paragraph(std::string_view text) { body_ += fmt::format("<p>{}</p>\n", escaped(text)); }
void Page::highlight(std::string_view text) {
  body_ += fmt::format("<p class=\"highlight\">{}</p>\n", escaped(text));
}

void Page::list(const std::vector<std::string>& items) {
  if (items.empty()) return;
  body_ += "<ul>\n";
  for (const auto& item : items) body_ += fmt::format("<li>{}</li>\n", escaped(item));
  body_ += "</ul>\n";
}

void Page::table(const Table& table) {
  const auto row = [&](const std::vector<std::string>& cells, std::string_view tag) {
    body_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      body_ += fmt::format("<{}{}>{}</{}>", tag, table.has_text(i) ? " class=\"text\"" : "",
                           escaped(cells[i]), tag);
    }
    body_ += "</tr>\n";
  };
  // The table can be reached by keyboard, since it scrolls.
  body_ += "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table>\n<thead>\n";
  row(table.header, "th");
  body_ += "</thead>\n<tbody>\n";
  for (const auto& cells : table.rows) row(cells, "td");
  body_ += "</tbody>\n</table></div>\n";
}

void Page::figures(const std::vector<std::string>& figures) {
  body_ += "<div class=\"charts\">\n";
  for (const auto& figure : figures) body_ += figure;
  body_ += "</div>\n";
}

std::string Page::html() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
      "<link rel=\"icon\" href=\"data:,\" "
      "/>\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}"
      "<footer>Edgewire {}</footer>\n</main>\n</body>\n</html>\n",
      title_, kStyle, body_, EDGEWIRE_VERSION);
}

}  // namespace edgewire::report
