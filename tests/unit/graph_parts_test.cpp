#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>

#include "base/mapped_file.h"
#include "graph/convert.h"
#include "graph_test.h"
#include "parted_graph.h"
#include "stderr_capture.h"
#include "weighted_graph.h"

namespace edgewire::graph {

namespace {

using Rows = std::vector<RowRange>;

std::vector<std::uint64_t> ids_of(const Graph& graph) {
  std::vector<std::uint64_t> ids;
  for (VertexId v{}; v < graph.vertices(); ++v) ids.push_back(graph.original_id(v));
  return ids;
}

template <class T>
std::vector<T> copy_of(std::span<const T> values) {
  return {values.begin(), values.end()};
}

/// Everything that a reader sees of both is the same.
void check_same(const Graph& found, const Graph& known) {
  found.verify_rows(0, found.vertices());
  CHECK(found.vertices() == known.vertices());
  CHECK(found.edges() == known.edges());
  CHECK(found.weighted() == known.weighted());
  CHECK(found.has_original_ids() == known.has_original_ids());
  CHECK(copy_of(found.offsets()) == copy_of(known.offsets()));
  CHECK(copy_of(plain(found.targets())) == copy_of(plain(known.targets())));
  CHECK(found.weights().type() == known.weights().type());
  CHECK(found.weights().size() == known.weights().size());
  for (std::uint64_t e = 0; e < found.weights().size(); ++e) CHECK(found.weights()[e] == known.weights()[e]);
  CHECK(ids_of(found) == ids_of(known));
  CHECK(found.rows_here() == Rows{{0, known.vertices()}});
  found.expect_all_rows();
}

/// Cuts of `vertices` rows: one part, some, empty ones, and as many as there are rows.
std::vector<std::vector<std::uint64_t>> cuts_of(std::uint64_t vertices) {
  const std::uint64_t n = vertices;
  std::vector<std::uint64_t> each(std::min<std::uint64_t>(n, 100));
  for (std::size_t i = 0; i < each.size(); ++i) each[i] = i;
  each.push_back(n);
  return {{n}, {n / 2, n}, {n / 3, n - n / 7, n}, {0, n}, {n, n}, {0, 0, n / 2, n / 2, n, n}, each};
}

/// A folder with a graph in parts, and the same graph in a file.
struct Parted {
  TemporaryDirectory directory;
  std::string file = directory / "whole.ew", folder = directory / "g.ew";
  std::string whole;

