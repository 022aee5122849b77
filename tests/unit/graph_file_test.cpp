#include "edgewire/graph.h"

#include <xxhash.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mapped_file.h"
#include "graph/file/format.h"
#include "graph_test.h"
#include "stderr_capture.h"

namespace edgewire::graph {

namespace {

const std::vector<Edge> kSmallEdges = {{0, 1, 1.0F}, {0, 4, 2.5F}, {1, 1, -3.0F},
                                       {3, 0, 0.0F}, {3, 0, 7.0F}, {4, 2, 1e-30F}};

void build_small(const std::string& path) {
  build(path, 5, kSmallEdges, {.weighted = true}, {2, 3, 5, 7, 11});
}

void open_and_verify(const std::string& path) {
  const Graph graph = Graph::open(path);
  graph.verify_rows(0, graph.vertices());
}

Header header_of(const std::string& bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

/// Makes all checksums right again, as a malicious writer would.
void seal(std::string& bytes) {
  Header header = header_of(bytes);
  for (std::uint32_t section = 0; section < kSections; ++section) {
    for (std::uint64_t block = 0; block < blocks_of(header.sections[section]); ++block) {
      const std::uint64_t start = block * kBlockBytes;
      const std::uint64_t sum =
          XXH3_64bits(bytes.data() + header.sections[section].offset + start,
                      std::min(kBlockBytes, padded(header.sections[section].bytes) - start));
      std::memcpy(bytes.data() + header.checksums.offset + (first_block(header, section) + block) * 8, &sum,
                  8);
    }
  }
  header.checksums_checksum = XXH3_64bits(bytes.data() + header.checksums.offset, header.checksums.bytes);
  header.checksum = header_checksum(header);
  std::memcpy(bytes.data(), &header, sizeof header);
}

TEST_CASE("a mapped file that is cut short while it is used ends the process with a line") {
  const TemporaryDirectory directory;
  const std::string path = directory / "mapped";
  write_file(path, std::string(10 * kPageBytes, 'x'));
  StderrCapture capture;
  const pid_t child = fork();
  if (child == 0) {
    const MappedFile file(path);
    std::filesystem::resize_file(path, 3 * kPageBytes);
    const auto* const at = const_cast<const volatile std::uint8_t*>(file.data());
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; ++i)
      readers.emplace_back([at] { [[maybe_unused]] const auto byte = at[5 * kPageBytes + 7]; });
    for (auto& reader : readers) reader.join();
    _exit(0);
  }
  int state = 0;
  REQUIRE(waitpid(child, &state, 0) == child);
  CHECK((WIFEXITED(state) && WEXITSTATUS(state) == 1));
  CHECK(capture.text() ==
        "edgewire: " + path +
            ": byte 20487: cannot read: the file was cut short, or its disk failed, while it was used\n");
}

TEST_CASE("another bus error ends the process as ever") {
  const TemporaryDirectory directory;
  const std::string path = directory / "mapped";
  write_file(path, "x");
  for (const bool sent : {true, false}) {
    StderrCapture capture;
    const pid_t child = fork();
    if (child == 0) {
      const MappedFile file(path);
      if (sent) kill(getpid(), SIGBUS);
      const int descriptor = memfd_create("empty", 0);
      auto* const page =
          static_cast<volatile char*>(mmap(nullptr, kPageBytes, PROT_READ, MAP_SHARED, descriptor, 0));
      [[maybe_unused]] const char byte = page[0];
      _exit(0);
    }
    int state = 0;
    REQUIRE(waitpid(child, &state, 0) == child);
    CHECK(state != 0);
    CHECK(!contains(capture.text(), "cut short"));
  }
}

}  // namespace

TEST_CASE("a graph comes back as it was written") {
  const TemporaryDirectory directory;
  build_small(directory / "g.ew");
  CHECK(directory.files() == 1);
  const Graph graph = Graph::open(directory / "g.ew");
  CHECK(graph.vertices() == 5);
  CHECK(graph.edges() == 6);
  CHECK(graph.weighted());
  CHECK(graph.has_original_ids());
  CHECK_FALSE(graph.simple());
  CHECK_FALSE(graph.symmetric());
  CHECK(graph.file_bytes() == std::filesystem::file_size(directory / "g.ew"));
  CHECK(edges_of(graph) == kSmallEdges);
  CHECK(graph.original_id(4) == 11);
  graph.release_rows(0, 5);
  CHECK(edges_of(graph) == kSmallEdges);
  Graph moved = Graph::open(directory / "g.ew");
  moved = Graph::open(directory / "g.ew");
  CHECK(edges_of(moved) == kSmallEdges);
}

TEST_CASE("graphs without edges or vertices") {
  const TemporaryDirectory directory;
  for (const std::uint64_t vertices : {0, 1, 700}) {
    build(directory / "g.ew", vertices, {}, {});
    const Graph graph = Graph::open(directory / "g.ew");
    CHECK(graph.vertices() == vertices);
    CHECK(graph.offsets().size() == vertices + 1);
    CHECK(edges_of(graph).empty());
    graph.release_rows(0, vertices);
    if (vertices > 0) CHECK(graph.original_id(0) == 0);
  }
}

TEST_CASE("a file of any other length is refused") {
  const TemporaryDirectory directory;
  const std::string path = directory / "g.ew";
  build_small(path);
  const std::string whole = read_file(path);
  for (std::size_t length = 0; length < whole.size();
       length += length % 4096 < 3 || length % 4096 > 4092 ? 1 : 97) {
    std::filesystem::resize_file(path, 0);
    write_file(path, whole.substr(0, length));
    CHECK(contains(error_of([&] { Graph::open(path); }), path));
  }
  write_file(path, whole + '\0');
  CHECK(contains(error_of([&] { Graph::open(path); }), "byte " + std::to_string(whole.size())));
  write_file(path, "");
  CHECK(error_of([&] { Graph::open(path); }) == path + ": the file is empty");
}

TEST_CASE("a flipped bit is noticed: each one of the header, and one in every other byte") {
  const TemporaryDirectory directory;
  const std::string path = directory / "g.ew";
  build_small(path);
  const std::size_t bytes = std::filesystem::file_size(path);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  auto* data =
      static_cast<unsigned char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
  REQUIRE(data != MAP_FAILED);
  std::size_t flipped = 0, noticed = 0;
  for (std::size_t bit = 0; bit < bytes * 8; ++bit) {
    if (bit / 8 >= sizeof(Header) && bit % 8 != bit / 8 % 8) continue;  // checksums treat all bits alike
    ++flipped;
    data[bit / 8] = static_cast<unsigned char>(data[bit / 8] ^ (1U << bit % 8));
    try {
      open_and_verify(path);
    } catch (const Error&) {
      ++noticed;
    }
    data[bit / 8] = static_cast<unsigned char>(data[bit / 8] ^ (1U << bit % 8));
  }
  CHECK(flipped >= bytes);
  CHECK(noticed == flipped);
  open_and_verify(path);
  munmap(data, bytes);
  close(descriptor);
}

TEST_CASE("contents that cannot be used are refused although their checksums are right") {
  const TemporaryDirectory directory;
  const std::string path = directory / "g.ew";
  build_small(path);
  const std::string whole = read_file(path);
  const Header header = header_of(whole);
  const auto message_with = [&](std::uint64_t offset, auto value) {
    std::string bytes = whole;
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    seal(bytes);
    write_file(path, bytes);
    return error_of([&] { open_and_verify(path); });
  };
  const std::uint64_t offsets = header.sections[kOffsets].offset;
  const std::uint64_t targets = header.sections[kTargets].offset;
  const std::uint64_t weights = header.sections[kWeights].offset;
  CHECK(contains(message_with(offsets, std::uint64_t{1}), "first row offset"));
  CHECK(contains(message_with(offsets + 40, std::uint64_t{5}), "last row offset"));
  CHECK(contains(message_with(offsets + 16, std::uint64_t{1000}), "not in order"));
  CHECK(contains(message_with(offsets + 40, ~std::uint64_t{0}), "not in order"));
  CHECK(contains(message_with(targets + sizeof(VertexId), PlainId{5}),
                 "byte " + std::to_string(targets + sizeof(VertexId))));
  CHECK(contains(message_with(weights + 8, std::numeric_limits<float>::quiet_NaN()),
                 "byte " + std::to_string(weights + 8)));
  CHECK(contains(message_with(weights, std::numeric_limits<float>::infinity()), "not finite"));
  CHECK(contains(message_with(offsetof(Header, vertices), ~std::uint64_t{0}), "out of range"));
  CHECK(contains(message_with(offsetof(Header, edges), std::uint64_t{1} << 62), "out of range"));
  CHECK(contains(message_with(offsetof(Header, flags), std::uint32_t{32} | kIdFlag), "out of range"));
  CHECK(contains(message_with(offsetof(Header, sections), std::uint64_t{8192}), "not at their places"));
}

TEST_CASE("counts that the file cannot hold are refused before anything is allocated") {
  const TemporaryDirectory directory;
  const std::string path = directory / "g.ew";
  for (const std::uint64_t vertices : {std::uint64_t{1} << 20, kMaxVertices}) {
    Header header = lay_out(vertices, kMaxEdges, kAllFlags);
    header.checksum = header_checksum(header);
    write_file(path, {reinterpret_cast<const char*>(&header), sizeof header});
    CHECK(contains(error_of([&] { Graph::open(path); }), "but its header says"));
  }
}

TEST_CASE("only the blocks that hold the rows are checked, from several threads at once") {
  const TemporaryDirectory directory;
  const std::string path = directory / "g.ew";
  // Three blocks of offsets and five of targets.
  constexpr std::uint32_t kMany = 300'000;
  OutputFile output(path);
  Builder builder(kMany, kMany * 4, {});
  for (std::uint32_t i = 0; i < kMany * 4; ++i) builder.add(0, i / 4, (i * 7) % kMany, 0);
  builder.write(output, {}, 0, {});
  std::string bytes = read_file(path);
  const Header header = header_of(bytes);
  const std::uint64_t damaged = header.sections[kTargets].offset + 2 * kBlockBytes + 12345;
  bytes[damaged] = static_cast<char>(bytes[damaged] ^ 1);
  write_file(path, bytes);
  const Graph graph = Graph::open(path);
  const std::uint64_t rows_per_block = kBlockBytes / (4 * sizeof(VertexId));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { graph.verify_rows(0, 2 * rows_per_block); });
  }
  graph.verify_rows(3 * rows_per_block, kMany);
  const std::string expected = "byte " + std::to_string(header.sections[kTargets].offset + 2 * kBlockBytes);
  CHECK(contains(error_of([&] { graph.verify_rows(0, 2 * rows_per_block + 1); }), expected));
  CHECK(contains(error_of([&] { graph.verify_rows(0, kMany); }), expected));
  CHECK(contains(error_of([&] { graph.verify_rows(0, kMany + 1); }), "no rows"));

  // Order across the border of two blocks of offsets.
  build(path, kMany, {{0, 0, 0}, {kMany - 1, 0, 0}}, {});
  bytes = read_file(path);
  const std::uint64_t first_of_second = header.sections[kOffsets].offset + kBlockBytes;
  std::memset(bytes.data() + header.sections[kOffsets].offset + 8, 0, kBlockBytes - 16);
  bytes[first_of_second - 8] = 1;
  std::memset(bytes.data() + first_of_second, 0, 8 * 100);
  seal(bytes);
  write_file(path, bytes);
  const Graph crossed = Graph::open(path);
  crossed.verify_rows(0, kBlockBytes / 8 - 1);
  CHECK(contains(error_of([&] { crossed.verify_rows(0, kBlockBytes / 8); }),
                 "byte " + std::to_string(first_of_second)));
}

