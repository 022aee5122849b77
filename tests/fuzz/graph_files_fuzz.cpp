// Damaged graphs of all formats: each is read as some graph, the same by any number of workers and packed in
// whatever way, which stays the same when it is written and read again; or it is refused with one line.
#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "../unit/graph_inputs.h"
#include "../unit/parted_graph.h"
#include "../unit/webgraph_writer.h"
#include "fuzz.h"
#include "graph/file/vertex_names.h"

namespace edgewire::graph {

namespace {

/// An edge, with what its ends are called.
using NamedEdge = std::tuple<std::string, std::string, std::uint64_t, bool>;

/// The edges in ascending order. `names`: as results call vertices, else by their numbers.
std::vector<NamedEdge> named_edges(const Graph& graph, bool names, bool weights) {
  graph.verify_rows(0, graph.vertices());
  const VertexNames called(graph);
  const auto name = [&](VertexId v) { return names ? called(v) : fmt::to_string(PlainId{v}); };
  std::vector<NamedEdge> edges;
  for (VertexId v{}; v < graph.vertices(); ++v) {
    const Row row(graph, v);
    for (std::size_t i = 0; i < row.degree(); ++i) {
      const Weight weight = weights ? row.weights().at(i) : Weight();
      edges.emplace_back(name(v), name(row.targets()[i]), weight.bits(), weight.is_whole());
    }
  }
  std::ranges::sort(edges);
  return edges;
}

struct Written {
  Format format;
  const char* ending;
  bool keeps_lone_vertices;
};
constexpr std::array kWritten{Written{Format::el, ".el", false},
                              Written{Format::wel, ".wel", false},
                              Written{Format::csv, ".csv", false},
                              Written{Format::tsv, ".tsv", false},
                              Written{Format::matrix_market, ".mtx", true},
                              Written{Format::sg, ".sg", true},
                              Written{Format::wsg, ".wsg", true},
                              Written{Format::metis, ".graph", true}};

/// Writes the graph and reads it again: it is the same, or it is refused and nothing is written.
void check_written(const Graph& graph, const Written& how, const TemporaryDirectory& folder) {
  const std::string path = folder / (std::string("again") + how.ending), output = folder / "again.ew";
  const bool table = how.format == Format::csv || how.format == Format::tsv, labels = graph.labelled();
  if (labels && !has_names(how.format)) return;
  try {
    export_graph(graph, path, {.format = how.format, .workers = 1, .names = labels});
  } catch (const Error&) {
    CHECK(!std::filesystem::exists(path));
    return;
  }
  const bool weights = graph.weighted() && has_weights(how.format);
  convert(path, output,
          {.format = table    ? Format::csv
                     : labels ? Format::snap
                              : how.format,
           .labels = labels,
           .columns = table ? weights ? "source,target,weight" : "source,target" : "",
           .keep_ids = !table && !labels,
           .allow_empty = true});
  const auto again = Graph::open(output);
  INFO(how.ending);
  CHECK(again.weighted() == weights);
  if (how.keeps_lone_vertices) CHECK(again.vertices() == graph.vertices());
  CHECK(named_edges(again, table || labels, weights) == named_edges(graph, table || labels, weights));
  for (const std::string& file : {path, output, output + ".labels"}) std::filesystem::remove(file);
}

/// Lets the process have 2 GiB more than it has, since no input here needs much. Sanitizers have limits of
/// their own.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{pages * 4096 + (std::uint64_t{2} << 30), RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

/// Converts files of one name, in all the ways that are given.
class Conversions {
 public:
  Conversions(const std::string& name, std::vector<ConvertOptions> ways)
      : input_(folder_ / name), ways_(std::move(ways)) {
    limit_memory();
  }
  bool plain = true;  ///< whether inputs may be packed

  std::uint64_t ways() const { return ways_.size(); }
  std::string read(const fuzz::Input& input) {
    ConvertOptions way = ways_[input.turn % ways_.size()];
    const std::uint64_t rest = input.turn / ways_.size();
    way.workers = input.again ? 2 : 1;
    write_file(input_, input.bytes);
    std::string found;
    try {
      found = converted(way);
    } catch (const Error&) {
      check_packed(input.bytes, way, rest, "");
      throw;
    }
    const auto graph = Graph::open(output_);
    CHECK(graph.edges() <= 4 * input.bytes.size());
    if (rest % (kWritten.size() + 1) > 0 && !input.again)
      check_written(graph, kWritten[rest % (kWritten.size() + 1) - 1], folder_);
    check_packed(input.bytes, way, rest, found);
    return found;
  }
  void check_files() const { CHECK(folder_.files() <= 3); }  // input, output and names

 private:
  /// Converts the file, and says what came of it.
  std::string converted(const ConvertOptions& way) {
    std::filesystem::remove(output_);
    std::filesystem::remove(output_ + ".labels");
    try {
      convert(input_, output_, way);
    } catch (const Error& error) {
      CHECK(!std::filesystem::exists(output_));
      CHECK_MESSAGE((contains(error.what(), input_) || contains(error.what(), "--")), error.what());
      throw;
    }
    const auto graph = Graph::open(output_);
    graph.verify_rows(0, graph.vertices());
    return fmt::format("{} vertices, {} edges, {:016x}\n{}", graph.vertices(), graph.edges(),
                       graph.checksum(), graph.labelled() ? read_file(output_ + ".labels") : "");
  }

