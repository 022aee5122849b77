// Damaged files of checkpoints, with wrong and with right checksums.
#include <xxhash.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <span>

#include "../unit/graph_test.h"
#include "dense/job/checkpoint_file.h"
#include "fuzz.h"

namespace edgewire::job {

namespace {

constexpr std::uint64_t kMost = 2000;

std::string file_of(const std::string& path, const Magic& magic, std::size_t count) {
  std::vector<std::uint32_t> items(count);
  std::iota(items.begin(), items.end(), 5U);
  CheckpointFile file(count);
  file.fill({.magic = magic, .run = 1, .iteration = 3, .processes = 2}, std::as_bytes(std::span(items)));
  file.write(path, "");
  return graph::read_file(path);
}

/// Half of the inputs get the checksum that belongs to them.
void seal_file(std::string& bytes) {
  if (bytes.size() < sizeof(CheckpointHeader) || std::hash<std::string>()(bytes) % 2 == 0) return;
  CheckpointHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.checksum = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  header.checksum = XXH3_64bits(bytes.data(), bytes.size());
  std::memcpy(bytes.data(), &header, sizeof header);
}

TEST_CASE("damaged files of checkpoints") {
  const graph::TemporaryDirectory folder;
  const std::string path = folder / "part";
  std::vector<std::string> seeds{file_of(path, kIds, 10), file_of(path, kValues, 2000),
                                 file_of(path, kIds, 0)};
  for (const std::string& seed : seeds) {
    std::string sealed = seed;
    seal_file(sealed);
    CHECK(sealed == seed);
  }
  fuzz::feed({.name = "checkpoint",
              .read =
                  [&](const fuzz::Input& input) {
                    graph::write_file(path, input.bytes);
                    const auto part = read_checkpoint_file(path, input.turn % 2 == 0 ? kIds : kValues, kMost);
                    CHECK(part.items.size() == part.header.count);
                    CHECK(part.header.count <= kMost);
                    return std::to_string(part.header.count) + " items";
                  },
              .seeds = seeds,
              .ways = 2,
              .adapt = seal_file});
}

}  // namespace

}  // namespace edgewire::job
