#include "job/checkpoint_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "error.h"

namespace edgewire::job {
namespace {

struct Folder {
  std::string path;
  explicit Folder(const char* parent) : path(std::string(parent) + "/ckptXXXXXX") {
    REQUIRE(mkdtemp(path.data()) != nullptr);
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

ino_t inode(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_ino;
}

std::vector<std::uint32_t> numbers(std::size_t count, std::uint32_t first) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

void fill(CheckpointFile& file, const CheckpointHeader& header, const std::vector<std::uint32_t>& items) {
  file.fill(header, std::as_bytes(std::span(items)));
}

TEST_CASE("a checkpoint's file is written over the oldest one, whatever the file system") {
  for (const char* parent : {"/var/tmp", "/dev/shm"}) {  // the second may refuse direct writes
    const Folder folder(parent);
    const std::string first = folder.path + "/one", second = folder.path + "/two";
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{5}, std::size_t{1008}, std::size_t{300'001}}) {
      CAPTURE(parent);
      CAPTURE(count);
      CheckpointFile file(count);
      fill(file, {.magic = kValues, .iteration = 7}, numbers(count, 1));
      file.write(first, "");
      CHECK(std::filesystem::file_size(first) % 4096 == 0);
      CHECK(read_checkpoint_file(first, kValues, count).items == numbers(count, 1));
      const auto before = inode(first);
      fill(file, {.magic = kValues, .iteration = 8}, numbers(count / 2, 9));
      file.write(second, first);
      CHECK(!std::filesystem::exists(first));
      CHECK(inode(second) == before);
      const auto part = read_checkpoint_file(second, kValues, count);
      CHECK(part.header.iteration == 8);
      CHECK(part.items == numbers(count / 2, 9));
    }
  }
}

TEST_CASE("where a checkpoint's file cannot be, one line says so") {
  const Folder folder("/tmp");
  CheckpointFile file(3);
  fill(file, {.magic = kIds}, numbers(3, 0));
  CHECK_THROWS_AS(file.write(folder.path + "/missing/one", ""), Error);
  std::filesystem::create_symlink(folder.path + "/elsewhere", folder.path + "/link");
  CHECK_THROWS_AS(file.write(folder.path + "/link", ""), Error);
  CHECK(!std::filesystem::exists(folder.path + "/elsewhere"));
  file.write(folder.path + "/one", folder.path + "/never was");  // an older one need not be there
  CHECK_THROWS_AS(read_checkpoint_file(folder.path + "/one", kValues, 3), Error);
  CHECK_THROWS_AS(read_checkpoint_file(folder.path + "/one", kIds, 2), Error);
  CHECK(read_checkpoint_file(folder.path + "/one", kIds, 3).items == numbers(3, 0));
}

}  // namespace
}  // namespace edgewire::job
