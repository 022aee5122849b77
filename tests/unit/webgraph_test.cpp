#include <algorithm>
#include <mutex>

#include "graph/convert.h"
#include "graph/read/formats.h"
#include "graph/read/webgraph_rows.h"
#include "graph_inputs.h"
#include "webgraph_writer.h"

namespace edgewire::graph {

namespace {

/// A folder with g.graph and what belongs to it.
class BvFolder {
 public:
  void put(const BvFiles& files, bool offsets = false) const {
    write_file(path(), files.graph);
    write_file(folder_ / "g.properties", files.properties);
    std::filesystem::remove(folder_ / "g.offsets");
    if (offsets) write_file(folder_ / "g.offsets", files.offsets);
  }
  Graph read(const ConvertOptions& options = {.keep_ids = true}) const {
    convert(path(), folder_ / "out.ew", options);
    return Graph::open(folder_ / "out.ew");
  }
  /// The message with which the files must be refused, with any number of workers.
  std::string error() const {
    std::string first;
    for (const int workers : {1, 3}) {
      const std::string text =
          error_of([&] { convert(path(), folder_ / "no.ew", {.workers = workers, .keep_ids = true}); });
      CHECK(!contains(text, "\n"));
      CHECK(!std::filesystem::exists(folder_ / "no.ew"));
      if (workers == 1) first = text;
    }
    return first;
  }
  std::string path() const { return folder_ / "g.graph"; }
  const TemporaryDirectory& folder() const { return folder_; }

 private:
  TemporaryDirectory folder_;
};

std::vector<Edge> edges_in(const BvRows& rows) {
  std::vector<Edge> edges;
  for (std::uint32_t row = 0; row < rows.size(); ++row)
    for (const std::uint32_t target : rows[row]) edges.emplace_back(row, target, 0.0F);
  return edges;
}

/// Collects what one of several readers reads.
class PartSink : public EdgeSink {
 public:
  PartSink(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  bool wants_sample() const noexcept override { return true; }
  void start(const GraphShape& shape, std::span<const std::uint64_t> sources) override {
    graph = shape;
    sample.assign(sources.begin(), sources.end());
  }
  void add(int, std::span<const std::uint64_t> ids, Weights) override {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < ids.size(); i += 2)
      edges.emplace_back(static_cast<std::uint32_t>(ids[i]), static_cast<std::uint32_t>(ids[i + 1]), 0.0F);
  }
  void add_vertices(int, std::span<const std::uint64_t>) override {}
  std::uint64_t sum(std::uint64_t mine) override {
    own = mine;
    return graph.expected_edges;  // what all readers have
  }
  BuildSummary write(std::uint32_t, const Progress&) override { return {}; }

  GraphShape graph;
  std::vector<std::uint64_t> sample;
  std::vector<Edge> edges;
  std::uint64_t own = 0;