  /// 3000 rows of 7 edges on the average, with weights, hubs and ids.
  Parted() {
    std::vector<std::uint64_t> ids(3000);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = 10 * i + 3;
    build(file, 3000, random_edges(3000, 20'000, 5), {.weighted = true}, ids);
    whole = read_file(file);
  }
  void cut(const std::vector<std::uint64_t>& ends, std::uint32_t with_ids = 0) const {
    write_parts(folder, parts_of(whole, ends, with_ids));
  }
  std::string part(std::size_t number, std::size_t parts) const { return part_path(folder, number, parts); }
  std::string error() const {
    return error_of([&] {
      const Graph graph = Graph::open(folder);
      graph.verify_rows(0, graph.vertices());
      ids_of(graph);
    });
  }
};

/// How a child ends that does this, and what it says.
std::string said_by_child(const std::function<void()>& work) {
  StderrCapture capture;
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int state = 0;
  REQUIRE(waitpid(child, &state, 0) == child);
  CHECK((WIFEXITED(state) && WEXITSTATUS(state) == 1));
  return capture.text();
}

}  // namespace

TEST_CASE("a graph in parts is the graph of one file") {
  const Parted parted;
  const Graph known = Graph::open(parted.file);
  std::set<std::uint64_t> checksums = {known.checksum()};
  for (const auto& ends : cuts_of(3000))
    for (const std::uint32_t with_ids : {0U, static_cast<std::uint32_t>(ends.size() - 1)}) {
      parted.cut(ends, with_ids);
      const Graph graph = Graph::open(parted.folder + "/");
      CHECK(graph.path() == parted.folder);
      check_same(graph, known);
      graph.release_rows(0, 3000);
      graph.release_rows(10, 1500);
      check_same(graph, known);
      checksums.insert(graph.checksum());
      std::uint64_t bytes = 0;
      for (std::size_t p = 0; p < ends.size(); ++p)
        bytes += std::filesystem::file_size(parted.part(p, ends.size()));
      CHECK(graph.file_bytes() == bytes);
    }
  CHECK(checksums.size() == 1 + 5);  // two of the cuts have two parts, and two have as many
}

TEST_CASE("graphs of no vertex, of one, and without edges, in parts") {
  const TemporaryDirectory directory;
  for (const std::uint64_t vertices : {0, 1, 700}) {
    build(directory / "whole.ew", vertices, {}, {});
    for (const auto& ends : cuts_of(vertices)) {
      write_parts(directory / "g.ew", parts_of(read_file(directory / "whole.ew"), ends));
      const Graph graph = Graph::open(directory / "g.ew");
      check_same(graph, Graph::open(directory / "whole.ew"));
      graph.verify_rows(0, 0);
      graph.release_rows(0, vertices);
    }
  }
}

TEST_CASE("weights of all types in parts") {
  const TemporaryDirectory directory;
  const auto check_type = [&]<class Weight>(Weight) {
    std::vector<std::tuple<std::uint32_t, std::uint32_t, Weight>> edges;
    for (std::uint32_t i = 0; i < 3000; ++i) edges.emplace_back(i * i % 500, i % 491, static_cast<Weight>(i));
    const Graph known = make_weighted<Weight>(directory / "whole.ew", 500, edges);
    for (const auto& ends : cuts_of(500)) {
      write_parts(directory / "g.ew", parts_of(read_file(directory / "whole.ew"), ends));
      check_same(Graph::open(directory / "g.ew"), known);
    }
  };
  check_type(float());
  check_type(double());
  check_type(std::uint32_t());
  check_type(std::uint64_t());
}

TEST_CASE("parts of many blocks, and a damaged one") {
  const TemporaryDirectory directory;
  constexpr std::uint32_t kMany = 300'000;
  {
    OutputFile output(directory / "whole.ew");
    Builder builder(kMany, kMany * 4, {});
    for (std::uint32_t i = 0; i < kMany * 4; ++i) builder.add(0, i / 4, (i * 7) % kMany, 0);
    builder.write(output, {}, 0, {});
  }
  const auto parts = parts_of(read_file(directory / "whole.ew"), {100'003, 100'004, kMany});
  write_parts(directory / "g.ew", parts);
  const Graph known = Graph::open(directory / "whole.ew");
  {
    const Graph graph = Graph::open(directory / "g.ew");
    graph.verify_rows(0, kMany);
    CHECK(std::ranges::equal(graph.offsets(), known.offsets()));
    CHECK(std::ranges::equal(graph.targets(), known.targets()));
    graph.release_rows(99'000, 110'000);
    CHECK(std::ranges::equal(graph.targets(), known.targets()));
  }
  auto damaged = parts;
  Header header;
  std::memcpy(&header, parts[2].data(), sizeof header);
  const std::uint64_t begin = header.sections[kTargets].offset / 4096 * 4096 + kBlockBytes;
  damaged[2][begin + 77] ^= 1;
  write_parts(directory / "g.ew", damaged);
  const Graph graph = Graph::open(directory / "g.ew");
  graph.verify_rows(0, 110'000);
  CHECK(error_of([&] { graph.verify_rows(0, kMany); }) ==
        fmt::format("{}: byte {}: the block of the file from here is damaged (its checksum differs)",
                    part_path(directory / "g.ew", 2, 3), begin));
}

TEST_CASE("parts that are not here") {
  const Parted parted;
  const Graph known = Graph::open(parted.file);
  const auto missing = [&](std::uint32_t number) {
    return fmt::format("{}: part {:04}-of-0004 is not here", parted.folder, number);
  };
  parted.cut({1000, 1700, 1700, 3000});
  std::filesystem::remove(parted.part(1, 4));
  std::filesystem::remove(parted.part(2, 4));
  {
    const Graph graph = Graph::open(parted.folder);
    CHECK(graph.rows_here() == Rows{{0, 1000}, {1700, 3000}});
    CHECK(graph.vertices() == 3000);
    CHECK(graph.edges() == known.edges());
    graph.verify_rows(0, 1000);
    graph.verify_rows(1700, 3000);
    graph.verify_offsets(1700, 3000);
    graph.verify_rows(1200, 1200);
    CHECK(ids_of(graph) == ids_of(known));
    const auto first = known.offsets()[1700];
    CHECK(std::ranges::equal(graph.targets().subspan(first), known.targets().subspan(first)));
    CHECK(std::ranges::equal(graph.offsets().first(1001), known.offsets().first(1001)));
    graph.release_rows(0, 3000);
    CHECK(std::ranges::equal(graph.targets().subspan(first), known.targets().subspan(first)));
    CHECK(error_of([&] { graph.verify_rows(999, 1001); }) == missing(1));
    CHECK(error_of([&] { graph.verify_rows(1699, 1701); }) == missing(1));
    CHECK(error_of([&] { graph.verify_offsets(0, 3000); }) == missing(1));
    CHECK(error_of([&] { graph.expect_all_rows(); }) == missing(1));
  }
  parted.cut({1000, 1700, 1700, 3000});
  const std::uint64_t checksum = Graph::open(parted.folder).checksum();
  std::filesystem::remove(parted.part(0, 4));
  std::filesystem::remove(parted.part(2, 4));
  std::filesystem::remove(parted.part(3, 4));
  const Graph graph = Graph::open(parted.folder);
  CHECK(graph.checksum() == checksum);
  CHECK(graph.rows_here() == Rows{{1000, 1700}});
  CHECK(error_of([&] { graph.verify_rows(0, 1); }) == missing(0));
  CHECK(error_of([&] { graph.verify_rows(1700, 1701); }) == missing(2));
  CHECK(error_of([&] { graph.original_id(VertexId(1200)); }) ==
        parted.folder + ": the part with the ids of its vertices is not here");
  parted.cut({1000, 3000, 3000});
  std::filesystem::remove(parted.part(2, 3));  // it has no rows
  const Graph whole = Graph::open(parted.folder);
  CHECK(whole.rows_here() == Rows{{0, 3000}});
  CHECK(contains(error_of([&] { whole.expect_all_rows(); }), "0002-of-0003 is not here"));
}

TEST_CASE("a folder that is no graph in parts is refused") {
  const Parted parted;
  std::filesystem::create_directory(parted.folder);
  write_file(parted.folder + "/0001-of-4", "");
  write_file(parted.folder + "/notes", "");
  CHECK(parted.error() ==
        parted.folder + ": it is a folder without a graph: there are no parts such as 0000-of-0004");
  parted.cut({1000, 3000});
  write_file(parted.part(0, 3), "");
  CHECK(contains(parted.error(), "it holds parts of two conversions, such as 0000-of-000"));
  parted.cut({1000, 3000});
  std::filesystem::copy_file(parted.part(0, 2), parted.part(1, 2),
                             std::filesystem::copy_options::overwrite_existing);
  CHECK(parted.error() == parted.part(1, 2) + ": it is part 0000-of-0002 under another name");
  parted.cut({1000, 3000});
  const std::string foreign = read_file(parted.part(1, 2));
  build(parted.file, 3000, random_edges(3000, 20'000, 6), {});
  const auto others = parts_of(read_file(parted.file), {1000, 3000});
  write_parts(parted.folder, {others[0], foreign});
  CHECK(parted.error() ==
        fmt::format("{}: it is a part of another graph than {}", parted.part(1, 2), parted.part(0, 2)));
  const auto moved = parts_of(read_file(parted.file), {1001, 3000});
  write_parts(parted.folder, {others[0], moved[1]});
  CHECK(parted.error() ==
        fmt::format("{}: its rows do not follow those of {}", parted.part(1, 2), parted.part(0, 2)));
  write_parts(parted.folder, {others[0], parted.whole});
  CHECK(parted.error() == parted.part(1, 2) + ": it is a whole graph, not a part of one as its name says");
  CHECK(
      error_of([&] { Graph::open(parted.part(0, 2)); }) ==
      fmt::format("{}: it is part 0 of a graph in 2: name its folder, {}", parted.part(0, 2), parted.folder));
  CHECK(is_ours(parted.part(0, 2)));
  CHECK(id_bits_of(parted.folder) == (kIds64 ? 64 : 32));
  CHECK_FALSE(id_bits_of(parted.directory / ".").has_value());
  CHECK(error_of([&] { Graph::open(parted.directory / "none"); }) ==
        (parted.directory / "none") + ": cannot read: No such file or directory");
}

TEST_CASE("a flipped bit of a part is noticed, in its data and in its padding") {
  const TemporaryDirectory directory;
  build(directory / "whole.ew", 5, {{0, 1, 1}, {0, 4, 2}, {1, 2, 3}, {3, 0, 4}, {4, 4, 5}},
        {.weighted = true}, {2, 3, 5, 7, 11});
  const std::string folder = directory / "g.ew";
  write_parts(folder, parts_of(read_file(directory / "whole.ew"), {1, 3, 5}));
  const auto read_all = [&] {
    const Graph graph = Graph::open(folder);
    graph.verify_rows(0, graph.vertices());
    ids_of(graph);
  };
  read_all();
  std::size_t flipped = 0, noticed = 0;
  for (std::size_t part = 0; part < 3; ++part) {
    const std::string path = part_path(folder, part, 3);
    const std::size_t bytes = std::filesystem::file_size(path);
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    auto* data =
        static_cast<unsigned char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    REQUIRE(data != MAP_FAILED);
    for (std::size_t byte = 0; byte < bytes; byte += byte % 4096 < 256 ? 1 : 37) {
      ++flipped;
      data[byte] = static_cast<unsigned char>(data[byte] ^ (1U << byte % 8));
      try {
        read_all();
      } catch (const Error&) {
        ++noticed;
      }
      data[byte] = static_cast<unsigned char>(data[byte] ^ (1U << byte % 8));
    }
    munmap(data, bytes);
    close(descriptor);
  }
  CHECK(noticed == flipped);
  read_all();
}

TEST_CASE("what a header says of its part must be possible") {
  const Parted parted;
  const auto message_with = [&](std::size_t offset, auto value) {
    auto parts = parts_of(parted.whole, {1000, 2000, 3000});
    std::memcpy(&parts[1][offset], &value, sizeof value);
    seal_header(parts[1]);
    write_parts(parted.folder, parts);
    return parted.error();
  };
  constexpr std::size_t kPart = offsetof(Header, part), kExtent = kPart + offsetof(PartEntry, extent);
  for (const std::uint64_t value : {std::uint64_t{1} << 62, ~std::uint64_t{0}})
    for (const std::size_t field : {0, 8, 16, 24})
      CHECK(contains(message_with(kExtent + field, value), "its number, rows or edges are out of range"));
  CHECK(contains(message_with(kPart, std::uint32_t{7}), "out of range"));
  CHECK(contains(message_with(kPart + 4, std::uint32_t{0}), "out of range"));
  CHECK(contains(message_with(kPart + 8, std::uint32_t{2}), "out of range"));
  CHECK(contains(message_with(kPart + 8, std::uint32_t{1}), "the sections are not at their places"));
  CHECK(contains(message_with(kExtent, std::uint64_t{999}), "the sections are not at their places"));
  CHECK(
      contains(message_with(kPart + offsetof(PartEntry, graph_checksum), std::uint64_t{1}), "another graph"));
}

TEST_CASE("a part that is written or cut short while it is used") {
  const Parted parted;
  parted.cut({1000, 3000});
  const std::string path = parted.part(1, 2);
  {
    const timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
    const Graph graph = Graph::open(parted.folder);
    refuse_changed_files();
    write_file(path, read_file(path));
    CHECK(contains(error_of([] { refuse_changed_files(); }),
                   path + ": the file was written while it was used"));
  }
  parted.cut({1000, 3000});
  Header header;
  std::memcpy(&header, read_file(path).data(), sizeof header);
  const std::uint64_t targets = header.sections[kTargets].offset;
  const auto said = said_by_child([&] {
    const Graph graph = Graph::open(parted.folder);
    std::filesystem::resize_file(path, targets / kPageBytes * kPageBytes + kPageBytes);
    [[maybe_unused]] const volatile PlainId target =
        static_cast<PlainId>(graph.targets()[header.part.extent.first_edge + 3000]);
  });
  CHECK(said == fmt::format("edgewire: {}: byte {}: cannot read: the file was cut short, or its disk failed, "
                            "while it was used\n",
                            path, targets + 3000 * sizeof(PlainId)));
}

TEST_CASE("parts become one file of the same bytes") {
  const Parted parted;
  const std::string out = parted.directory / "out.ew";
  for (const auto& ends : cuts_of(3000)) {
    parted.cut(ends);
    const auto summary = convert(parted.folder, out, {.workers = 2});
    CHECK(read_file(out) == parted.whole);
    CHECK(summary.checksum == Graph::open(parted.file).checksum());
  }
  convert(parted.folder, out, {.weights = false, .simple = true});
  convert(parted.file, parted.directory / "known.ew", {.weights = false, .simple = true});
  CHECK(read_file(out) == read_file(parted.directory / "known.ew"));
  std::filesystem::remove(parted.part(3, cuts_of(3000).back().size()));
  std::filesystem::remove(out);
  CHECK(contains(error_of([&] { convert(parted.folder, out, {}); }), "part 0003-of-0101 is not here"));
  CHECK(contains(error_of([&] { convert(parted.folder, out, {.labels = true}); }), "is read as it is"));
  CHECK(!std::filesystem::exists(out));
}

}  // namespace edgewire::graph
