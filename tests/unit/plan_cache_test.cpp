// Plans that are kept for the next run: what is read is what was written, and whatever happens to a file, it
// is noticed and replaced.
#include "dense/job/plan_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <random>

#include "base/array_file.h"
#include "dense/job/dense_job.h"
#include "graph_test.h"
#include "kernels/runs.h"
#include "launch/bootstrap.h"

namespace edgewire::job {
namespace {

using graph::contains;
using graph::error_of;
using graph::read_file;
using graph::TemporaryDirectory;
using graph::write_file;

const ForEach kSerially = graph::in_turn;

struct Arrays {
  std::string text;
  std::uint32_t number = 0;
  std::vector<std::uint64_t> none, words;
  std::vector<std::uint8_t> large;
  bool operator==(const Arrays&) const = default;

  template <class File, class Self>
  static void sections(File& file, Self& self) {
    file(self.text);
    file.value(self.number);
    file(self.none);
    file(self.words);
    file(self.large);
  }
};

Arrays some_arrays(std::size_t large_bytes) {
  Arrays arrays{"hash", 42, {}, {1, 2, 1ULL << 60}, std::vector<std::uint8_t>(large_bytes)};
  for (std::size_t i = 0; i < large_bytes; ++i) arrays.large[i] = static_cast<std::uint8_t>(i * i / 7);
  return arrays;
}

void write(const std::string& path, const Arrays& arrays, const std::string& key) {
  ArrayFileWriter writer;
  Arrays::sections(writer, arrays);
  writer.write(path, key, 5, kSerially);
}

Arrays read(const std::string& path, const std::string& key) {
  ArrayFileReader reader(path, key, kSerially);
  CHECK(reader.generation() == 5);
  Arrays arrays;
  Arrays::sections(reader, arrays);
  CHECK(contains(error_of([&] { reader.value(arrays.number); }), "a section is missing"));
  return arrays;
}

/// The file with its header's checksum made right again.
std::string sealed(std::string bytes) {
  ArrayFileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.checksum = header.checksum_with({reinterpret_cast<const std::uint8_t*>(bytes.data()) + sizeof header,
                                          header.front_bytes - sizeof header});
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

TEST_CASE("a plan file gives back what was put in") {
  const TemporaryDirectory directory;
  const std::string path = directory / "plan";
  for (const std::size_t bytes : {0, 1, 1 << 20, (3 << 20) + 17}) {
    const Arrays arrays = some_arrays(bytes);
    write(path, arrays, "graph 1\nworkers 2\n");
    CHECK(read(path, "graph 1\nworkers 2\n") == arrays);
  }
  CHECK(directory.files() == 1);
}

TEST_CASE("a section of several parts, longer than a block") {
  const TemporaryDirectory directory;
  const std::string path = directory / "plan";
  const Arrays arrays = some_arrays((5 << 20) + 3);
  const auto all = std::as_bytes(std::span(arrays.large));
  ArrayFileWriter writer;
  std::vector<std::span<const std::byte>> parts;
  for (std::size_t at = 0, more = 0; at < all.size();
       at += more, more = std::min(2 * more + 1, all.size() - at))
    parts.push_back(all.subspan(at, more));
  writer.add(std::move(parts));
  writer.copy(std::vector<int>{1, 2, 3});
  writer.write(path, "", 1, kSerially);
  ArrayFileReader reader(path, "", kSerially);
  const auto mapped = reader.map<std::uint8_t>();
  CHECK(std::equal(mapped.begin(), mapped.end(), arrays.large.begin(), arrays.large.end()));
  CHECK(reinterpret_cast<std::uintptr_t>(mapped.data()) % 64 == 0);
  std::vector<int> numbers;
  reader(numbers);
  CHECK(numbers == std::vector<int>{1, 2, 3});
}

TEST_CASE("any byte that changes is noticed, and any byte that is missing") {
  const TemporaryDirectory directory;
  const std::string path = directory / "plan";
  const Arrays arrays = some_arrays(100);
  write(path, arrays, "graph 1\n");
  const std::string whole = read_file(path);
  std::size_t padding = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    write_file(path, bytes);
    try {
      const Arrays found = read(path, "graph 1\n");
      CHECK(found == arrays);
      ++padding;  // nobody reads what is between sections
    } catch (const Error& error) {
      CHECK(contains(error.what(), path));
    }
  }
  CHECK(padding < 4 * 63);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    write_file(path, whole.substr(0, bytes));
    const std::string message = error_of([&] { read(path, "graph 1\n"); });
    CHECK(contains(message, bytes < sizeof(ArrayFileHeader) ? "cut short" : "but its header says"));
  }
  write_file(path, whole + '\0');
  CHECK(contains(error_of([&] { read(path, "graph 1\n"); }), "but its header says"));
}

TEST_CASE("a plan file of something else is refused, saying what differs") {
  const TemporaryDirectory directory;
  const std::string path = directory / "plan";
  const Arrays arrays = some_arrays(10);
  write(path, arrays, "graph 1\nworkers 2\n");
  const std::string whole = read_file(path);
  CHECK(error_of([&] { read(path, "graph 1\nworkers 3\n"); }) ==
        path + ": made with workers 2, now workers 3");
  CHECK(contains(error_of([&] { read(path, "graph 2\n"); }), "made with graph 1, now graph 2"));
  CHECK(contains(error_of([&] { read(path, "graph 1\n"); }), "made with workers 2, now nothing"));
  CHECK(contains(error_of([&] { read(path, "graph 1\nworkers 2\nx\n"); }), "made with nothing, now x"));
  CHECK(contains(error_of([&] { read(directory / "none", ""); }), "No such file"));
  CHECK(contains(error_of([&] { read(directory / "", ""); }), "Is a directory"));

  const auto with = [&](auto change) {
    ArrayFileHeader header;
    std::memcpy(&header, whole.data(), sizeof header);
    change(header);
    std::string bytes = whole;
    std::memcpy(bytes.data(), &header, sizeof header);
    write_file(path, bytes);
    return error_of([&] { read(path, "graph 1\nworkers 2\n"); });
  };
  CHECK(contains(with([](auto& h) { h.magic[0] = 'x'; }), "byte 0: it is not a plan cache"));
  CHECK(contains(with([](auto& h) { h.version = 3; }),
                 "byte 8: the file has format version 3, but this program has 7"));
  for (const std::uint64_t large : {1ULL << 20, 1ULL << 40, ~0ULL, ~0ULL - 7}) {
    CHECK(contains(with([&](auto& h) { h.key_bytes = large; }), "the header is damaged"));
    CHECK(contains(with([&](auto& h) { h.front_bytes = large; }), "the header is damaged"));
  }
  CHECK(contains(with([](auto& h) { h.sections = ~0U; }), "the header is damaged"));
}

TEST_CASE("a section table that is wrong but has the right checksum is refused") {
  const TemporaryDirectory directory;
  const std::string path = directory / "plan";
  write(path, some_arrays(100), "k");
  const std::string whole = read_file(path);
  constexpr std::size_t kTable = sizeof(ArrayFileHeader) + 8;
  for (std::size_t field = 0; field < 10; ++field) {
    for (const std::uint64_t value : {1ULL, 1ULL << 20, ~0ULL, ~0ULL << 6}) {
      std::string bytes = whole;
      std::memcpy(bytes.data() + kTable + field * 8, &value, sizeof value);
      write_file(path, sealed(bytes));
      error_of([&] { read(path, "k"); });
    }
  }
}

TEST_CASE("another user's file is not used") {
  const TemporaryDirectory directory;
  const std::string path = directory / "plan";
  write(path, some_arrays(10), "k");
  if (chown(path.c_str(), 65534, 65534) != 0) {
    MESSAGE("skipped: files cannot be given to another user here");
    return;
  }
  CHECK(error_of([&] { read(path, "k"); }) == path + ": it belongs to another user");
}

TEST_CASE("a file that others can write is not used, and never made") {
  const TemporaryDirectory directory;
  const std::string path = directory / "plan";
  const mode_t before = umask(0);
  write(path, some_arrays(10), "k");
  umask(before);
  CHECK(read(path, "k") == some_arrays(10));
  for (const mode_t mode : {0664, 0646}) {
    REQUIRE(chmod(path.c_str(), mode) == 0);
    CHECK(error_of([&] { read(path, "k"); }) == path + ": others can write it (chmod go-w helps)");
  }
}

/// Jobs of one process on a random graph.
struct Jobs {
  TemporaryDirectory directory;
  std::string path = directory / "g.ew";
  std::string file = directory / "g.ew.plan-0-of-1";
  DenseOptions options;
  topology::Machine machine = topology::discover();
  PlanSource source = PlanSource::none;
  std::string note;

