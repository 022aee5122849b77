// Weights of all types on their way from text to graph files, and back to text.
#include "graph/file/weights.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "edgewire/graph.h"
#include "graph/convert.h"
#include "graph_inputs.h"

namespace edgewire::graph {

namespace {

using Texts = std::vector<std::string>;

/// Weights as text, and the type that holds all of them without change.
struct Case {
  Texts weights;
  WeightType type;
};

const std::vector<Case>& exact_cases() {
  static const std::vector<Case> kCases = {
      {{"1", "0", "255"}, WeightType::u32},
      {{"16777216", "16777217"}, WeightType::u32},
      {{"4294967295", "1"}, WeightType::u32},
      {{"4294967295", "4294967296"}, WeightType::u64},
      {{"9007199254740993", "3"}, WeightType::u64},
      {{"18446744073709551615", "18446744073709551614", "0"}, WeightType::u64},
      {{"0.5", "3", "16777216"}, WeightType::f32},
      {{"-1", "2.25"}, WeightType::f32},
      {{"0.5", "16777217"}, WeightType::f64},
      {{"0.1", "1"}, WeightType::f64},
      {{"-4294967295", "7"}, WeightType::f64},
      {{"1e-320", "1"}, WeightType::f64},
      {{"1.7976931348623157e+308", "-1.7976931348623157e+308"}, WeightType::f64},
      {{"0.30000000000000004", "9007199254740992"}, WeightType::f64}};
  return kCases;
}

/// A graph file that has been read, and what was said of it.
struct Read {
  WeightType type = {};
  Texts weights;  ///< in the order of the file
  bool doubtful = false;
  Texts notes;
  std::string bytes;
};

Read read_file_of(const std::string& path) {
  const Graph graph = Graph::open(path);
  graph.verify_rows(0, graph.vertices());
  Read read{graph.weights().type(), {}, graph.weights_doubtful(), {}, read_file(path)};
  for (std::size_t e = 0; graph.weighted() && e < graph.edges(); ++e)
    read.weights.push_back(to_text(graph.weights().at(e)));
  return read;
}

class Reading {
 public:
  /// Converts a file of this name and content.
  Read operator()(const std::string& name, const std::string& content, ConvertOptions options = {}) const {
    write_file(directory_ / name, content);
    Texts notes;
    options.note = [&](const std::string& line) { notes.push_back(line); };
    convert(directory_ / name, directory_ / "g.ew", options);
    Read read = read_file_of(directory_ / "g.ew");
    read.notes = notes;
    return read;
  }
  std::string operator/(const std::string& name) const { return directory_ / name; }

 private:
  TemporaryDirectory directory_;
};

/// Line i is `mark` i i+1 WEIGHT, with i from `first` on.
std::string edge_lines(const Texts& weights, std::size_t first, const char* mark = "", char separator = ' ') {
  std::string lines;
  for (std::size_t i = 0; i < weights.size(); ++i)
    lines += fmt::format("{}{}{}{}{}{}\n", mark, first + i, separator, first + i + 1, separator, weights[i]);
  return lines;
}

/// A star around vertex 1, each edge in both lines.
std::string metis_star(const Texts& weights) {
  std::string rows, star;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    star += fmt::format("{} {} ", i + 2, weights[i]);
    rows += fmt::format("1 {}\n", weights[i]);
  }
  return fmt::format("{} {} 1\n{}\n{}", weights.size() + 1, weights.size(), star, rows);
}

Texts twice(Texts weights) {
  const Texts again = weights;
  weights.insert(weights.end(), again.begin(), again.end());
  return weights;
}

}  // namespace

