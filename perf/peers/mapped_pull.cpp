// The program to compare edges on a disk with: PageRank and SpMV as a plain pull over CSR by in-edges
// (pull.h), whose sources are in a mapped file. Values, offsets and degrees are in memory, 20 bytes a vertex.
//
// Usage: mapped_pull write GRAPH.ew FILE
//        mapped_pull FILE --kernel pagerank|spmv --advice normal|sequential --threads N --iterations N
//        --values OUT
// The first makes the FILE that the second maps. OUT gets the values, f32 of pagerank, f64 of spmv; stdout
// one line of JSON.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <nlohmann/json.hpp>

#include "perf/peers/pull.h"

namespace {

using edgewire::Error;

constexpr std::uint64_t kMagic = 0x3152534370616d65;  // "emapCSR1"

/// What the file begins with. Offsets and out-degrees follow, and the sources of all edges.
struct Header {
  std::uint64_t magic, vertices, edges;

  std::uint64_t sources_at() const { return sizeof(Header) + (vertices + 1) * 8 + vertices * 4; }
};

void write_file(const std::string& from, const std::string& to) {
  const auto graph = edgewire::Graph::open(from);
  graph.verify_rows(0, graph.vertices());
  const pull::OwnInEdges edges(graph);
  const std::array header{Header{kMagic, graph.vertices(), graph.edges()}};
  pull::OutputBytes out(to);
  out.write(header);
  out.write(edges.offsets);
  out.write(edges.out_degrees);
  out.write(edges.sources);
  out.close();
}

/// A file that is mapped as long as this lives.
class Mapped {
 public:
  Mapped(const std::string& path, int advice) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || ::fstat(file, &status) != 0)
      throw Error(fmt::format("{}: {}", path, std::strerror(errno)));
    bytes_ = static_cast<std::size_t>(status.st_size);
    if (bytes_ < sizeof(Header)) throw Error(fmt::format("{} is cut short", path));
    begin_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    if (begin_ == MAP_FAILED) throw Error(fmt::format("{}: cannot map: {}", path, std::strerror(errno)));
    if (header().magic != kMagic || bytes_ != header().sources_at() + header().edges * 4)
      throw Error(fmt::format("{} is not a whole file of `mapped_pull write`", path));
    if (::madvise(begin_, bytes_, advice) != 0)
      throw Error(fmt::format("{}: madvise: {}", path, std::strerror(errno)));
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { ::munmap(begin_, bytes_); }

  const Header& header() const { return *static_cast<const Header*>(begin_); }
  template <class T>
  std::span<const T> at(std::uint64_t place, std::uint64_t count) const {
    return {reinterpret_cast<const T*>(static_cast<const char*>(begin_) + place), count};
  }

 private:
  void* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

/// That this process has caused to be read from a disk so far.
std::uint64_t bytes_read() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_inblock) * 512;
}

template <class Kernel>
void run_kernel(pull::InEdges edges, std::span<char* const> words) {
  Kernel kernel(edges);
  const int threads = std::stoi(pull::option(words, 2, "--threads"));
  const int iterations = std::stoi(pull::option(words, 2, "--iterations"));
  const std::uint64_t before = bytes_read();
  const std::vector<double> seconds = pull::run_passes(kernel, threads, iterations);
  const std::uint64_t read = bytes_read() - before;
  pull::OutputBytes out(pull::option(words, 2, "--values"));
  out.write(kernel.values());
  out.close();
  const nlohmann::ordered_json figures{{"seconds", seconds}, {"bytes_read", read}};
  fmt::print("{}\n", figures.dump());
}

void run(std::span<char* const> words) {
  if (words.size() == 4 && std::string_view(words[1]) == "write") return write_file(words[2], words[3]);
  if (words.size() < 2)
    throw Error("usage: mapped_pull write GRAPH.ew FILE, or mapped_pull FILE --kernel K ...");
  const std::string advice = pull::option(words, 2, "--advice");
  const Mapped file(words[1], advice == "sequential" ? MADV_SEQUENTIAL : MADV_NORMAL);
  const Header& header = file.header();
  const auto offsets = file.at<std::uint64_t>(sizeof(Header), header.vertices + 1);
  const auto degrees = file.at<std::uint32_t>(sizeof(Header) + offsets.size_bytes(), header.vertices);
  const std::vector<std::uint64_t> own_offsets(offsets.begin(), offsets.end());
  const std::vector<std::uint32_t> own_degrees(degrees.begin(), degrees.end());
  const pull::InEdges edges{own_offsets, file.at<std::uint32_t>(header.sources_at(), header.edges),
                            own_degrees};
  if (pull::option(words, 2, "--kernel") == "spmv") return run_kernel<pull::SpMV>(edges, words);
  run_kernel<pull::PageRank>(edges, words);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv, static_cast<std::size_t>(argc)});
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "mapped_pull: {}\n", error.what());
    return 1;
  }
}
