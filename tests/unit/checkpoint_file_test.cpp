#include "dense/job/checkpoint_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "base/error.h"

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
  file.write(folder.path + "/one", folder.path + "/never was");  // an older one need not be there
  CHECK_THROWS_AS(read_checkpoint_file(folder.path + "/one", kValues, 3), Error);
  CHECK_THROWS_AS(read_checkpoint_file(folder.path + "/one", kIds, 2), Error);
  CHECK(read_checkpoint_file(folder.path + "/one", kIds, 3).items == numbers(3, 0));
}

TEST_CASE("a checkpoint's file that does not fit is removed") {
  const Folder folder("/var/tmp");
  const std::string first = folder.path + "/one", second = folder.path + "/two";
  CheckpointFile file(300'000);
  fill(file, {.magic = kValues, .iteration = 7}, numbers(1000, 1));
  file.write(first, "");
  fill(file, {.magic = kValues, .iteration = 8}, numbers(300'000, 1));
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{100'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_AS(file.write(second, ""), Error);
  CHECK(!std::filesystem::exists(second));
  CHECK_THROWS_AS(file.write(second, first), Error);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  CHECK(std::filesystem::is_empty(folder.path));
}

TEST_CASE("a checkpoint's file takes the place of what is there, and writes nothing into it") {
  const Folder folder("/var/tmp");
  const std::string path = folder.path + "/one", other = folder.path + "/other";
  CheckpointFile file(5);
  fill(file, {.magic = kValues}, numbers(5, 1));
  file.write(other, "");
  std::filesystem::create_hard_link(other, path);
  fill(file, {.magic = kValues}, numbers(5, 2));
  file.write(path, "");
  CHECK(read_checkpoint_file(other, kValues, 5).items == numbers(5, 1));
  std::filesystem::remove(path);
  std::filesystem::create_symlink(other, path);
  file.write(path, "");
  CHECK(read_checkpoint_file(other, kValues, 5).items == numbers(5, 1));
  std::filesystem::remove(path);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  file.write(path, "");
  CHECK(read_checkpoint_file(path, kValues, 5).items == numbers(5, 2));
}

}  // namespace
}  // namespace edgewire::job