TEST_CASE("every reader of text hands on the weight that stands there, in the smallest type that holds all") {
  const Reading reading;
  for (const Case& one : exact_cases()) {
    const std::size_t edges = one.weights.size();
    const std::string counts = fmt::format("{0} {1}", edges + 1, edges);
    const std::string matrix = "%%MatrixMarket matrix coordinate real general\n" + counts.substr(0, 1) + ' ';
    std::string braces, names;
    for (std::size_t i = 0; i < edges; ++i) {
      braces += fmt::format("{} {} {{'weight': {}}}\n", i, i + 1, one.weights[i]);
      names += fmt::format("a{}\ta{}\t{}\n", i, i + 1, one.weights[i]);
    }
    ConvertOptions labels;
    labels.labels = true;
    const std::vector<std::pair<std::string, Read>> all = {
        {"el", reading("g.txt", edge_lines(one.weights, 0))},
        {"wel", reading("g.wel", edge_lines(one.weights, 0))},
        {"csv", reading("g.csv", "source,target,weight\n" + edge_lines(one.weights, 0, "", ','))},
        {"gr", reading("g.gr", "p sp " + counts + "\n" + edge_lines(one.weights, 1, "a "))},
        {"mtx", reading("g.mtx", matrix + counts + "\n" + edge_lines(one.weights, 1))},
        {"braces", reading("b.txt", braces)},
        {"labels", reading("l.txt", names, labels)}};
    for (const auto& of_format : all) {
      const Read& read = of_format.second;
      CAPTURE(of_format.first);
      CAPTURE(one.weights[0]);
      CHECK(name_of(read.type) == name_of(one.type));
      CHECK(read.weights == one.weights);
      CHECK(read.notes.empty());
    }
    const Read metis = reading("g.graph", metis_star(one.weights));
    CHECK(name_of(metis.type) == name_of(one.type));
    CHECK(metis.weights == twice(one.weights));
  }
}

TEST_CASE("numbers have many texts; -0 is 0, and what is whole is stored so") {
  const Reading reading;
  const Read read = reading("g.wel", edge_lines({"+1", "2.0", "3e2", "-0", "-0.0", "4.5e1", "007"}, 0));
  CHECK(read.weights == Texts{"1", "2", "300", "0", "0", "45", "7"});
  CHECK(read.type == WeightType::u32);
  CHECK(reading("h.wel", edge_lines({"1.8446744073709552e19", "1"}, 0)).type == WeightType::f32);  // 2^64
  CHECK(read.notes.empty());
}

TEST_CASE("what is no finite number is refused, with line and column") {
  const Reading reading;
  for (const char* const text : {"nan", "inf", "1e400", "-1e400", "1e-400", "0x10", "+-5", "++5", "-+5",
                                 "--5", "+", "-", ".", "e5", "1e"}) {
    CAPTURE(text);
    const std::string refusal = error_of([&] { reading("g.wel", edge_lines({"1", text}, 0)); });
    CHECK(contains(refusal, "g.wel: line 2, column 5: "));
    CHECK(contains(refusal, "--no-weights"));
  }
}

TEST_CASE("weights that a vertex shares by must have a sum whose inverse is exact") {
  const Reading reading;
  const auto sum = [&](const Texts& weights, bool floats) {
    std::string lines;
    for (const std::string& weight : weights) lines += fmt::format("0 1 {}\n", weight);
    reading("g.wel", lines);
    const Graph graph = Graph::open(reading / "g.ew");
    return Row{graph, 0}.weight_sum(floats);
  };
  CHECK(sum({"1e289", "2"}, false) == 1e289);
  CHECK(sum({"0", "1e-290"}, false) == 1e-290);
  CHECK(sum({"0", "0"}, true) == 0);
  CHECK(sum({"3", "0.5"}, true) == 3.5);
  for (const char* const text : {"1e26", "1e-26"})
    CHECK(contains(error_of([&] { sum({text}, true); }), "--precision f64 takes such sums"));
  for (const Texts& weights : {Texts{"1e308", "1e308"}, Texts{"1e291"}, Texts{"1e-309"}, Texts{"5e-324"}})
    for (const bool floats : {false, true})
      CHECK(contains(error_of([&] { sum(weights, floats); }), "from 1e-290 to 1e290, so scale the weights"));
}

