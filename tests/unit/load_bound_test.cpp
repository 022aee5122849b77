#include "bounds/load_bound.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace edgewire;
using namespace edgewire::bounds;

namespace {

/// A sort of 57.92 MB on two machines. Of its share, a machine reads the input in 1 s and writes it in 2 s;
/// its core takes 1 s before it merges and 1 s to merge. It sends 14.48 MB in 10,000 frames of 1448 + 90
/// bytes: 1.538 s at 80 Mbit/s.
LoadTask sort_task(std::uint64_t memory_bytes, std::uint64_t line_bits_per_s = 80'000'000) {
  LoadTask task;
  task.options.processes = {2};
  task.options.memory_bytes = memory_bytes;
  task.options.rates = {{"line", line_bits_per_s}};
  task.input_bytes = 57'920'000;
  task.disk_read_bytes_per_second = 28'960'000;
  task.disk_write_bytes_per_second = 14'480'000;
  task.core_bytes_per_second = 14'480'000;
  task.core_share_sending = 0.5;
  complete(task);
  return task;
}

constexpr std::uint64_t kAmple = 1 << 30, kLittle = 12 << 20;

void check_time(const LoadTask& task, double seconds, std::string_view limited_by) {
  const LoadBound bound = load_bound(task, task.options.processes.front());
  REQUIRE(bound.at.size() == 1);
  CHECK(bound.at[0].seconds == doctest::Approx(seconds).epsilon(1e-9));
  CHECK(bound.at[0].limited_by == limited_by);
}

}  // namespace

TEST_CASE("a load moves its input, its runs and its output, and sends what others own") {
  const LoadBound ample = load_bound(sort_task(kAmple), 2), little = load_bound(sort_task(kLittle), 2);
  CHECK(ample.machines == 2);
  CHECK(ample.runs == 0);
  CHECK(ample.bytes_spilled == 0);
  CHECK(ample.disk_bytes_read == 28'960'000);
  CHECK(ample.bytes_sent == 28'960'000);
  CHECK(ample.wire_bytes == 15'380'000);
  CHECK(little.runs > 0);
  CHECK(little.bytes_spilled == 57'920'000);
  CHECK(little.disk_bytes_read == 57'920'000);
  CHECK(little.disk_bytes_written == 57'920'000);
}

TEST_CASE("records in memory are sent, then sorted, then written") {
  // Sends 1.538 s while it reads 1 s, sorts 0.5 s, writes 2 s.
  check_time(sort_task(kAmple), 1.538 + 0.5 + 2, "disk");
  check_time(sort_task(kAmple, 8'000'000), 15.38 + 0.5 + 2, "wire");
}

TEST_CASE("each phase with runs takes as long as its slowest resource") {
  // Reads 1 s and spills 2 s, then fetches 1 s and writes 2 s.
  check_time(sort_task(kLittle), 3 + 3, "disk");
  check_time(sort_task(kLittle, 8'000'000), 15.38 + 3, "wire");
  LoadTask slow = sort_task(kLittle);
  slow.core_bytes_per_second /= 10;
  check_time(slow, 10 + 10, "cores");
  slow.cores = 5;  // 2 s in each phase, while the disk takes 3 s
  check_time(slow, 3 + 3, "disk");
}

TEST_CASE("all machines wait for the one that owns most") {
  LoadTask task = sort_task(kAmple);
  task.largest_share = 1.5;
  check_time(task, 1.5 * (1.538 + 0.5 + 2), "disk");
  task = sort_task(kLittle);
  task.largest_share = 1.5;
  check_time(task, (1 + 1.5 * 2) + 1.5 * 3, "disk");  // each reads an equal part of the input
  task.core_bytes_per_second /= 10;
  check_time(task, (5 + 1.5 * 5) + 1.5 * 10, "cores");  // and parses it
  task = sort_task(kLittle, 8'000'000);
  task.largest_share = 100;  // one of two machines has all
  check_time(task, 2 * 15.38 + 2 * 3, "wire");
}

TEST_CASE("runs that are merged to longer ones pass the disk once more, alone") {
  LoadTask task = sort_task(4'600'000);
  task.partitions = 2;
  const LoadBound bound = load_bound(task, 2);
  const double again = double(bound.bytes_spilled) / 57'920'000 - 1;
  REQUIRE(again > 0);
  check_time(task, 3 + 3 * again + 3, "disk");
}

TEST_CASE("processes that number ids anew tell each other which occur") {
  LoadTask task = sort_task(kAmple, 8'000);
  task.sorts = false;
  task.parts = true;
  task.edges = 10'000;  // in which all words of 32 ids occur
  task.vertices = 3'200;
  task.output_bytes = 0;
  complete(task);
  const LoadBound bound = load_bound(task, 2);
  CHECK(bound.bytes_sent == 40'000);
  CHECK(bound.id_bytes_sent == 2 * 100 * 8);
  CHECK(bound.wire_bytes == (20'000 + 14 * 90) + (800 + 90));
  const double written_s = double(task.output_bytes) / 2 / 14'480'000;
  check_time(task, 21.26 + 0.5 + 0.89 + std::max(1.0, written_s), "wire");
  task.format = graph::Format::el;
  CHECK(load_bound(task, 2).id_bytes_sent == 0);
}

TEST_CASE("processes of one machine share its disk and send nothing by wire") {
  LoadTask task = sort_task(kAmple);
  task.sorts = false;
  task.edges = 10'000;
  task.largest_share = 2;
  complete(task);
  const LoadBound bound = load_bound(task, 2);
  CHECK(bound.machines == 1);
  CHECK(bound.wire_bytes == 0);
  const double written_s = double(task.output_bytes) / 14'480'000;
  check_time(task, 2 + 0.5 + std::max(1.0, written_s), "disk");
}

TEST_CASE("a load needs records, edges and memory") {
  LoadTask task = sort_task(kAmple);
  task.input_bytes = 99;
  CHECK_THROWS_AS(complete(task), UsageError);
  task.sorts = false;
  CHECK_THROWS_AS(complete(task), UsageError);
  CHECK_THROWS_AS(load_bound(sort_task(1 << 20), 2), UsageError);
}
