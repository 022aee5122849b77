// Damaged graph and partition files: they are read as some graph that is whole, or refused with one line.
#include "../unit/graph_inputs.h"
#include "../unit/parted_graph.h"
#include "../unit/webgraph_writer.h"
#include "fuzz.h"
#include "partition/ownership.h"

namespace edgewire::graph {

namespace {

/// Ids with 7 to 10 digits ask for gigabytes, rightly, in formats whose vertices are 0 to the largest id.
void shorten_numbers(std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    const std::size_t digits = end - at;
    if (digits > 6 && digits < 11) text.erase(at + 6, digits - 6);
    at = (digits > 6 && digits < 11 ? at + 6 : end) + 1;
  }
}

void convert_all(const std::string& name, const std::vector<std::string>& seeds,
                 const ConvertOptions& options = {},
                 const std::function<void(std::string&)>& adapt = shorten_numbers) {
  const TemporaryDirectory folder;
  const std::string input = folder / name, output = folder / "out.ew";
  fuzz::feed(
      seeds,
      [&](const std::string& bytes) {
        write_file(input, bytes);
        std::filesystem::remove(output);
        std::filesystem::remove(output + ".labels");
        try {
          convert(input, output, options);
        } catch (const Error& error) {
          CHECK(!std::filesystem::exists(output));
          throw;
        }
        const auto edges = edges_of(GraphFile::open(output));
        CHECK(edges.size() <= bytes.size());
      },
      adapt);
  CHECK(folder.files() <= 3);  // input, output and names
}

std::size_t edges_in_properties(const std::string& properties) {
  return std::stoull(properties.substr(properties.find("arcs=") + 5));
}

std::string lines(bool weighted) { return edge_lines(weighted, 0); }

TEST_CASE("damaged edge lists") { convert_all("g.txt", {lines(false), lines(true), "# a comment\n0 1\n"}); }
TEST_CASE("damaged files in parts that are unpacked side by side") {
  convert_all("g.txt", {bgzf(lines(false), 9), bgzf(lines(true), 1000)}, {.workers = 2}, [](std::string&) {});
}
TEST_CASE("damaged edge lists with names") {
  convert_all("g.tsv", {"Ada\tBob\n\"B, b\"\tAda\n", "a b 1\nb c 2\n", "# x\na,b\n"}, {.labels = true});
}
TEST_CASE("damaged tables") {
  convert_all("g.csv",
              {"src,dst,weight\n" + edge_lines(true, 0, ','), "a;\"b;\";c\n1;2;3\n", "0\t1\n1\t2\n"});
  convert_all("g.csv", {"who,whom\n\"A \"\"a\"\"\",B\nB,C\n"}, {.labels = true, .columns = "who,whom"});
}
TEST_CASE("damaged Matrix Market files") {
  convert_all("g.mtx", {matrix_market(false), matrix_market(true),
                        "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 3 1\n"});
}
TEST_CASE("damaged METIS files") {
  convert_all("g.graph", {"3 2\n2\n1 3\n2\n", "3 2 1\n2 5\n1 5 3 7\n2 7\n"});
}
TEST_CASE("damaged DIMACS files") { convert_all("g.gr", {"c x\np sp 3 2\na 1 2 5\na 2 3 7\n"}); }
TEST_CASE("damaged lists of GAP") {
  convert_all("g.el", {lines(false)});
  convert_all("g.wel", {lines(true)});
}
TEST_CASE("damaged binary graphs") {
  convert_all("g.sg", {gap_binary(false)});
  convert_all("g.wsg", {gap_binary(true)});
  convert_all("g.u32pairs", {u32_pairs()}, {}, [](std::string& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (i % 4 > 1) bytes[i] = 0;  // ids of 16 bits
  });
}

TEST_CASE("damaged graphs of WebGraph, their offsets and their properties") {
  const TemporaryDirectory folder;
  const std::string input = folder / "g.graph", output = folder / "out.ew";
  const BvRows rows = page_rows(1500, 4);  // more than one start
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
        BvOptions{.k = 9, .codes = {{"RESIDUALS", "GOLOMB"}, {"OFFSETS", "DELTA"}}}}) {
    const BvFiles files = BvWriter(rows, options).write();
    const std::size_t edges = edges_in_properties(files.properties);
    for (const bool offsets : {false, true}) {
      write_file(folder / "g.properties", files.properties);
      if (offsets) write_file(folder / "g.offsets", files.offsets);
      const auto read = [&] {
        std::filesystem::remove(output);
        convert(input, output, {.workers = 2, .keep_ids = true});
        return edges_of(GraphFile::open(output)).size();
      };
      fuzz::feed({files.graph}, [&](const std::string& bytes) {
        write_file(input, bytes);
        const std::size_t found = read();
        CHECK(found == edges);
      });
      write_file(input, files.graph);
      if (offsets)
        fuzz::feed({files.offsets}, [&](const std::string& bytes) {
          write_file(folder / "g.offsets", bytes);
          const std::size_t found = read();
          CHECK(found == edges);
        });
      fuzz::feed(
          {files.properties},
          [&](const std::string& text) {
            write_file(folder / "g.properties", text);
            read();
          },
          shorten_numbers);
    }
    std::filesystem::remove(folder / "g.offsets");
  }
  CHECK(folder.files() <= 3);
}

TEST_CASE("damaged graph files") {
  const Converter converter;
  converter("g.wel", lines(true));
  const std::string whole = converter.output_bytes();
  const TemporaryDirectory folder;
  fuzz::feed({whole}, [&](const std::string& bytes) {
    write_file(folder / "g.ew", bytes);
    // What was changed has a checksum, or is padding.
    const auto edges = edges_of(GraphFile::open(folder / "g.ew"));
    CHECK(edges == kEdges);
  });
}

TEST_CASE("damaged parts of a graph") {
  const Converter converter;
  converter("g.wel", lines(true));
  const std::string whole = converter.output_bytes();
  const TemporaryDirectory folder;
  std::uint64_t vertices = 0;
  std::memcpy(&vertices, &whole[offsetof(Header, vertices)], sizeof vertices);
  const auto parts = parts_of(whole, {1, 2, vertices});
  for (const bool sealed : {false, true})
    for (std::size_t part = 0; part < parts.size(); ++part)
      fuzz::feed({parts[part]}, [&](std::string bytes) {
        if (sealed && bytes.size() >= kPageBytes) seal_header(bytes);
        auto damaged = parts;
        damaged[part] = bytes;
        write_parts(folder / "g.ew", damaged);
        const auto edges = edges_of(GraphFile::open(folder / "g.ew"));
        if (!sealed) CHECK(edges == kEdges);
      });
}

TEST_CASE("damaged partition files") {
  const TemporaryDirectory folder;
  const std::vector<std::uint64_t> offsets(7);
  fuzz::feed({"0\n1\n2\n0\n1\n2\n", "0\n0\n0\n1\n2\n1\n"}, [&](const std::string& bytes) {
    write_file(folder / "parts", bytes);
    const auto ownership = partition::Ownership::create(folder / "parts", offsets, 3);
    std::uint64_t owned = 0;
    for (std::uint32_t p = 0; p < 3; ++p) owned += ownership.count(p);
    CHECK(owned == 6);
  });
}

}  // namespace

}  // namespace edgewire::graph