TEST_CASE("weights that are written as text are the same when they are read again") {
  const Reading reading;
  for (const Case& one : exact_cases()) {
    reading("g.wel", edge_lines(one.weights, 0));
    const Graph graph = Graph::open(reading / "g.ew");
    for (const auto& [name, format] :
         {std::pair("out.wel", Format::wel), {"out.mtx", Format::matrix_market}}) {
      export_graph(graph, reading / name, {format, true, 2});
      const std::string text = read_file(reading / name);
      convert(reading / name, reading / "again.ew", {});
      const Read again = read_file_of(reading / "again.ew");
      CHECK(again.weights == one.weights);
      CHECK(again.type == one.type);
      if (format == Format::matrix_market)
        CHECK(contains(text, is_whole(one.type) ? "coordinate integer" : "coordinate real"));
    }
    convert(reading / "out.wel", reading / "again.ew", {});
    CHECK(read_file(reading / "again.ew") == read_file(reading / "g.ew"));
  }
}

TEST_CASE("what has to be rounded is said once, with line and value") {
  const Reading reading;
  const Read digits =
      reading("g.wel", edge_lines({"1", "0.12345678901234567890", "0.98765432109876543211"}, 0));
  REQUIRE(digits.notes.size() == 1);
  CHECK(contains(digits.notes[0], "g.wel: line 2: weight 0.12345678901234567890 is kept as "));
  CHECK(digits.weights[1] == "0.12345678901234568");

  const Read mixed = reading("g.wel", edge_lines({"7", "0.25", "9007199254740993", "9007199254740995"}, 0));
  REQUIRE(mixed.notes.size() == 1);
  CHECK(
      contains(mixed.notes[0], "line 3: weight 9007199254740993 is kept as 9007199254740992: some weights"));
  CHECK(mixed.weights == Texts{"7", "0.25", "9007199254740992", "9007199254740996"});

  for (const char* const text : {"-9007199254740993", "18446744073709551617", "9007199254740993.0",
                                 "123456789012345678901234567890", "1.2345e-320", "0.1000000000000000055"}) {
    CAPTURE(text);
    const Read one = reading("g.wel", edge_lines({"1", text}, 0));
    REQUIRE(one.notes.size() == 1);
    CHECK(contains(one.notes[0], fmt::format("line 2: weight {} is kept as ", text)));
  }
  // All that a double has, and what %.17g makes of it.
  for (const char* const text :
       {"0.1000000000000000055511151231257827021181583404541015625", "0.10000000000000001",
        "36893488147419103232", "4.9406564584124654e-324", "1e23"})
    CHECK(reading("g.wel", edge_lines({"1", text}, 0)).notes.empty());
}

