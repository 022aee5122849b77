#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph_test.h"
#include "launch/bootstrap.h"
#include "shuffle/check.h"
#include "shuffle/id_bits.h"
#include "shuffle/memory_plan.h"
#include "shuffle/record_input.h"
#include "shuffle/run.h"
#include "shuffle/sort_job.h"
#include "shuffle/splitters.h"

namespace edgewire::shuffle {

namespace {

/// Records of 13 bytes whose key is bytes 2 to 11: longer than a prefix, and 10 different ones only.
constexpr RecordShape kShape{13, 2, 10};

std::vector<std::string> random_records(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> records(count);
  for (auto& record : records) {
    record = std::string(13, 'k');
    record[11] = static_cast<char>('0' + random() % 10);
    for (const std::size_t at : {0, 1, 12}) record[at] = static_cast<char>(random());
  }
  return records;
}

/// By the key, and then by all bytes, as unsigned numbers.
void sort_plainly(std::vector<std::string>& records) {
  std::sort(records.begin(), records.end(), [](const std::string& a, const std::string& b) {
    return std::pair(a.substr(2, 10), a) < std::pair(b.substr(2, 10), b);
  });
}

const std::byte* bytes_of(const std::string& record) {
  return reinterpret_cast<const std::byte*>(record.data());
}
std::string text_of(const std::byte* record) { return {reinterpret_cast<const char*>(record), kShape.bytes}; }

Splitters splitters_of(const std::vector<std::string>& sample, std::uint32_t partitions) {
  std::vector<std::byte> bytes(sample.size() * kShape.stride());
  for (std::size_t i = 0; i < sample.size(); ++i)
    std::memcpy(&bytes[i * kShape.stride()], sample[i].data(), kShape.bytes);
  return {kShape, bytes, partitions};
}

RecordBuffer buffer_of(std::span<const std::string> records) {
  RecordBuffer buffer(kShape, records.size(), -1);
  for (const auto& record : records) buffer.add(bytes_of(record), kShape.prefix(bytes_of(record)));
  buffer.sort();
  return buffer;
}

TEST_CASE("files of records that are written while they are read are refused") {
  const graph::TemporaryDirectory folder;
  const std::string path = folder / "records";
  const auto change = [&](const std::string& text, std::filesystem::file_time_type time) {
    graph::write_file(path, text);
    std::filesystem::last_write_time(path, time);
  };
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  change("abcdefgh", old);
  const RecordInput input({path}, 4);
  input.refuse_changed();
  change("abcdefghijkl", old);
  CHECK_THROWS_WITH_AS(input.refuse_changed(),
                       (path + ": the file was written while it was read; run again").c_str(), Error);
  change("abcdabcd", old + std::chrono::seconds(1));
  CHECK_THROWS_AS(input.refuse_changed(), Error);
  change("abcdefgh", old);
  input.refuse_changed();
}

TEST_CASE("splitters cut records with few keys into parts of about equal size") {
  auto records = random_records(20'000, 1);
  for (const std::uint32_t partitions : {1U, 2U, 7U, 80U}) {
    const Splitters splitters = splitters_of(random_records(8000, 2), partitions);
    REQUIRE(splitters.partitions() == partitions);
    sort_plainly(records);
    std::vector<std::size_t> sizes(partitions);
    std::uint32_t last = 0;
    for (const auto& record : records) {
      const auto p = splitters.partition(bytes_of(record), kShape.prefix(bytes_of(record)));
      REQUIRE(p < partitions);
      CHECK(p >= last);  // in order
      last = p;
      ++sizes[p];
    }
    for (const std::size_t size : sizes) CHECK(size < 2 * records.size() / partitions + 100);
  }
}

TEST_CASE("without a sample, or where all records are the same, every record has a partition") {
  const std::vector<std::string> same(100, std::string(13, 'x'));
  for (const auto& sample : {std::vector<std::string>(), same}) {
    const Splitters splitters = splitters_of(sample, 5);
    CHECK(splitters.partition(bytes_of(same[0]), kShape.prefix(bytes_of(same[0]))) < 5);
  }
}

TEST_CASE("records that are the same as splitters are cut as those of the sample are") {
  const std::string x(13, 'x'), y(13, 'y');
  std::vector<std::string> sample(30, x);
  sample.insert(sample.end(), 10, y);
  const Splitters splitters =
      splitters_of(sample, 8);  // every 5th: six of x, of which one begins all, one of y
  const auto at = [&](const std::string& record) {
    return splitters.partition(bytes_of(record), kShape.prefix(bytes_of(record)));
  };
  CHECK(at(x) == 5);
  CHECK(at(y) == 7);
  CHECK(splitters.is_splitter(bytes_of(x), kShape.prefix(bytes_of(x)), 5));
  const std::string between(13, 'x' + 1), lower(13, 'a');
  CHECK(!splitters.is_splitter(bytes_of(lower), kShape.prefix(bytes_of(lower)), at(lower)));
  CHECK(between == y);
  for (std::uint32_t p = 0; p + 1 < 5; ++p) CHECK(splitters.same(p, p + 1));
  CHECK(!splitters.same(4, 5));
  for (std::uint32_t p = 0; p < 5; ++p) {  // of 3 times as many as in the sample
    CHECK(splitters.before_cut(p, 90) == 15 * (p + 1));
    CHECK(splitters.before_cut(p, 3'000'000'000'000) == 500'000'000'000 * (p + 1));
    CHECK(splitters.before_cut(p, 0) == 0);
  }
  CHECK(splitters.before_cut(5, 30) == 0);  // y begins there
  CHECK(splitters.before_cut(6, 30) == 15);
}

/// What merging the cursors gives.
std::vector<std::string> merged(std::deque<Cursor>& cursors) {
  std::vector<std::string> found;
  merge(kShape, cursors, [&](const std::byte* record) { found.push_back(text_of(record)); });
  return found;
}

/// Of a partition, with the records that are the same as the splitter before it.
std::uint64_t begin_of(const Cuts& cuts, std::size_t part) { return cuts[part == 0 ? 0 : 2 * part - 1]; }
std::uint64_t end_of(const Cuts& cuts, std::size_t part) { return cuts[2 * part + 1]; }

TEST_CASE("runs on disk and a buffer in memory merge to what a plain sort gives") {
  auto records = random_records(5000, 3);
  const Splitters splitters = splitters_of(random_records(500, 4), 4);
  const transport::Health health;
  disk::Queue queue;
  RunFile file(kShape, std::filesystem::temp_directory_path().string(), queue, health);
  const auto kept = buffer_of(std::span(records).first(1000));
  for (std::size_t first = 1000; first < records.size(); first += 800) {
    const auto buffer = buffer_of(std::span(records).subspan(first, 800));
    file.append(buffer, buffer.cuts(splitters, 0, 4));
  }
  const auto cuts = kept.cuts(splitters, 0, 4);
  REQUIRE(cuts.size() == 8);
  sort_plainly(records);
  const std::size_t each = Cursor::least_bytes(kShape);
  const topology::NodeMemory memory(5 * each, -1, "runs");
  for (const std::size_t runs : {5, 4, 1}) {  // as they are, the first two merged, all merged
    if (runs < 5) file.merge_first(file.runs().size() - runs + 1, memory.as<std::byte>());
    REQUIRE(file.runs().size() == runs);
    std::size_t found = 0;
    for (std::size_t part = 0; part < 4; ++part) {
      std::deque<Cursor> cursors;
      for (std::size_t r = 0; r < runs; ++r)
        cursors.emplace_back(kShape, file, queue, begin_of(file.runs()[r], part),
                             end_of(file.runs()[r], part), memory.as<std::byte>().subspan(r * each, each));
      cursors.emplace_back(kShape, kept, begin_of(cuts, part), end_of(cuts, part));
      std::vector<std::string> known;
      for (const auto& record : records)
        if (splitters.partition(bytes_of(record), kShape.prefix(bytes_of(record))) == part)
          known.push_back(record);
      CHECK(merged(cursors) == known);
      found += known.size();
    }
    CHECK(found > 3000);
  }
}

TEST_CASE("short records that are all key are sorted as they lie") {
  std::mt19937_64 random(7);
  for (const std::size_t bytes : {8U, 12U, 17U})
    for (const std::uint64_t different : {std::uint64_t{1}, std::uint64_t{300}, std::uint64_t{1} << 40}) {
      const RecordShape shape{bytes, 0, bytes};
      RecordBuffer buffer(shape, 5000, -1);
      std::vector<std::string> known;
      while (!buffer.full()) {
        std::string record(bytes, '\0');
        const std::uint64_t number = __builtin_bswap64(random() % different << 13);
        std::memcpy(record.data(), &number, sizeof number);
        if (bytes > 8) record[bytes - 1] = static_cast<char>(random());
        buffer.add(bytes_of(record), shape.prefix(bytes_of(record)));
        known.push_back(record);
      }
      buffer.sort();
      std::sort(known.begin(), known.end(), [](const std::string& a, const std::string& b) {
        return std::memcmp(a.data(), b.data(), a.size()) < 0;
      });
      for (std::size_t i = 0; i < known.size(); ++i)
        REQUIRE(std::memcmp(buffer.record(i), known[i].data(), bytes) == 0);
    }
}

TEST_CASE("bits of ids know their places") {
  IdBits bits(10'000);
  const std::vector<std::uint64_t> ids = {3, 31, 32, 63, 64, 511, 512, 5000, 8191};
  for (const std::uint64_t id : ids) bits.set(id);
  bits.add_half(250, 1);  // of another process: 8000
  CHECK(bits.half(1) == 0x8000'0001U);
  bits.count(8192);
  CHECK(bits.size() == 10);
  for (std::size_t i = 0; i < 8; ++i) CHECK(bits.rank(ids[i]) == i);
  CHECK(bits.rank(0) == 0);
  CHECK(bits.rank(4999) == 7);
  CHECK(bits.rank(8191) == 9);
  CHECK(bits.rank(8192) == 10);
  CHECK(bits.rank(1'000'000) == 10);
  std::vector<std::uint64_t> seen;
  bits.visit(32, 8191, [&](std::uint64_t id) { seen.push_back(id); });
  CHECK(seen == std::vector<std::uint64_t>{32, 63, 64, 511, 512, 5000, 8000});
}

TEST_CASE("a run goes to a folder that exists, or one line says which does not; a failed job writes none") {
  disk::Queue queue;
  const auto buffer = buffer_of(random_records(3, 1));
  const transport::Health well;
  RunFile nowhere(kShape, "/nonexistent", queue, well);
  CHECK_THROWS_WITH_AS(nowhere.append(buffer, {0, 3}),
                       doctest::Contains("/nonexistent: cannot write a sorted run: "), Error);
  transport::Health health;
  RunFile file(kShape, std::filesystem::temp_directory_path().string(), queue, health);
  health.fail(1, "process 1 is gone");
  CHECK_THROWS_WITH_AS(file.append(buffer, {0, 3}), "process 1 is gone", Error);
}

TEST_CASE("a plan stays within its memory, or the error says how much is needed") {
  for (const std::size_t bytes : {1U, 100U, 4096U})
    for (const int workers : {1, 2, 64})
      for (const std::uint32_t partitions : {1U, 80U, 65536U})
        for (const std::size_t rings : {std::size_t{0}, std::size_t{256} << 20}) {
          const MemoryNeeds needs{{bytes, 0, 1}, workers, partitions, 1'000'000'000, rings};
          std::uint64_t least = 0;
          try {
            plan_memory(needs, 1);
            FAIL("nothing was thrown");
          } catch (const UsageError& error) {
            const std::string text = error.what();
            least = std::stoull(text.substr(text.find("needs at least ") + 15));
          }
          CHECK_THROWS_AS(plan_memory(needs, least - 1), UsageError);
          for (const std::uint64_t memory : {least, 10 * least}) {
            const auto plan = plan_memory(needs, memory);
            const auto all = static_cast<std::uint64_t>(workers);
            CHECK(plan.buffer_records >= 1024);
            CHECK(rings + all * (3 * RunFile::kBlockBytes + plan.buffer_records * (bytes + 16)) <= memory);
            CHECK(rings + all * (3 * RunFile::kBlockBytes + plan.merge_bytes) <= memory);
            CHECK(plan.fan_in >= 2 * all);
            CHECK(Cursor::bytes_of_each(plan.merge_bytes, plan.fan_in) >= Cursor::least_bytes(needs.shape));
            CHECK(plan.sample_records * bytes * 2 + rings <= memory);
            CHECK((plan.sample_records >= partitions || partitions == 1));
          }
        }
  CHECK(plan_memory({{100, 0, 8}, 1, 80, 17, 0}, 1 << 30).sample_records == 17);
}

TEST_CASE("what is spilled follows from the memory") {
  MemoryPlan plan;
  plan.buffer_records = 10;
  plan.fan_in = 4;
  CHECK(plan_spill(plan, 2, 0).runs == 0);
  CHECK(plan_spill(plan, 2, 10).runs == 0);
  CHECK(plan_spill(plan, 2, 11).runs == 2);
  CHECK(plan_spill(plan, 2, 20).records_again == 0);
  // Runs of 10, the last one of 5, and two of each worker can be merged at last: the first four become 40
  // records, the next four another 40, and what is left of 10s and 5s is then merged with the first of these.
  const auto spill = plan_spill(plan, 2, 95);
  CHECK(spill.runs == 2);
  CHECK(spill.records_again == 40 + 40 + 55);
  CHECK(plan_spill(plan, 1, 95).runs == 4);
  CHECK(plan_spill(plan, 1, 95).records_again == 40 + 40);
}

TEST_CASE("a proof of parts finds what is missing, changed or out of order") {
  const auto path = (std::filesystem::temp_directory_path() / "edgewire-shuffle-XXXXXX").string();
  std::string name = path;
  const int descriptor = mkstemp(name.data());
  REQUIRE(descriptor >= 0);
  const OpenFile file(descriptor);
  auto records = random_records(100, 5);
  sort_plainly(records);
  const auto prove = [&](const std::vector<std::string>& some) {
    std::string bytes;
    for (const auto& record : some) bytes += record;
    REQUIRE(ftruncate(descriptor, 0) == 0);
    REQUIRE(pwrite(descriptor, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    return prove_part(name, kShape);
  };
  const auto first = prove({records.begin(), records.begin() + 40});
  const auto second = prove({records.begin() + 40, records.end()});
  const PartProof empty;
  const std::uint64_t sum = first.checksum + second.checksum;
  CHECK(fault_of({first, empty, second}, kShape, 100, sum).empty());
  CHECK(fault_of({second, empty, first}, kShape, 100, sum).find("belongs before") != std::string::npos);
  CHECK(fault_of({first, second}, kShape, 101, sum).find("100 records and the input 101") !=
        std::string::npos);
  CHECK(fault_of({first, second}, kShape, 100, sum + 1).find("not those of the input") != std::string::npos);
  const auto again = unpack_proofs(pack_proofs({first, empty, second}), kShape);
  REQUIRE(again.size() == 3);
  CHECK(fault_of(again, kShape, 100, sum).empty());
  CHECK_THROWS_AS(unpack_proofs(pack_proofs({first}).substr(1), kShape), Error);
  std::swap(records[7], records[8]);
  CHECK_THROWS_WITH_AS(prove(records), doctest::Contains("byte 104: the record belongs before"), Error);
  REQUIRE(ftruncate(descriptor, 20) == 0);
  CHECK_THROWS_WITH_AS(prove_part(name, kShape), doctest::Contains("ends within a record"), Error);
  std::filesystem::remove(name);
}

TEST_CASE("parts of a sort have no names before the sort is committed") {
  const graph::TemporaryDirectory folder;
  const auto records = random_records(1000, 8);
  std::string bytes;
  for (const auto& record : records) bytes += record;
  graph::write_file(folder / "in", bytes);
  SortOptions options;
  options.inputs = {folder / "in"};
  options.output = folder / "out";
  options.shape = kShape;
  options.partitions = 3;
  options.memory_bytes = 1 << 28;
  const auto alone = launch::alone();
  for (const bool commits : {false, true}) {
    SortJob job(*alone, options);
    job.run();
    CHECK(std::filesystem::is_empty(options.output));
    std::vector<PartProof> proofs;
    for (const auto& part : job.parts())
      proofs.push_back(prove_part(part->path_for_others(), kShape, part->path()));
    CHECK(fault_of(proofs, kShape, records.size(), job.figures().checksum).empty());
    if (!commits) continue;
    job.commit();
    for (std::uint32_t p = 0; p < 3; ++p)
      CHECK(prove_part(partition_file(options.output, p, 3), kShape).checksum == proofs[p].checksum);
  }
}

}  // namespace

}  // namespace edgewire::shuffle
