#include <cstdint>
#include <limits>
#include <vector>

#include "graph_inputs.h"
#include "graph_test.h"
#include "runs/values.h"

namespace edgewire::runs {

TEST_CASE("the name of an output tells the form of its text") {
  for (const char* name : {"r.csv", "a.b/R.CSV", "r.csv.gz", "r.Csv.zst"})
    CHECK(text_form_of(name) == TextForm::csv);
  for (const char* name : {"r.json", "r.json.gz", "r.csv.json"}) CHECK(text_form_of(name) == TextForm::json);
  for (const char* name : {"-", "csv", "r.tsv", "r.csv/r", "r.csv.tsv", "r.txt.gz", ".csvs"})
    CHECK(text_form_of(name) == TextForm::lines);
}

TEST_CASE("lines of results name vertices and say what is unreached") {
  using Form = Values::Form;
  graph::TemporaryDirectory folder;
  graph::build(folder / "g.ew", 3, {}, {}, {5'000'000'000, 7, 9});
  const auto graph = Graph::open(folder / "g.ew");
  const auto lines = [&](const std::vector<VertexId>& vertices, Form form, auto numbers, int digits = 17) {
    using Number = typename decltype(numbers)::value_type;
    return text_of(graph, vertices, {form, std::span<const Number>(numbers), digits}, TextForm::lines);
  };
  CHECK(lines({0, 2}, Form::level, std::vector<std::uint32_t>{4'000'000'000, 0xffffffff}) ==
        "5000000000\t4000000000\n9\t9223372036854775807\n");
  CHECK(lines({0, 1, 2}, Form::distance,
              std::vector{0.1F, std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()}) ==
        "5000000000\t0.1\n7\t3.4028235e+38\n9\tinfinity\n");
  CHECK(lines({0, 1, 2}, Form::distance,
              std::vector{0.1 + 0.2, 1e300, std::numeric_limits<double>::infinity()}) ==
        "5000000000\t0.30000000000000004\n7\t1e+300\n9\tinfinity\n");
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  CHECK(lines({0, 1, 2}, Form::distance, std::vector<std::uint64_t>{16'777'219, kMost - 2, kMost}) ==
        "5000000000\t16777219\n7\t18446744073709551613\n9\tinfinity\n");
  CHECK(lines({1, 2}, Form::vertex, std::vector<PlainId>{0, kNoVertex}) == "7\t5000000000\n9\t-1\n");
  CHECK(lines({1}, Form::number, std::vector{1.0 / 3}, 9) == "7\t0.333333333\n");
  const std::vector<double> doubles{0.5, 2.0, 1e9};
  const Values all{Form::number, std::span(doubles), 17, "rank"};
  CHECK(text_of_all(graph, all, TextForm::lines) == "5000000000\t0.5\n7\t2\n9\t1000000000\n");
  CHECK(text_of_all(graph, all, TextForm::csv) == "vertex,rank\n5000000000,0.5\n7,2\n9,1000000000\n");
  CHECK(text_of_all(graph, all, TextForm::json) ==
        "[\n{\"vertex\":5000000000,\"rank\":0.5},\n{\"vertex\":7,\"rank\":2},\n"
        "{\"vertex\":9,\"rank\":1000000000}\n]\n");
}

TEST_CASE("tables have an empty field and JSON has null where there is no value") {
  using Form = Values::Form;
  const graph::TemporaryDirectory folder;
  graph::build(folder / "g.ew", 2, {}, {});
  const auto graph = Graph::open(folder / "g.ew");
  const auto check = [&](Form form, const auto& numbers, const std::string& value) {
    using Number = typename std::decay_t<decltype(numbers)>::value_type;
    const Values values{form, std::span<const Number>(numbers), 17, "x"};
    CHECK(text_of_all(graph, values, TextForm::csv) == "vertex,x\n0," + value + "\n1,\n");
    CHECK(text_of_all(graph, values, TextForm::json) ==
          "[\n{\"vertex\":0,\"x\":" + value + "},\n{\"vertex\":1,\"x\":null}\n]\n");
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  check(Form::level, std::vector<std::uint32_t>{3, 0xffffffff}, "3");
  check(Form::distance, std::vector<std::uint64_t>{3, std::numeric_limits<std::uint64_t>::max()}, "3");
  check(Form::distance, std::vector{1e300, kInfinity}, "1e+300");
  check(Form::distance, std::vector{0.1F, std::numeric_limits<float>::infinity()}, "0.1");
  check(Form::vertex, std::vector<PlainId>{1, kNoVertex}, "1");
  check(Form::number, std::vector{0.25, -kInfinity}, "0.25");
  check(Form::number, std::vector{-0.25, std::numeric_limits<double>::quiet_NaN()}, "-0.25");
  const Values none{Form::number, std::span<const double>()};
  CHECK(text_of(graph, {}, none, TextForm::csv) == "vertex,value\n");
  CHECK(text_of(graph, {}, none, TextForm::json) == "[\n\n]\n");
}

TEST_CASE("names are quoted as tables and JSON have them") {
  const graph::Converter converter;
  const auto graph = converter("n.txt", "\"a,\"\"b\\\"\tc\xFF\n\" # x\"\t\"a,\"\"b\\\"\n", {.labels = true});
  const std::vector<PlainId> parents{1, 0, 2};
  const Values values = shown_parents(parents);
  CHECK(text_of_all(graph, values, TextForm::lines) == " # x\ta,\"b\\\na,\"b\\\t # x\nc\xFF\tc\xFF\n");
  CHECK(text_of_all(graph, values, TextForm::csv) ==
        "vertex,parent\n\" # x\",\"a,\"\"b\\\"\n\"a,\"\"b\\\",\" # x\"\nc\xFF,c\xFF\n");
  CHECK(text_of_all(graph, values, TextForm::json) ==
        "[\n{\"vertex\":\" # x\",\"parent\":\"a,\\\"b\\\\\"},\n"
        "{\"vertex\":\"a,\\\"b\\\\\",\"parent\":\" # x\"},\n"
        "{\"vertex\":\"c\xEF\xBF\xBD\",\"parent\":\"c\xEF\xBF\xBD\"}\n]\n");
}

}  // namespace edgewire::runs