TEST_CASE(
    "the first rounded weight is told whatever the number of workers, of streams and of several files") {
  const Reading reading;
  Texts weights(200'000, "0.5");
  weights[150'000] = weights[190'000] = "9007199254740993";
  const std::string lines = edge_lines(weights, 0);
  const std::string expected = "line 150001: weight 9007199254740993 is kept";
  for (const int workers : {1, 7}) {
    ConvertOptions options;
    options.workers = workers;
    const Read plain = reading("g.txt", lines, options);
    REQUIRE(plain.notes.size() == 1);
    CHECK(contains(plain.notes[0], "g.txt: " + expected));
    if (const std::string packed = gzipped(lines); !packed.empty()) {
      const Read stream = reading("g.txt.gz", packed, options);
      REQUIRE(stream.notes.size() == 1);
      CHECK(contains(stream.notes[0], "g.txt.gz: " + expected));
      CHECK(stream.bytes == plain.bytes);
    }
    write_file(reading / "a.txt", edge_lines({"1", "2"}, 0));
    options.more = {reading / "g.txt"};
    const Read several = reading("a.txt", edge_lines({"1", "2"}, 0), options);
    REQUIRE(several.notes.size() == 1);
    CHECK(contains(several.notes[0], "g.txt: " + expected));
  }
}

TEST_CASE("weights of one edge are in the order of their true values, whatever the number of workers") {
  const Reading reading;
  const std::vector<std::pair<Texts, Texts>> all = {
      {{"4294967297", "18446744073709551615", "4294967296", "0", "9223372036854775808", "9007199254740993"},
       {"0", "4294967296", "4294967297", "9007199254740993", "9223372036854775808", "18446744073709551615"}},
      {{"0.1", "-0.1", "1e300", "-1e300", "0", "5e-324", "9007199254740993", "-5e-324"},
       {"-1e+300", "-0.1", "-5e-324", "0", "5e-324", "0.1", "9007199254740992", "1e+300"}},
      {{"4294967295", "4294967294", "1"}, {"1", "4294967294", "4294967295"}}};
  for (const auto& [given, sorted] : all) {
    std::string lines;
    for (const std::string& weight : given) lines += "0 1 " + weight + "\n";
    for (const int workers : {1, 3}) {
      ConvertOptions options;
      options.workers = workers;
      CHECK(reading("g.wel", lines, options).weights == sorted);
      options.simple = true;
      CHECK(reading("g.wel", lines, options).weights == Texts{sorted[0]});
    }
  }
}

TEST_CASE(
    "weights of several blocks and workers give the same bytes, whichever worker meets the first fraction") {
  const TemporaryDirectory directory;
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{9'999}, std::uint64_t{29'999}}) {
    std::string expected;
    for (const int workers : {1, 2, 7}) {
      BuildOptions options;
      options.weighted = true;
      options.workers = workers;
      OutputFile output(directory / "g.ew");
      Builder builder(1000, 30'000, options);
      parallel_for(workers, 30'000, [&](int worker, std::uint64_t i) {
        const Weight weight = i == at ? Weight(0.1) : Weight((std::uint64_t{1} << 54) + i);
        builder.add(worker, static_cast<std::uint32_t>(i % 1000), static_cast<std::uint32_t>(i % 7), weight);
      });
      CHECK(builder.write(output, {}, 0, {}).weights == WeightType::f64);
      const std::string bytes = read_file(directory / "g.ew");
      if (expected.empty()) expected = bytes;
      CHECK(bytes == expected);
    }
  }
}

TEST_CASE("skew-symmetric matrices, copies and turned graphs keep the weights") {
  const Reading reading;
  const Read skew = reading("g.mtx",
                            "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n"
                            "2 1 4294967297\n3 2 0\n");
  CHECK(skew.type == WeightType::f64);
  CHECK(skew.weights == Texts{"-4294967297", "4294967297", "0", "0"});
  for (const Case& one : exact_cases()) {
    const Read first = reading("g.wel", edge_lines(one.weights, 0));
    ConvertOptions both;
    both.undirected = true;
    convert(reading / "g.ew", reading / "both.ew", both);
    const Read copy = read_file_of(reading / "both.ew");
    CHECK(copy.type == one.type);
    CHECK(copy.weights.size() == 2 * one.weights.size());
    convert(reading / "g.ew", reading / "copy.ew", {});
    CHECK(read_file(reading / "copy.ew") == first.bytes);
    const TemporaryDirectory folder;
    const Graph turned = view(Graph::open(reading / "g.ew"), Direction::in, folder / ".", 2);
    CHECK(turned.weights().type() == one.type);
    for (std::size_t e = 0; e < one.weights.size(); ++e)
      CHECK(to_text(turned.weights().at(e)) == one.weights[e]);
  }
}