TEST_CASE("a graph file is known by its name or its content, and may have another name in messages") {
  const TemporaryDirectory directory;
  const std::string text = directory / "edges.txt", short_one = directory / "x", odd = directory / "g";
  write_file(text, "0 1\n");
  write_file(short_one, "EDGE");
  build_small(odd);
  CHECK(!is_ours(text));
  CHECK(!is_ours(short_one));
  CHECK(is_ours(odd));
  CHECK(is_ours(directory / "."));
  CHECK(is_ours(directory / "missing.txt"));
  CHECK(is_ours(directory / "missing.ew"));
  CHECK(Graph::open(odd, "edges.csv").path() == "edges.csv");
  CHECK(error_of([&] { Graph::open(text, "else"); }).starts_with("else: byte "));
}

TEST_CASE("what is not a graph file is refused with one line") {
  const TemporaryDirectory directory;
  const std::string path = directory / "x";
  CHECK(error_of([&] { Graph::open(path); }) == path + ": cannot read: No such file or directory");
  write_file(path, std::string(10'000, 'x'));
  CHECK(contains(error_of([&] { Graph::open(path); }), "byte 0: it is not an Edgewire graph"));
  CHECK(contains(error_of([&] { Graph::open(directory / "."); }), "it is a folder without a graph"));
  REQUIRE(mkfifo((directory / "pipe").c_str(), 0600) == 0);
  CHECK(contains(error_of([&] { Graph::open(directory / "pipe"); }), "not a regular file"));
  CHECK(contains(error_of([&] { Graph::open("/dev/zero"); }), "not a regular file"));
  CHECK(contains(error_of([&] { build(directory / "pipe", 1, {}, {}); }), "not a regular file"));
  CHECK(contains(error_of([&] { build("/dev/full", 1, {}, {}); }), "not a regular file"));
  CHECK(contains(error_of([&] { build(directory / ".", 1, {}, {}); }), "it is a directory"));
  CHECK(directory.files() == 2);
}

}  // namespace edgewire::graph