 private:
  int rank_, size_;
  std::mutex mutex_;
};

const BvRows& rows_of_pages() {
  static const BvRows rows = page_rows(2500, 1);
  return rows;
}

}  // namespace

TEST_CASE("WebGraph: every code of every field") {
  const std::vector<std::string> kCodes = {"GAMMA", "DELTA", "UNARY", "ZETA", "GOLOMB", "NIBBLE"};
  const BvRows rows = page_rows(3000, 2);
  const auto expected = edges_in(rows);
  const BvFolder folder;
  for (const std::string field :
       {"OUTDEGREES", "REFERENCES", "BLOCK_COUNT", "BLOCKS", "RESIDUALS", "OFFSETS"}) {
    for (const std::string& code : kCodes) {
      if (code == "UNARY" && field == "RESIDUALS") continue;  // each takes thousands of bits
      CAPTURE(field);
      CAPTURE(code);
      folder.put(BvWriter(rows, {.codes = {{field, code}}}).write(), true);
      CHECK(edges_of(folder.read({.workers = 2})) == expected);
    }
  }
  folder.put(BvWriter(rows, {.k = 5,
                             .codes = {{"OUTDEGREES", "DELTA"},
                                       {"REFERENCES", "DELTA"},
                                       {"BLOCK_COUNT", "UNARY"},
                                       {"BLOCKS", "DELTA"},
                                       {"RESIDUALS", "GOLOMB"},
                                       {"OFFSETS", "DELTA"}}})
                 .write(),
             true);
  CHECK(edges_of(folder.read({.workers = 3})) == expected);
}

TEST_CASE("WebGraph: every window, chain, interval and k, with and without offsets and several workers") {
  const auto expected = edges_in(rows_of_pages());
  const BvFolder folder;
  const std::vector<BvOptions> all = {{},
                                      {.window = 0},
                                      {.window = 1, .chain = -1},
                                      {.window = 70, .chain = 30},
                                      {.window = 20, .chain = 2147483647},
                                      {.window = 3, .chain = 1, .min_interval = 2},
                                      {.chain = 0, .min_interval = 0},
                                      {.min_interval = 1},
                                      {.k = 1},
                                      {.k = 2},
                                      {.k = 8}};
  for (const BvOptions& options : all) {
    CAPTURE(options.window);
    CAPTURE(options.chain);
    CAPTURE(options.min_interval);
    CAPTURE(options.k);
    BvWriter writer(rows_of_pages(), options);
    const BvFiles files = writer.write();
    if (options.window > 0 && options.chain != 0) CHECK(writer.longest_chain > 0);
    for (const bool offsets : {false, true}) {
      folder.put(files, offsets);
      for (const int workers : {1, 3}) CHECK(edges_of(folder.read({.workers = workers})) == expected);
    }
  }
}

TEST_CASE("WebGraph: several readers have each edge once, and a sample of the sources") {
  const auto expected = edges_in(rows_of_pages());
  const BvFolder folder;
  for (const bool offsets : {false, true}) {
    for (const std::int64_t chain : {3, -1}) {
      CAPTURE(offsets);
      CAPTURE(chain);
      folder.put(BvWriter(rows_of_pages(), {.chain = chain}).write(), offsets);
      for (const int size : {1, 2, 3}) {
        std::vector<Edge> found;
        int shares = 0;
        for (int rank = 0; rank < size; ++rank) {
          PartSink sink(rank, size);
          convert_to(sink, folder.path(), "", {.workers = 2});
          CHECK(sink.graph.vertices == rows_of_pages().size());
          CHECK(sink.own == sink.edges.size());
          CHECK(sink.sample.size() > 500);
          CHECK(std::is_sorted(sink.sample.begin(), sink.sample.end()));
          CHECK(sink.sample.back() < rows_of_pages().size());
          shares += sink.edges.empty() ? 0 : 1;
          found.insert(found.end(), sink.edges.begin(), sink.edges.end());
        }
        std::sort(found.begin(), found.end());
        CHECK(found == expected);
        if (chain == 3) CHECK(shares == size);
      }
    }
  }
}

TEST_CASE("WebGraph: rows of any shape") {
  const BvFolder folder;
  BvRows shapes(2000);
  for (std::uint32_t target = 0; target < 2000; ++target) {
    shapes[7].push_back(target);                        // one interval
    if (target % 2 == 0) shapes[8].push_back(target);   // many blocks
    if (target % 97 < 50) shapes[9].push_back(target);  // many intervals
  }
  shapes[0] = {1999};
  shapes[1999] = {0, 1999};
  for (const BvRows& rows : {shapes, BvRows{{}}, BvRows{{0}}, BvRows{}, BvRows{{}, {}, {}}}) {
    for (const bool offsets : {false, true}) {
      folder.put(BvWriter(rows, {}).write(), offsets);
      const Graph graph = folder.read({.workers = 2, .allow_empty = true});
      CHECK(graph.vertices() == rows.size());
      CHECK(edges_of(graph) == edges_in(rows));
    }
  }
}

TEST_CASE("WebGraph: rows that are far longer than others, and targets that are far away") {
  constexpr std::uint32_t kVertexCount = 1 << 17;
  BvRows rows(kVertexCount);
  for (std::uint32_t target = 5; target < kVertexCount; target += 3) rows[70'000].push_back(target);
  rows[70'003] = rows[70'000];
  rows[70'004] = rows[70'000];
  rows[70'004].erase(rows[70'004].begin() + 100, rows[70'004].begin() + 30'000);
  rows[0] = {kVertexCount - 1};
  rows[kVertexCount - 1] = {0, 4096, kVertexCount - 1};
  const auto expected = edges_in(rows);
  const BvFolder folder;
  for (const std::string code : {"ZETA", "DELTA", "NIBBLE"}) {
    folder.put(BvWriter(rows, {.codes = {{"RESIDUALS", code}}}).write(), code == "ZETA");
    for (const int workers : {1, 3}) {
      const Graph graph = folder.read({.workers = workers});
      CHECK(graph.vertices() == kVertexCount);
      CHECK(edges_of(graph) == expected);
    }
  }
}

TEST_CASE("WebGraph: where few vertices have edges, only those are kept") {
  constexpr std::uint32_t kVertexCount = 1 << 21;
  BvFiles files = BvWriter({{3, 2'000'000}}, {}).write();
  BitWriter graph;
  graph.gamma(2);  // edges of vertex 0: no reference, no intervals, residuals 3 and 2,000,000
  graph.unary(0);
  graph.gamma(0);
  graph.zeta(6, 3);
  graph.zeta(2'000'000 - 3 - 1, 3);
  for (std::uint32_t row = 1; row < kVertexCount; ++row) graph.gamma(0);  // no edges
  files.graph = graph.bytes();
  files.properties.replace(files.properties.find("nodes=1"), 7, fmt::format("nodes={}", kVertexCount));
  const BvFolder folder;
  folder.put(files);
  const Graph few = folder.read({});
  CHECK(few.vertices() == 3);
  CHECK(few.original_id(2) == 2'000'000);
  CHECK(edges_of(few) == std::vector<Edge>{{0, 1, 0}, {0, 2, 0}});
}

TEST_CASE("WebGraph: options of a conversion") {
  const BvFolder folder;
  folder.put(BvWriter({{0, 1, 2}, {0}, {}}, {}).write());
  CHECK(edges_of(folder.read({.simple = true})) == std::vector<Edge>{{0, 1, 0}, {0, 2, 0}, {1, 0, 0}});
  CHECK(folder.read({.simple = true, .undirected = true}).edges() == 4);
  CHECK_FALSE(folder.read().weighted());
  CHECK(edges_of(folder.read({.format = Format::webgraph})).size() == 4);
}

TEST_CASE("a .graph file is METIS's or WebGraph's") {
  const Converter converter;
  const auto& folder = converter.directory();
  CHECK(edges_of(converter("g.graph", "2 1\n2\n1\n")).size() == 2);
  write_file(folder / "g.properties", "graph.directed = true\n");  // not of WebGraph
  CHECK(edges_of(converter("g.graph", "2 1\n2\n1\n")).size() == 2);
  const BvFiles files = BvWriter(page_rows(300, 3), {}).write();
  CHECK(contains(converter.error("g.graph", files.graph), "it is binary, so it is no METIS graph"));
  CHECK(contains(converter.error("g.graph", files.graph), "g.properties: put that file beside"));
  write_file(folder / "g.properties", files.properties);
  CHECK(converter("g.graph", files.graph).vertices() == 300);
  // All of its bytes could be text.
  const BvFiles small = BvWriter({{1}, {0}}, {}).write();
  write_file(folder / "g.properties", small.properties);
  CHECK(edges_of(converter("g.graph", small.graph)).size() == 2);
  CHECK(format_of_file(folder / "g.graph") == Format::webgraph);
  CHECK(format_of_file(folder / "h.graph") == Format::metis);
  CHECK(contains(error_of([&] {
                   write_file(folder / "g.graph", gzipped(files.graph));
                   convert(folder / "g.graph", folder / "out.ew", {});
                 }),
                 "neither compressed nor a pipe"));
}

TEST_CASE("files in the format of Java's properties") {
  const auto found = parse_java_properties(
      "# comment = 1\n! another\n\n  a = 1\r\nb:2\rc 3\n d\\ e\\=f : g h \nlong = one \\\n   two\nempty\n"
      "odd = \\u0041\\t\\\\\n a=last\nend=\\\\");
  const std::map<std::string, std::string> expected = {{"a", "last"},     {"b", "2"},          {"c", "3"},
                                                       {"d e=f", "g h "}, {"long", "one two"}, {"empty", ""},
                                                       {"odd", "A\t\\"},  {"end", "\\"}};
  CHECK(found == expected);
  CHECK(parse_java_properties("").empty());
}

TEST_CASE("WebGraph: properties that are not whole, or not supported, are refused") {
  const BvFolder folder;
  const BvFiles files = BvWriter(page_rows(300, 3), {}).write();
  const auto error_with = [&](const std::string& key, const std::string& line) {
    BvFiles changed = files;
    const std::size_t begin = changed.properties.find(key + "=");
    changed.properties.replace(begin, changed.properties.find('\n', begin) - begin, line);
    folder.put(changed);
    std::string text = folder.error();
    CHECK(contains(text, folder.folder() / "g."));
    return text;
  };
  for (const std::string key : {"nodes", "arcs", "windowsize", "maxrefcount", "minintervallength"}) {
    CHECK(contains(error_with(key, "# nothing"), "its line " + key + "= is missing"));
    CHECK(contains(error_with(key, key + "=x"), key + "=x is not a whole number"));
  }
  CHECK(contains(error_with("version", "version=1"), "version 1 is not supported"));
  CHECK(contains(error_with("version", "endianness=little"), "endianness=little is not supported"));
  CHECK(contains(error_with("zetak", "zetak=0"), "zetak=0 is not within 1 to 28"));
  CHECK(contains(error_with("windowsize", "windowsize=99999999"), "windowsize=99999999 is more than"));
  CHECK(contains(error_with("nodes", "nodes=18446744073709551615"), "more than is supported"));
  CHECK(contains(error_with("compressionflags", "compressionflags=RESIDUALS_PI | X"),
                 "RESIDUALS_PI is not known"));
  CHECK(contains(error_with("graphclass", "graphclass=it.unimi.dsi.webgraph.EFGraph"),
                 "graphclass it.unimi.dsi.webgraph.EFGraph is not supported, but WebGraph's BVGraph is"));
  CHECK(contains(
      error_with("graphclass", "graphclass=a.BitStreamArcLabelledImmutableGraph\nunderlyinggraph=web"),
      "holds labels; its edges are in web.graph"));
  // Old files name the class so; keys that are not known are harmless.
  BvFiles old = files;
  old.properties.replace(old.properties.find("graphclass="), std::string::npos,
                         "graphclass = class it.unimi.dsi.big.webgraph.BVGraph\nbitsperlink = 2.5\n");
  folder.put(old);
  CHECK(folder.read().vertices() == 300);
  std::filesystem::remove(folder.folder() / "g.properties");
  CHECK(contains(error_of([&] { folder.read({.format = Format::webgraph}); }),
                 "which cannot be read: put it beside"));
}

TEST_CASE("WebGraph: files that do not fit their properties are refused") {
  const BvFolder folder;
  const BvFiles files = BvWriter(rows_of_pages(), {}).write();
  const auto changed = [&](const std::string& key, std::int64_t by) {
    BvFiles other = files;
    const std::size_t begin = other.properties.find(key + "=") + key.size() + 1;
    const std::size_t length = other.properties.find('\n', begin) - begin;
    const auto value = std::stoll(other.properties.substr(begin, length));
    other.properties.replace(begin, length, std::to_string(value + by));
    return other;
  };
  for (const bool offsets : {false, true}) {
    CAPTURE(offsets);
    folder.put(changed("arcs", 1), offsets);
    CHECK(contains(folder.error(), "says otherwise"));
    folder.put(changed("arcs", -1), offsets);
    CHECK(contains(folder.error(), "there are more edges than the arcs="));
    folder.put(changed("nodes", -1), offsets);
    CHECK(contains(folder.error(), folder.folder() / "g.graph: byte "));
    folder.put(changed("nodes", 1), offsets);
    CHECK(contains(folder.error(), ": byte "));
    folder.put(changed("nodes", 100'000'000), offsets);
    CHECK(contains(folder.error(), "too short for 100002500 vertices"));
    BvFiles longer = files;
    longer.graph += std::string(8, '\0');
    folder.put(longer, offsets);
    CHECK(folder.read().vertices() == 2500);  // zeros that fill a word
    longer.graph += "x";
    folder.put(longer, offsets);
    CHECK(contains(folder.error(), "goes on after its last row"));
    for (const std::size_t length : {std::size_t{300}, files.graph.size() / 2, files.graph.size() - 1}) {
      BvFiles shorter = files;
      shorter.graph.resize(length);
      folder.put(shorter, offsets);
      CHECK(contains(folder.error(), ": byte "));
    }
  }
  folder.put(changed("windowsize", -5));
  CHECK(contains(folder.error(), "but the window has 2"));
}

TEST_CASE("WebGraph: offsets of another graph, or that are cut off, are refused") {
  const BvFolder folder;
  BvFiles files = BvWriter(rows_of_pages(), {}).write();
  const auto error_with = [&](const std::string& offsets, const std::string& properties) {
    write_file(folder.path(), files.graph);
    write_file(folder.folder() / "g.properties", properties);
    write_file(folder.folder() / "g.offsets", offsets);
    return error_of([&] { folder.read({.workers = 2}); });
  };
  const std::string other = BvWriter(page_rows(2500, 9), {}).write().offsets;
  CHECK(contains(error_with(other, files.properties), "g."));
  CHECK(contains(error_with(files.offsets.substr(0, 900), files.properties),
                 "g.offsets: byte 899: the file ends within"));
  CHECK(contains(error_with(files.offsets + files.offsets, files.properties + "nodes=2501\n"), "g."));
  // It says that no row leads back, so that nothing before a start is known.
  CHECK(contains(error_with(files.offsets, files.properties + "maxrefcount=0\n"),
                 "more rows copy from one another than the maxrefcount=0"));
}

}  // namespace edgewire::graph
