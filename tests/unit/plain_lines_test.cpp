
#include <fmt/core.h>

#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "graph/file/format.h"
#include "graph/read/edge_lines.h"
#include "graph_test.h"

namespace edgewire::graph {

namespace {

/// The ids of all lines that are no comments, one token after the other.
std::vector<std::uint64_t> slow_ids(const std::string& text) {
  std::vector<std::uint64_t> ids;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    for (char& c : line)
      if (c == ',' || c == '\t' || c == '\r') c = ' ';
    std::istringstream fields(line);
    for (std::string field; fields >> field && field.find_first_of("#%/") != 0;)
      ids.push_back(std::stoull(field));
  }
  return ids;
}

class Parser {
 public:
  Parser() {
    write_file(folder_ / "g.txt", "");
    input_ = std::make_unique<Input>(folder_ / "g.txt");
  }

  /// The text lies in memory of its own length, so that a sanitizer sees what is read behind it.
  std::vector<std::uint64_t> operator()(const std::string& text, const LineShape& shape = {}) {
    const std::unique_ptr<char[]> copy(new char[text.size()]);
    std::copy(text.begin(), text.end(), copy.get());
    Piece piece;
    piece.text = {copy.get(), text.size()};
    parse_edge_lines(*input_, piece, shape, edges_);
    CHECK(edges_.size() == edges_.all_ids().size() / 2);
    return edges_.all_ids();
  }
  std::string error(const std::string& text, const LineShape& shape = {}) {
    write_file(folder_ / "g.txt", text);
    Input input(folder_ / "g.txt");
    Piece piece;
    REQUIRE(input.next_lines(piece));
    return error_of([&] { parse_edge_lines(input, piece, shape, edges_); });
  }

 private:
  TemporaryDirectory folder_;
  std::unique_ptr<Input> input_;
  ParsedEdges edges_;
};

std::string number_of(std::mt19937_64& random, int digits) {
  std::string number(1, static_cast<char>('1' + random() % (digits == 20 ? 1 : 9)));
  // Those of 20 digits stay below 2^64, which is 18446744073709551616.
  while (static_cast<int>(number.size()) < digits)
    number += static_cast<char>('0' + random() % (digits == 20 ? 8 : 10));
  return number;
}

}  // namespace

TEST_CASE("plain lines: numbers of all lengths, with all separators and line ends") {
  std::mt19937_64 random(1);
  Parser parse;
  for (const char* const gap : {" ", "\t", ",", "  ", " , "})
    for (const char* const line_end : {"\n", "\r\n", " \n", "\r\r\n"})
      for (int longest = 1; longest <= 20; ++longest) {
        std::string text;
        for (int line = 0; line < 300; ++line) {
          const auto digits = [&] {
            return line % 40 == 39 ? longest
                                   : 1 + static_cast<int>(random() % static_cast<unsigned>(longest));
          };
          text += number_of(random, digits()) + gap + number_of(random, digits()) + line_end;
        }
        CHECK(parse(text) == slow_ids(text));
        text.resize(text.find_last_of("0123456789") + 1);  // no line end
        CHECK(parse(text) == slow_ids(text));
      }
}

TEST_CASE("plain lines: others among them, wherever they are") {
  std::mt19937_64 random(2);
  Parser parse;
  const std::vector<std::string> others = {"# a comment\n", "\n",
                                           "  \n",          "% 1 2\n",
                                           "//\n",          " 7 8\n",
                                           "7 8 \n",        "007 0000000000000000000008\n",
                                           "5\t\t6\n",      "4294967296 1\n",
                                           "0 0\r\n",       "1,2\n"};
  for (int run = 0; run < 300; ++run) {
    std::string text;
    const std::uint64_t rare = 1 + random() % 200;
    for (int line = 0; line < 1500; ++line)
      text += random() % rare == 0 ? others[random() % others.size()]
                                   : fmt::format("{} {}\n", random() % 3'000'000, random() % 300);
    CHECK(parse(text) == slow_ids(text));
  }
}

TEST_CASE("plain lines: what is wrong is named with its line and column, however far inside it is") {
  Parser parse;
  for (const std::size_t lines : {0, 1, 5, 40, 1000, 5000}) {
    std::string before;
    for (std::size_t line = 0; line < lines; ++line) before += fmt::format("{} {}\n", line * 7, line);
    const std::string after = before + before + "1 2\n";
    const auto refusal = [&](const std::string& wrong, const LineShape& shape = {}) {
      return parse.error(fmt::format("{}{}{}", before, wrong, after), shape);
    };
    const std::string line = fmt::format("line {}, column ", lines + 1);
    CHECK(contains(refusal("1 -2\n"), fmt::format("{}{}: a vertex id is negative", line, 3)));
    CHECK(contains(refusal("+1 2\n"), fmt::format("{}{}: expected a vertex id", line, 1)));
    CHECK(contains(refusal("1 2x\n"), line));
    CHECK(contains(refusal("12\n"), "the line ends where a vertex id should be"));
    CHECK(contains(refusal("1 18446744073709551616\n"), "the vertex id does not fit 64 bits"));
    CHECK(contains(refusal("1 99999999999999999999\n"), "the vertex id does not fit 64 bits"));
    CHECK(contains(refusal("1 2\r3 4\n"), fmt::format("{}{}: lines end in CR alone", line, 4)));
    LineShape shape;
    shape.fields = 2;
    CHECK(contains(refusal("1 2 3\n", shape), "3 fields where each edge of this file has 2"));
    shape.max_id = 100'000;
    CHECK(contains(refusal("1 100001\n", shape), "vertex id 100001 is not within 0 to 100000"));
    CHECK(parse(before + "1 100000\n", shape).size() == 2 * lines + 2);
  }
}

TEST_CASE("plain lines: ids less the first one") {
  Parser parse;
  LineShape shape;
  shape.min_id = shape.origin = 1;
  shape.max_id = 4'294'967'295;
  std::string text, less;
  for (std::uint64_t line = 1; line < 3000; ++line) {
    text += fmt::format("{} {}\n", line, 4'294'967'296 - line);
    less += fmt::format("{} {}\n", line - 1, 4'294'967'295 - line);
  }
  CHECK(parse(text, shape) == slow_ids(less));
  CHECK(contains(parse.error(text + "0 1\n" + text, shape), "line 3000, column 1"));
}

#if defined(__x86_64__)
TEST_CASE("plain lines: most of them are read at once") {
  std::string text(kBeforePlainLines, '\n');
  for (int line = 0; line < 5000; ++line) text += fmt::format("{}\t{}\r\n", line * 1234, line);
  std::vector<std::uint32_t> ids(text.size() / 2);
  const std::string_view lines = std::string_view(text).substr(kBeforePlainLines);
  const auto read = parse_plain_lines<std::uint32_t>(lines, {}, ids.data());
  CHECK(lines.data() + lines.size() - read.next < 128);
  CHECK(static_cast<std::size_t>(read.ids_end - ids.data()) > 2 * 4980);
  // Other gaps, and ids of more bits than there is room for.
  CHECK(parse_plain_lines<std::uint32_t>(lines, {.gaps = {',', ' ', ';'}}, ids.data()).next == lines.data());
  const auto narrow = parse_plain_lines<std::uint32_t>(lines, {.max_id = 10}, ids.data());
  CHECK(narrow.next == lines.data());
}
#endif

}  // namespace edgewire::graph