  /// The same bytes are read likewise when they are packed. `found`: what came of them; empty: a refusal.
  void check_packed(const std::string& bytes, const ConvertOptions& way, std::uint64_t rest,
                    const std::string& found) {
    if (rest % 4 == 0 || !plain) return;
    const std::string packed = rest % 4 == 1   ? gzipped(bytes)
                               : rest % 4 == 2 ? bgzf(bytes, 50)
                                               : zstandard(bytes);
    if (packed.empty()) return;
    INFO("packed by way " << rest % 4);
    write_file(input_, packed);
    std::string again, why;
    try {
      again = converted(way);
    } catch (const Error& error) {
      why = error.what();
    }
    CHECK_MESSAGE(again == found, why);
  }

  TemporaryDirectory folder_;
  std::string input_, output_ = folder_ / "out.ew";
  std::vector<ConvertOptions> ways_;
};

/// `plain`: they are not packed already.
void convert_all(const std::string& corpus, const std::string& name, std::vector<ConvertOptions> ways,
                 const std::vector<std::string>& seeds = {}, bool plain = true) {
  Conversions conversions(name, std::move(ways));
  conversions.plain = plain;
  fuzz::feed({.name = corpus,
              .read = [&](const fuzz::Input& input) { return conversions.read(input); },
              .seeds = seeds,
              .ways = conversions.ways(),
              .inputs = 60});
  conversions.check_files();
}
void unpack_all(const std::string& corpus, const std::string& name, const std::vector<std::string>& seeds) {
  convert_all(corpus, name, {{}}, seeds, false);
}

std::string lines(bool weighted) { return edge_lines(weighted, 0); }

/// Formats without names and columns are read in these ways.
const std::vector<ConvertOptions> kWays = {{},
                                           {.simple = true},
                                           {.undirected = true},
                                           {.weights = false},
                                           {.simple = true, .undirected = true},
                                           {.allow_empty = true}};

TEST_CASE("damaged edge lists") { convert_all("snap", "g.txt", kWays, {lines(false), lines(true)}); }
TEST_CASE("damaged edge lists with chosen columns") {
  convert_all(
      "snap", "g.txt",
      {{.columns = "1,2"}, {.columns = "1,2,3"}, {.columns = "2,1"}, {.labels = true, .columns = "1,3"}});
}
TEST_CASE("damaged edge lists with names") {
  convert_all("names", "g.tsv",
              {{.labels = true}, {}, {.undirected = true, .labels = true}, {.format = Format::snap}});
}
TEST_CASE("damaged tables") {
  convert_all("csv", "g.csv", {{}, {.undirected = true}, {.weights = false}, {.simple = true}},
              {"src,dst,weight\n" + edge_lines(true, 0, ',')});
}
TEST_CASE("damaged tables with names and chosen columns") {
  convert_all("csv", "g.csv",
              {{.labels = true},
               {.labels = true, .columns = "who,whom"},
               {.columns = "1,2,3"},
               {.columns = "source,2"},
               {.labels = true, .columns = "1,2"}});
}
TEST_CASE("damaged tables with tabs") { convert_all("csv", "g.tsv", {{}, {.labels = true}}); }
TEST_CASE("damaged Matrix Market files") {
  convert_all("mtx", "g.mtx", kWays, {matrix_market(false), matrix_market(true)});
}
TEST_CASE("damaged METIS files") { convert_all("metis", "g.graph", kWays); }
TEST_CASE("damaged DIMACS files") { convert_all("gr", "g.gr", kWays); }
TEST_CASE("damaged lists of GAP") { convert_all("el", "g.el", kWays, {lines(false)}); }
TEST_CASE("damaged weighted lists of GAP") { convert_all("wel", "g.wel", kWays, {lines(true)}); }
TEST_CASE("damaged binary graphs of GAP") { convert_all("sg", "g.sg", kWays, {gap_binary(false)}); }
TEST_CASE("damaged weighted binary graphs of GAP") { convert_all("wsg", "g.wsg", kWays, {gap_binary(true)}); }
TEST_CASE("damaged pairs of ids") { convert_all("u32pairs", "g.u32pairs", kWays, {u32_pairs()}); }
TEST_CASE("damaged gzip data") {
  unpack_all("gzip", "g.txt",
             {gzipped(lines(false)), gzipped(lines(true)) + gzipped("7 7 7\n"), bgzf(lines(false), 9),
              bgzf(lines(true), 1000)});
}
TEST_CASE("damaged Zstandard data") {
  unpack_all("zstd", "g.txt", {zstandard(lines(false)), zstandard(lines(true)) + zstandard("7 7 7\n")});
}
TEST_CASE("damaged xz data") {
  unpack_all("xz", "g.txt", {xz(lines(false)), xz(lines(true)) + xz("7 7 7\n")});
}
TEST_CASE("damaged bzip2 data") {
  unpack_all("bzip2", "g.txt", {bzip2(lines(false)), bzip2(lines(true)) + bzip2("7 7 7\n")});
}
TEST_CASE("damaged archives") {
  unpack_all(
      "tar", "g.tar",
      {tar({{"g/", ""}, {"g/README", "words\n"}, {"g/g.mtx", matrix_market(true)}}),
       tar({{"g/", ""}, {"g/out.g", "% sym unweighted\n" + edge_lines(false, 1)}, {"g/meta.g", "x: y\n"}})});
}

/// The three files of a graph as one input, and back.
constexpr std::string_view kNextFile = "\n----\n";
std::string joined(const BvFiles& files, bool offsets) {
  return files.properties + std::string(kNextFile) + files.graph +
         (offsets ? std::string(kNextFile) + files.offsets : "");
}

std::string read_webgraph(const TemporaryDirectory& folder, const fuzz::Input& input) {
  std::string_view rest = input.bytes;
  for (const char* const name : {"g.properties", "g.graph", "g.offsets"}) {
    std::filesystem::remove(folder / name);
    if (rest.empty()) continue;
    const std::size_t end = std::min(rest.find(kNextFile), rest.size());
    write_file(folder / name, std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + kNextFile.size(), rest.size()));
  }
  std::filesystem::remove(folder / "out.ew");
  convert(folder / "g.graph", folder / "out.ew",
          {.workers = input.again ? 3 : 2, .keep_ids = input.turn % 2 == 0});
  const auto graph = Graph::open(folder / "out.ew");
  graph.verify_rows(0, graph.vertices());
  return fmt::format("{} vertices, {} edges, {:016x}", graph.vertices(), graph.edges(), graph.checksum());
}

TEST_CASE("damaged graphs of WebGraph, their offsets and their properties") {
  const TemporaryDirectory folder;
  std::vector<std::string> seeds;
  for (const std::uint32_t vertices : {20, 1500})  // these have more than one start
    for (const BvOptions& options :
         {BvOptions{},
          BvOptions{.window = 3,
          .chain = -1,
          .min_interval = 2,
          .codes = {{"OUTDEGREES", "DELTA"},
                    {"REFERENCES", "GAMMA"},
                    {"BLOCK_COUNT", "UNARY"},
                    {"BLOCKS", "UNARY"},
                    {"RESIDUALS", "NIBBLE"}}},
          BvOptions{.k = 9, .codes = {{"RESIDUALS", "GOLOMB"}, {"OFFSETS", "DELTA"}}}})
      for (const bool offsets : {false, true})
        seeds.push_back(joined(BvWriter(page_rows(vertices, 4), options).write(), offsets));
  fuzz::feed({.name = "webgraph",
              .read = [&](const fuzz::Input& input) { return read_webgraph(folder, input); },
              .seeds = seeds,
              .ways = 2});
  CHECK(folder.files() <= 4);
}

TEST_CASE("damaged graph files") {
  const Converter converter;
  converter("g.wel", lines(true));
  const std::string whole = converter.output_bytes();
  const TemporaryDirectory folder;
  fuzz::feed({.name = "ew",
              .read =
                  [&](const fuzz::Input& input) {
                    write_file(folder / "g.ew", input.bytes);
                    // What was changed has a checksum, or is padding.
                    const auto edges = edges_of(Graph::open(folder / "g.ew"));
                    CHECK(edges == kEdges);
                    return "whole";
                  },
              .seeds = {whole}});
}

TEST_CASE("damaged parts of a graph") {
  const Converter converter;
  converter("g.wel", lines(true));
  const std::string whole = converter.output_bytes();
  const TemporaryDirectory folder;
  std::uint64_t vertices = 0;
  std::memcpy(&vertices, &whole[offsetof(Header, vertices)], sizeof vertices);
  const auto parts = parts_of(whole, {1, 2, vertices});
  std::vector<std::string> seeds;  // the number of the part, the part
  for (std::size_t part = 0; part < parts.size(); ++part)
    seeds.push_back(std::string{static_cast<char>(part)} + parts[part]);
  fuzz::feed({.name = "parts",
              .read =
                  [&](const fuzz::Input& input) {
                    if (input.bytes.empty()) return std::string();
                    std::string bytes = input.bytes.substr(1);
                    const bool sealed = input.turn % 2 == 0 && bytes.size() >= kPageBytes;
                    if (sealed) seal_header(bytes);
                    auto damaged = parts;
                    const std::size_t part = static_cast<unsigned char>(input.bytes[0]) % parts.size();
                    const bool moved = std::ranges::find(parts, bytes) != parts.end() && bytes != parts[part];
                    damaged[part] = bytes;
                    write_parts(folder / "g.ew", damaged);
                    const auto graph = Graph::open(folder / "g.ew");
                    const auto edges = edges_of(graph);
                    if (!sealed || moved) CHECK(edges == kEdges);
                    return fmt::format("{} edges, {:016x}", edges.size(), graph.checksum());
                  },
              .seeds = seeds,
              .ways = 2});
}

}  // namespace

}  // namespace edgewire::graph
