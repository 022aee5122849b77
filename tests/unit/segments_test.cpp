// Segments on disks: what is read is what was written, in order and for ever, and damage is named.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "disk/read_probe.h"
#include "disk/segment_file.h"
#include "disk/segment_reader.h"

namespace edgewire::disk {

namespace {

/// A folder with the files of some segments, whose bytes are random.
struct SegmentScratch {
  SegmentScratch() {
    std::string name = (std::filesystem::temp_directory_path() / "edgewire-segments-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder = name;
    paths = {folder + "/a", folder + "/b"};
  }
  ~SegmentScratch() { std::filesystem::remove_all(folder); }

  void write(const std::vector<std::uint32_t>& sizes, std::uint64_t generation) {
    SegmentWriter writer(paths, generation);
    std::mt19937_64 random(sizes.size());
    for (const std::uint32_t size : sizes) {
      std::vector<std::byte> bytes((size + kAlignment - 1) / kAlignment * kAlignment);
      for (auto& byte : bytes) byte = static_cast<std::byte>(random());
      segments.push_back(writer.place(size));
      contents.emplace_back(bytes.begin(), bytes.begin() + size);
      writer.write(segments.back(), bytes);
    }
    writer.commit();
  }
  void change(const std::string& path, std::uint64_t offset, char byte) const {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
    REQUIRE(file.good());
  }
  std::string error_of_open(std::uint64_t generation) const {
    try {
      const SegmentFiles files(paths, generation);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::string folder;
  std::vector<std::string> paths;
  std::vector<Segment> segments;
  std::vector<std::vector<std::byte>> contents;
};

std::vector<std::uint32_t> odd_sizes(std::size_t count, std::uint32_t most) {
  std::mt19937 random(3);
  std::vector<std::uint32_t> sizes;
  for (std::size_t i = 0; i < count; ++i) sizes.push_back(1 + static_cast<std::uint32_t>(random()) % most);
  return sizes;
}

TEST_CASE("segments come in order, again and again, in any memory") {
  SegmentScratch scratch;
  scratch.write(odd_sizes(300, 50000), 7);
  const SegmentFiles files(scratch.paths, 7);
  std::vector<std::uint64_t> bytes(scratch.paths.size());
  for (const std::size_t memory : {std::size_t{0}, std::size_t{200000}, std::size_t{1} << 24}) {
    SegmentReader reader(files, scratch.segments, memory);
    for (int round = 0; round < 3; ++round)
      for (std::size_t s = 0; s < scratch.segments.size(); ++s) {
        const auto item = reader.next();
        REQUIRE(item.number == s);
        REQUIRE(std::ranges::equal(item.bytes, scratch.contents[s]));
        bytes[scratch.segments[s].file] += scratch.segments[s].padded_bytes();
      }
    CHECK(files.bytes_read() == bytes);
  }
}

TEST_CASE("few segments, in memory for many") {
  for (const std::size_t count : {1U, 2U, 3U}) {
    SegmentScratch scratch;
    scratch.write(odd_sizes(count, 9000), 1);
    const SegmentFiles files(scratch.paths, 1);
    SegmentReader reader(files, scratch.segments, std::size_t{1} << 20);
    for (std::size_t s = 0; s < 50; ++s)
      REQUIRE(std::ranges::equal(reader.next().bytes, scratch.contents[s % count]));
  }
}

TEST_CASE("files get about the same bytes, whatever the sizes") {
  SegmentScratch scratch;
  scratch.write(odd_sizes(500, 300000), 1);
  const auto a = std::filesystem::file_size(scratch.paths[0]),
             b = std::filesystem::file_size(scratch.paths[1]);
  CHECK((a > b ? a - b : b - a) <= 300000 + kAlignment);
}

TEST_CASE("a changed byte, and a file that is cut short meanwhile, are named with their place") {
  SegmentScratch scratch;
  scratch.write({20000, 20000, 20000, 20000}, 1);
  const Segment& third = scratch.segments[2];
  scratch.change(scratch.paths[third.file], third.offset + 12345,
                 static_cast<char>(~std::to_integer<int>(scratch.contents[2][12345])));
  const SegmentFiles files(scratch.paths, 1);
  SegmentReader reader(files, scratch.segments, 0);
  reader.next();
  reader.next();
  const std::string place = scratch.paths[third.file] + ": byte " + std::to_string(third.offset) + ": ";
  CHECK_THROWS_WITH_AS(
      reader.next(),
      (place + "the file is damaged here (a checksum differs); remove it, and the next run writes it anew")
          .c_str(),
      Error);
  REQUIRE(truncate(scratch.paths[third.file].c_str(), static_cast<off_t>(third.offset + 5000)) == 0);
  SegmentReader again(files, {third}, 0);
  CHECK_THROWS_WITH_AS(again.next(), (place + "the file was cut short").c_str(), Error);
}

TEST_CASE("the limit is that of the open files, and unknown where they were cut short") {
  SegmentScratch scratch;
  scratch.write(odd_sizes(30, 50000), 7);
  const SegmentFiles files(scratch.paths, 7);
  ReadFigures figures;
  std::filesystem::rename(scratch.paths[0], scratch.folder + "/elsewhere");
  std::filesystem::remove(scratch.paths[1]);
  figures.measure_limit(files, 1);
  CHECK(figures.limit_bytes_per_s > 0);
  REQUIRE(truncate((scratch.folder + "/elsewhere").c_str(), 0) == 0);
  figures.measure_limit(files, 1);
  CHECK(figures.limit_bytes_per_s == 0);
}

TEST_CASE("files that do not belong together are refused") {
  SegmentScratch scratch;
  scratch.write({5000, 5000, 5000}, 9);
  CHECK(scratch.error_of_open(9).empty());
  CHECK(scratch.error_of_open(8) == scratch.paths[0] + ": byte 8: the file belongs to another plan");
  std::filesystem::rename(scratch.paths[0], scratch.folder + "/c");
  CHECK(scratch.error_of_open(9) == scratch.paths[0] + ": cannot read: No such file or directory");
  std::filesystem::copy(scratch.paths[1], scratch.paths[0]);
  CHECK(scratch.error_of_open(9) == scratch.paths[0] + ": byte 8: the file belongs to another plan");
  std::filesystem::rename(scratch.folder + "/c", scratch.paths[0]);
  REQUIRE(chmod(scratch.paths[1].c_str(), 0666) == 0);
  CHECK(scratch.error_of_open(9) == scratch.paths[1] + ": somebody else may have written it");
  REQUIRE(chmod(scratch.paths[1].c_str(), 0644) == 0);
  REQUIRE(truncate(scratch.paths[1].c_str(), 5000) == 0);
  CHECK(scratch.error_of_open(9).starts_with(scratch.paths[1] + ": byte 5000: the file has 5000 bytes"));
  scratch.change(scratch.paths[1], 0, 'x');
  CHECK(scratch.error_of_open(9) == scratch.paths[1] + ": byte 0: it is not a file of segments");
}

TEST_CASE("a segment must be within its file") {
  SegmentScratch scratch;
  scratch.write({5000, 5000}, 1);
  const SegmentFiles files(scratch.paths, 1);
  for (const Segment& segment : scratch.segments) files.check(segment);
  for (const Segment& wrong : {Segment{0, 0, 5000, 0}, Segment{4097, 0, 1, 0}, Segment{4096, 0, 9000, 0},
                               Segment{std::uint64_t{1} << 63, 1, 1, 0}, Segment{4096, 2, 1, 0}})
    CHECK_THROWS_AS(files.check(wrong), Error);
}

TEST_CASE("a writer returns its own files, whoever has given others the same names") {
  const SegmentScratch scratch;
  std::vector<std::byte> first(kAlignment, std::byte{1}), second(kAlignment, std::byte{2});
  SegmentWriter writer(scratch.paths, 1), other(scratch.paths, 2);
  Segment segment = writer.place(kAlignment);
  writer.write(segment, first);
  const SegmentFiles files = writer.commit();
  Segment of_other = other.place(kAlignment);
  other.write(of_other, second);
  other.commit();
  SegmentReader reader(files, {segment}, 0);
  CHECK(std::ranges::equal(reader.next().bytes, first));
  CHECK(files.bytes(0) == 2 * kAlignment);
  CHECK(SegmentFiles(scratch.paths, 2).bytes() == files.bytes());
}

TEST_CASE("files that are not written are not there, and a probe reads those that are") {
  SegmentScratch scratch;
  {
    SegmentWriter writer(scratch.paths, 1);
    writer.place(5);
  }
  CHECK(std::filesystem::is_empty(scratch.folder));
  scratch.write({100000, 100000}, 1);
  ReadProbe probe(SegmentFiles(scratch.paths, 1));
  CHECK(probe.bytes() == std::filesystem::file_size(scratch.paths[0]));
  CHECK(probe.measure({kAlignment, 4, false}, 0.01).reads >= 4);
}

}  // namespace

}  // namespace edgewire::disk