  explicit Jobs(std::uint32_t vertices = 3000) {
    std::minstd_rand random(vertices);
    std::vector<graph::Edge> edges;
    for (std::uint32_t e = 0; e < 8 * vertices; ++e)
      edges.emplace_back(random() % vertices, random() % vertices, 0.0F);
    graph::build(path, vertices, edges, {});
    options.plan_cache = directory / "";
    options.process.workers = 2;
  }
  /// The ranks, bit by bit.
  std::vector<std::uint64_t> run() {
    const auto bootstrap = launch::alone();
    const auto graph = Graph::open(path);
    DenseJob job(*bootstrap, graph, options, machine);
    source = job.cache_use().source;
    note = job.cache_use().note;
    kernels::PageRank<float> pagerank({}, graph.vertices());
    DenseRun run(job, pagerank);
    run.iterate({});
    std::vector<std::uint64_t> bits;
    for (const double rank : run.values()) bits.push_back(std::bit_cast<std::uint64_t>(rank));
    return bits;
  }
};

TEST_CASE("the second run uses the plan of the first, bit for bit") {
  for (const std::uint32_t vertices : {0U, 1U, 3000U, 200000U}) {
    Jobs jobs(vertices);
    for (const auto layout : {plan::Layout::given, plan::Layout::degree}) {
      jobs.options.layout = layout;
      jobs.options.plan_cache.clear();
      const auto ranks = jobs.run();
      CHECK(jobs.source == PlanSource::none);
      jobs.options.plan_cache = jobs.directory / "";
      CHECK(jobs.run() == ranks);
      CHECK(jobs.source == PlanSource::written);
      CHECK(jobs.run() == ranks);
      CHECK(jobs.source == PlanSource::used);
      CHECK(jobs.note.empty());
    }
  }
}

TEST_CASE("on a machine with several nodes tiles are copied to them") {
  Jobs jobs;
  jobs.machine.nodes.push_back(jobs.machine.nodes[0]);
  const auto ranks = jobs.run();
  CHECK(jobs.run() == ranks);
  CHECK(jobs.source == PlanSource::used);
}

TEST_CASE("a file that is damaged anywhere, cut or foreign is replaced") {
  Jobs jobs;
  const auto ranks = jobs.run();
  const std::string whole = read_file(jobs.file);
  const auto replaced = [&](const std::string& bytes, const std::string& why) {
    write_file(jobs.file, bytes);
    CHECK(jobs.run() == ranks);
    CHECK(jobs.source == PlanSource::written);
    CHECK(contains(jobs.note, "plan cache not used: " + jobs.file));
    CHECK(contains(jobs.note, why));
    CHECK(read_file(jobs.file).size() == whole.size());
  };
  for (int i = 0; i < 40; ++i) {
    std::string bytes = whole;
    auto& byte = bytes[bytes.size() * i / 40];
    byte = static_cast<char>(~byte);
    write_file(jobs.file, bytes);
    CHECK(jobs.run() == ranks);
    if (jobs.source == PlanSource::used) continue;  // between sections
    CHECK(contains(jobs.note, "plan cache not used: " + jobs.file));
  }
  replaced(whole.substr(0, whole.size() / 2), "bytes but its header says");
  replaced("", "cut short");
  replaced("edgewire", "cut short");
  replaced(std::string(10000, 'x'), "not a plan cache");
  CHECK(jobs.run() == ranks);
  CHECK(jobs.source == PlanSource::used);
}

TEST_CASE("another graph or other options need another plan") {
  Jobs jobs;
  jobs.run();
  const auto replaced = [&](const std::string& why) {
    jobs.run();
    CHECK(jobs.source == PlanSource::written);
    CHECK(contains(jobs.note, why));
    jobs.run();
    CHECK(jobs.source == PlanSource::used);
  };
  jobs.options.process.workers = 3;
  replaced("made with workers 2, now workers 3");
  jobs.options.strategy = plan::Strategy::cover;
  replaced("made with strategy slots, now strategy cover");
  jobs.options.choose_strategy = true;
  replaced("now strategy auto");
  jobs.options.encoding = plan::Encoding::bf16;
  replaced("made with wire f32, now wire bf16");
  jobs.options.ownership = "ranges";
  replaced("made with ownership hash, now ownership ranges");
  jobs.options.choose_layout = true;
  replaced("made with layout degree, now layout auto");
  jobs.options.choose_layout = false;
  jobs.options.layout = plan::Layout::given;
  replaced("made with layout auto, now layout given");
  const std::string partition = jobs.directory / "owners";
  std::string owners;
  for (int v = 0; v < 3000; ++v) owners += "0\n";
  write_file(partition, owners);
  jobs.options.ownership = partition;
  replaced("now ownership " + partition);
  owners.insert(1, 1, '\r');
  write_file(partition, owners);
  replaced("made with partition file");
  graph::build(jobs.path, 3000, {{1, 2, 0.0F}}, {});
  replaced("made with graph");
}

TEST_CASE("tiles on disk stay for each of the latest options") {
  Jobs jobs;
  const std::string devices[] = {jobs.directory / "a", jobs.directory / "b"};
  for (const auto& device : devices) std::filesystem::create_directory(device);
  jobs.options.devices = {devices[0], devices[1]};
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  auto age = long_ago - std::chrono::hours(1);
  const auto run = [&](int workers) {
    jobs.options.process.workers = workers;
    jobs.run();
    CHECK(jobs.note.empty());
    age += std::chrono::seconds(1);  // a file system's clock may be too coarse
    for (const auto& file : std::filesystem::recursive_directory_iterator(jobs.directory / ""))
      if (file.last_write_time() > long_ago) std::filesystem::last_write_time(file.path(), age);
    return jobs.source;
  };
  const auto files = [&](const std::string& folder) {
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder))
      count += file.path().filename().string().starts_with("g.ew.edges-") ? 1 : 0;
    return count;
  };
  for (const std::string other : {"g.ew.edges-0-of-1-disk-0", "h.ew.edges-0123456789abcdef-0-of-1-disk-0",
                                  "g.ew.edges-0123456789abcdef-1-of-2-disk-0"})
    write_file(devices[0] + "/" + other, "another's");
  for (const int workers : {1, 2, 3, 4}) CHECK(run(workers) == PlanSource::written);
  for (const int workers : {1, 2, 3, 4}) CHECK(run(workers) == PlanSource::used);
  CHECK(run(5) == PlanSource::written);
  CHECK(files(devices[0]) == 4 + 2);
  CHECK(files(devices[1]) == 4);
  CHECK(files(jobs.directory / "") == 4);
  CHECK(std::filesystem::exists(devices[0] + "/h.ew.edges-0123456789abcdef-0-of-1-disk-0"));
  for (const int workers : {2, 3, 4, 5}) CHECK(run(workers) == PlanSource::used);
  CHECK(run(1) == PlanSource::written);  // the eldest were removed
  graph::build(jobs.path, 3000, {{1, 2, 0.0F}}, {});
  CHECK(run(1) == PlanSource::written);
  CHECK(files(devices[1]) == 4);
}

TEST_CASE("a run whose plan cannot be written goes on") {
  Jobs jobs;
  const auto ranks = jobs.run();
  jobs.options.plan_cache = jobs.path + "/below";
  CHECK(jobs.run() == ranks);
  CHECK(jobs.source == PlanSource::none);
  CHECK(jobs.note ==
        "plan cache not written: " + jobs.path + "/below/g.ew.plan-0-of-1: cannot write: Not a directory");
  jobs.options.plan_cache = jobs.directory / "new/folder";
  CHECK(jobs.run() == ranks);
  CHECK(jobs.source == PlanSource::written);
}

}  // namespace
}  // namespace edgewire::job
