#include "base/mapped_file.h"

#include <fmt/core.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output_file.h"
#include "graph/file/format.h"
#include "graph_test.h"
#include "stderr_capture.h"

namespace edgewire::graph {

namespace {

const std::string kSaid =
    ": the file was written while it was used, so this run is given up; run again, and replace a file "
    "that is in use by its name (mv)";

/// Clocks of file systems tick slowly: a file of another time changes visibly.
void make_old(const std::string& path) {
  const timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

std::string old_file(const TemporaryDirectory& directory, const std::string& name) {
  write_file(directory / name, std::string(3 * kPageBytes, 'x'));
  make_old(directory / name);
  return directory / name;
}

void overwrite(const std::string& path, std::uint64_t offset) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(pwrite(descriptor, "y", 1, static_cast<off_t>(offset)) == 1);
  close(descriptor);
}

/// How a child ends that maps the file, then does this, then crashes by the signal.
int state_after(const std::string& path, int number, const std::function<void()>& change) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(number, SIG_DFL);  // not doctest's
    const MappedFile file(path);
    change();
    if (number == SIGABRT) std::abort();
    void* const closed = mmap(nullptr, kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *static_cast<volatile char*>(closed) = 1;
    _exit(0);
  }
  int state = 0;
  REQUIRE(waitpid(child, &state, 0) == child);
  return state;
}

}  // namespace

TEST_CASE("a file is in the page cache after it was read, and not after the system dropped it") {
  const TemporaryDirectory directory;
  const std::string path = directory / "file";
  write_file(path, std::string(4 << 20, 'x'));
  CHECK(MappedFile(path).is_cached());
  const int file = open(path.c_str(), O_RDONLY);
  REQUIRE(file >= 0);
  REQUIRE(fsync(file) == 0);
  struct statfs where {};
  REQUIRE(fstatfs(file, &where) == 0);
  if (where.f_type == TMPFS_MAGIC) return;  // its files lie nowhere else
  // The system keeps pages that a busy processor has not yet put into its lists, and says nothing of it.
  bool dropped = false;
  for (int tries = 0; !dropped && tries < 1000; ++tries) {
    REQUIRE(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
    dropped = !MappedFile(path).is_cached();
    if (!dropped) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  close(file);
  CHECK(dropped);
  CHECK(read_file(path).size() == 4 << 20);
  CHECK(MappedFile(path).is_cached());
}

TEST_CASE("a mapped file that is written is noticed") {
  const TemporaryDirectory directory;
  const std::string path = old_file(directory, "mapped");
  const auto message = [&](const std::function<void()>& change) -> std::string {
    make_old(path);
    const MappedFile file(path);
    refuse_changed_files();
    change();
    try {
      refuse_changed_files();
    } catch (const FileChanged& changed) {
      CHECK_FALSE(changed.told());
      CHECK(error_of([&] { file.fail(0, "something is wrong"); }) == changed.what());
      return changed.what();
    }
    return "";
  };
  CHECK(message([] {}).empty());
  CHECK(message([&] { overwrite(path, 2 * kPageBytes); }) == path + kSaid);
  CHECK(message([&] { std::filesystem::resize_file(path, 2 * kPageBytes); }) == path + kSaid);
  CHECK(message([&] { std::filesystem::resize_file(path, 4 * kPageBytes); }) == path + kSaid);
  CHECK(message([&] {
          overwrite(path, 7);
          make_old(path);
        }) == path + kSaid);
  // These leave the content as it is.
  CHECK(message([&] { std::filesystem::permissions(path, std::filesystem::perms::owner_all); }).empty());
  const std::string other = old_file(directory, "other");
  CHECK(message([&] { std::filesystem::rename(other, path); }).empty());
  CHECK(message([&] {
          std::filesystem::remove(path);
          write_file(path, "another");
        }).empty());
  refuse_changed_files();  // none is mapped any more
}

TEST_CASE("a file without a name may be written by who has it") {
  const TemporaryDirectory directory;
  const auto output = OutputFile::nameless(directory / "");
  output->write("something", 9, 0);
  const MappedFile file(output->path_for_others());
  output->write("more", 4, 9);
  refuse_changed_files();
}

TEST_CASE("a crash after a mapped file was written ends the process with a line") {
  const TemporaryDirectory directory;
  for (const int number : {SIGSEGV, SIGABRT}) {
    const std::string path = old_file(directory, "mapped");
    StderrCapture capture;
    const int state = state_after(path, number, [&] { overwrite(path, 5000); });
    CHECK((WIFEXITED(state) && WEXITSTATUS(state) == 1));
    CHECK(capture.text() == fmt::format("edgewire: {}{}\n", path, kSaid));
  }
}

TEST_CASE("another crash ends the process as ever") {
  const TemporaryDirectory directory;
  for (const int number : {SIGSEGV, SIGABRT}) {
    const std::string path = old_file(directory, "mapped");
    StderrCapture capture;
    CHECK(state_after(path, number, [] {}) != 0);
    CHECK(!contains(capture.text(), "written while"));
  }
}

TEST_CASE("of processes that share a mapped file one says that it has changed") {
  const TemporaryDirectory directory;
  const std::string path = old_file(directory, "mapped");
  const MappedFile file(path);
  overwrite(path, 5000);
  StderrCapture capture;
  for (int i = 0; i < 3; ++i) {
    const int state = state_after(old_file(directory, "own"), SIGSEGV, [] {});
    CHECK((WIFEXITED(state) && WEXITSTATUS(state) == 1));
  }
  CHECK(capture.text() == fmt::format("edgewire: {}{}\n", path, kSaid));
  bool told = false;
  try {
    refuse_changed_files();
  } catch (const FileChanged& changed) {
    told = changed.told();
  }
  CHECK(told);
}

}  // namespace edgewire::graph
