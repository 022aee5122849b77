#include "base/output_file.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_calls.h"
#include "graph_test.h"

namespace edgewire::graph {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kAnother = 12345;

void write_output(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.write(text.data(), text.size(), 0);
  file.commit();
}

struct stat status_of(const std::string& path) {
  struct stat status {};
  REQUIRE(lstat(path.c_str(), &status) == 0);
  return status;
}

/// How a child ends that does this.
template <class Work>
int status_of_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

TEST_CASE("what cannot be written is named with file and byte") {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(full >= 0);
  CHECK(error_of([&] { write_at(full, "name", "text", 4, 8192); }) ==
        "name: byte 8192: cannot write: No space left on device");
  close(full);
}

TEST_CASE("a file that is replaced hands down its permissions and its owner") {
  const TemporaryDirectory folder;
  const std::string path = folder / "ranks.tsv";
  write_file(path, "older");
  fs::permissions(path, fs::perms(0640));
  const bool is_root = chown(path.c_str(), kAnother, kAnother) == 0;
  write_output(path, "new");
  CHECK(read_file(path) == "new");
  const auto status = status_of(path);
  CHECK((status.st_mode & 07777) == 0640);
  if (is_root) CHECK((status.st_uid == kAnother && status.st_gid == kAnother));
  fs::permissions(path, fs::perms(0400));
  write_output(path, "newer");
  CHECK((status_of(path).st_mode & 07777) == 0400);
  CHECK(folder.files() == 1);
}

TEST_CASE("permissions that are asked for hold whatever was there") {
  const TemporaryDirectory folder;
  const std::string path = folder / "plan";
  write_file(path, "older");
  fs::permissions(path, fs::perms(0666));
  OutputFile(path, 0600).commit();
  CHECK((status_of(path).st_mode & 07777) == 0600);
}

TEST_CASE("an output goes through one's own links, which stay") {
  const TemporaryDirectory folder;
  write_file(folder / "target", "older");
  fs::create_directory(folder / "below");
  fs::create_symlink("target", folder / "link");
  fs::create_symlink("../link", folder / "below/second");
  fs::create_directory_symlink("below", folder / "to_below");
  write_output(folder / "to_below/second", "new");
  CHECK(read_file(folder / "target") == "new");
  CHECK(fs::read_symlink(folder / "link") == "target");
  CHECK(fs::read_symlink(folder / "below/second") == "../link");
  CHECK(output_target(folder / "to_below/new") == folder / "below/new");
  write_output(folder / "to_below/new", "made");
  CHECK(read_file(folder / "below/new") == "made");
  CHECK(output_target("/dev/null") == "/dev/null");
}

TEST_CASE("links that lead nowhere or round in circles are refused") {
  const TemporaryDirectory folder;
  fs::create_symlink("missing", folder / "link");
  fs::create_symlink("circle", folder / "circle");
  CHECK(error_of([&] { write_output(folder / "link", "x"); }) ==
        folder / "link" + ": cannot write: it is a link to " + (folder / "missing") + ", which is missing");
  CHECK(error_of([&] { write_output(folder / "circle", "x"); }).find("Too many levels") != std::string::npos);
  CHECK(folder.files() == 2);
}

TEST_CASE("a link that another user has put into a folder for others is refused") {
  for (const auto mode : {01777, 0777, 0775}) {
    const TemporaryDirectory folder;
    write_file(folder / "victim", "precious");
    fs::create_directory(folder / "shared");
    fs::permissions(folder / "shared", fs::perms(mode));
    fs::create_symlink("../victim", folder / "shared/link");
    fs::create_directory_symlink("..", folder / "shared/up");
    if (lchown((folder / "shared/link").c_str(), kAnother, kAnother) != 0) {
      MESSAGE("skipped: files cannot be given to another user here");
      return;
    }
    REQUIRE(lchown((folder / "shared/up").c_str(), kAnother, kAnother) == 0);
    for (const char* const name : {"shared/link", "shared/up/victim", "shared/up/new"})
      CHECK(error_of([&] { write_output(folder / name, "x"); }).find("a link of another user") !=
            std::string::npos);
    CHECK(read_file(folder / "victim") == "precious");
    fs::permissions(folder / "shared", fs::perms(0755));
    write_output(folder / "shared/link", "new");
    CHECK(read_file(folder / "victim") == "new");
    REQUIRE(lchown((folder / "shared/up").c_str(), 0, 0) == 0);
  }
}

/// Lets a system call fail with an error in this process, as container engines do. False: it cannot.
bool refuse(long call, std::uint32_t error) {
  std::vector<sock_filter> steps{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                                 {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, static_cast<std::uint32_t>(call)},
                                 {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
                                 {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | error}};
  sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_CASE("a file gets its name also where names cannot be given to files without one") {
  const TemporaryDirectory folder;
  const std::string text(3'000'000, 'x');
  write_file(folder / "older", "older");
  fs::permissions(folder / "older", fs::perms(0600));
  const int status = status_of_child([&] {
    if (!refuse(SYS_linkat, EPERM)) return 77;
    write_output(folder / "older", text);
    write_output(folder / "new", text);
    return 0;
  });
  if (status == 77 << 8) return;  // this system has no filters
  CHECK(status == 0);
  for (const char* const name : {"older", "new"}) CHECK(read_file(folder / name) == text);
  CHECK((status_of(folder / "older").st_mode & 0777) == 0600);
  CHECK(folder.files() == 2);
}

TEST_CASE("a call that a signal interrupts is made again, and a close is not") {
  int calls = 0;
  const auto interrupted_twice = [&] {
    errno = EINTR;
    return ++calls < 3 ? -1 : 7;
  };
  CHECK(uninterrupted(interrupted_twice) == 7);
  CHECK(calls == 3);
  CHECK(close_written(-1) == EBADF);
  const TemporaryDirectory folder;
  const int status = status_of_child([&] {
    if (!refuse(SYS_close, EINTR)) return 77;
    write_output(folder / "new", "text");
    return 0;
  });
  if (status == 77 << 8) return;  // this system has no filters
  CHECK(status == 0);
  CHECK(read_file(folder / "new") == "text");
}

TEST_CASE("of files that belong together none replaces an older one before all can") {
  const TemporaryDirectory folder;
  for (const bool older : {true, false}) {
    fs::create_directory(folder / "gone");
    if (older) write_file(folder / "first", "older");
    if (older) write_file(folder / "gone/second", "older");
    std::vector<std::unique_ptr<OutputFile>> files;
    for (const char* const name : {"first", "gone/second"})
      files.push_back(std::make_unique<OutputFile>(folder / name));
    fs::remove_all(folder / "gone");
    CHECK(error_of([&] { OutputFile::commit_all(files); }) ==
          folder / "gone/second" + ": cannot write: No such file or directory");
    files.clear();
    CHECK(folder.files() == (older ? 1 : 0));
    if (older) CHECK(read_file(folder / "first") == "older");
    fs::remove(folder / "first");
  }
}

TEST_CASE("a name for a while goes with its owner, and with a signal") {
  const TemporaryDirectory folder;
  {
    const TemporaryName name(folder / "first");
    write_file(name.path(), "x");
  }
  CHECK(folder.files() == 0);
  const int status = status_of_child([&] {
    std::signal(SIGTERM, SIG_DFL);
    const TemporaryName name(folder / "second");
    write_file(name.path(), "x");
    TemporaryName kept(folder / "third");
    write_file(kept.path(), "x");
    kept.forget();
    std::raise(SIGTERM);
    return 0;
  });
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
  CHECK(!fs::exists(folder / "second"));
  CHECK(fs::exists(folder / "third"));
}

}  // namespace
}  // namespace edgewire::graph