TEST_CASE(
    "a third column of large whole numbers, or one that is called a time, is doubtful until it is named") {
  const Reading reading;
  const Texts times = {"1083860550", "1083860551"}, weights = {"16777216", "1083860551"};
  ConvertOptions columns, none, labels;
  columns.columns = "1,2,3";
  none.weights = false;
  labels.labels = true;
  CHECK(reading("g.txt", edge_lines(times, 0)).doubtful);
  CHECK(reading("g.txt", edge_lines(times, 0), labels).doubtful);
  CHECK_FALSE(reading("g.txt", edge_lines(times, 0), columns).doubtful);
  CHECK_FALSE(reading("g.txt", edge_lines(times, 0), none).doubtful);
  CHECK_FALSE(reading("g.wel", edge_lines(times, 0)).doubtful);
  CHECK_FALSE(reading("g.txt", edge_lines(weights, 0)).doubtful);
  CHECK_FALSE(reading("g.txt", edge_lines({"1083860550.5", "1083860551"}, 0)).doubtful);
  CHECK_FALSE(reading("g.csv", "source,target,weight\n" + edge_lines(times, 0, "", ',')).doubtful);
  CHECK_FALSE(reading("g.txt", "0 1 {'weight': 1083860550}\n").doubtful);
  for (const char* const header :
       {"# source target time\n", "% src,dst,Date\n", "# FromNodeId\tToNodeId\tts\n"}) {
    CHECK(reading("g.txt", header + edge_lines({"3", "4"}, 0)).doubtful);
    CHECK(reading("g.txt", header + edge_lines({"3", "4"}, 0), labels).doubtful);
    CHECK_FALSE(reading("g.txt", header + edge_lines({"3", "4"}, 0), columns).doubtful);
  }
  CHECK_FALSE(reading("g.txt", "# source target weight\n" + edge_lines(times, 0)).doubtful);
  CHECK_FALSE(reading("g.txt", "# collected over time\n" + edge_lines({"3", "4"}, 0)).doubtful);

  ConvertOptions several;
  several.more = {reading / "more.txt"};
  write_file(several.more[0], "# source target time\n" + edge_lines({"3", "4"}, 7));
  CHECK(reading("g.txt", edge_lines({"3", "4"}, 0), several).doubtful);
  CHECK(reading("g.txt", "# source target weight\n" + edge_lines({"3", "4"}, 0), several).doubtful);
  write_file(several.more[0], "# source target weight\n" + edge_lines(times, 7));
  CHECK_FALSE(reading("g.txt", edge_lines(times, 0), several).doubtful);
  write_file(several.more[0], edge_lines(times, 7));
  CHECK(reading("g.txt", edge_lines(times, 0), several).doubtful);
  several.columns = "1, 2, 3";
  CHECK_FALSE(reading("g.txt", edge_lines(times, 0), several).doubtful);

  reading("g.txt", edge_lines(times, 0));
  const Graph graph = Graph::open(reading / "g.ew");
  const std::string refusal = error_of([&] { expect_weights(graph); });
  CHECK(contains(refusal, "--columns 1,2,3"));
  CHECK(contains(refusal, "--no-weights"));
  convert(reading / "g.ew", reading / "copy.ew", {});
  CHECK(read_file_of(reading / "copy.ew").doubtful);
  const TemporaryDirectory folder;
  CHECK(view(Graph::open(reading / "g.ew"), Direction::both, folder / ".", 1).weights_doubtful());
}

TEST_CASE("codes and keys order as the weights do, and give them back") {
  const double huge = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
  const std::uint64_t large = std::uint64_t{1} << 53;
  const std::vector<Weight> ascending = {-huge,
                                         -0x1p64,
                                         -1.5,
                                         -tiny,
                                         0,
                                         tiny,
                                         0.1,
                                         1U,
                                         1.5,
                                         large - 1,
                                         large,
                                         large + 1,
                                         large + 2,
                                         ~std::uint64_t{0} - 1,
                                         ~std::uint64_t{0},
                                         0x1p64,
                                         huge};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    const Weight back = weight_of(weight_code(ascending[i]));
    CHECK(back.is_whole() == ascending[i].is_whole());
    CHECK(back.bits() == ascending[i].bits());
    if (i == 0) continue;
    CHECK(weight_code(ascending[i - 1]) < weight_code(ascending[i]));
    const double before = ascending[i - 1].number(), number = ascending[i].number();
    CHECK((weight_key(before) < weight_key(number)) == (before < number));
    CHECK(weight_of<double>(weight_key(number)) == number);
  }
}

TEST_CASE("a list turns to doubles with the first weight that is not whole") {
  WeightList list;
  list.add(std::uint64_t{1} << 60);
  CHECK(list.view().type() == WeightType::u64);
  list.add(0.5);
  list.add(3);
  CHECK(list.view().type() == WeightType::f64);
  CHECK(list.view()[0] == 0x1p60);
  CHECK(list.view()[2] == 3);
  list.clear();
  CHECK(list.view().empty());
}

}  // namespace edgewire::graph
