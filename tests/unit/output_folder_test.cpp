#include "base/output_folder.h"

#include <csignal>
#include <cstdlib>
#include <functional>

#include <sys/wait.h>
#include <unistd.h>

#include "graph_test.h"

namespace edgewire::graph {

namespace {

bool is_there(const std::string& path) { return std::filesystem::exists(path); }

/// How a process ends that does this.
int state_of(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) std::signal(number, SIG_DFL);  // not doctest's
    work();
    _exit(0);
  }
  int state = 0;
  REQUIRE(waitpid(child, &state, 0) == child);
  return state;
}

}  // namespace

TEST_CASE("a folder that was made goes if it is empty and not kept") {
  const TemporaryDirectory directory;
  const std::string path = directory / "out";
  const auto make = [&](const std::function<void(OutputFolder&)>& use) {
    OutputFolder folder(path);
    use(folder);
  };
  make([&](OutputFolder&) { CHECK_FALSE(is_there(path)); });
  make([&](OutputFolder& folder) { CHECK((folder.make() && is_there(path))); });
  CHECK_FALSE(is_there(path));
  make([&](OutputFolder& folder) {
    folder.make();
    folder.keep();
  });
  make([&](OutputFolder& folder) {
    CHECK_FALSE(folder.make());
    folder.adopt();  // nothing: it was there before
  });
  CHECK(is_there(path));
  std::filesystem::remove(path);
  make([&](OutputFolder& folder) {
    folder.make();
    write_file(path + "/file", "");
  });
  CHECK(is_there(path + "/file"));
}

TEST_CASE("a folder that another process has made goes when it is adopted") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a/b";
  for (const bool adopted : {true, false}) {
    {
      OutputFolder folder(path, OutputFolder::Parents::are_made);
      std::filesystem::create_directories(path);
      CHECK_FALSE(folder.make());
      if (adopted) folder.adopt();
    }
    CHECK(is_there(directory / "a") == !adopted);
  }
}

TEST_CASE("folders above it are made where that is asked for, and go, too") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a/b/c";
  CHECK(contains(error_of([&] { OutputFolder(path).make(); }), path + ": cannot make the folder: "));
  for (const char* const slash : {"", "/"}) {
    {
      OutputFolder folder(path + slash, OutputFolder::Parents::are_made);
      CHECK((folder.make() && is_there(path)));
    }
    CHECK_FALSE(is_there(directory / "a"));
  }
  write_file(directory / "file", "");
  CHECK(error_of([&] { OutputFolder(directory / "file").make(); }) ==
        (directory / "file") + ": it is not a folder");
}

TEST_CASE("signals and quick_exit take the folder with them") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a/b";
  for (const int number : {SIGTERM, SIGINT, SIGHUP, 0}) {
    const int state = state_of([&] {
      OutputFolder folder(path, OutputFolder::Parents::are_made);
      if (!folder.make() || !is_there(path)) _exit(3);
      if (number == 0) std::quick_exit(0);
      std::raise(number);
    });
    CHECK(((number == 0 && state == 0) || (WIFSIGNALED(state) && WTERMSIG(state) == number)));
    CHECK_FALSE(is_there(directory / "a"));
  }
}

TEST_CASE("a forked process leaves the folder to its parent") {
  const TemporaryDirectory directory;
  OutputFolder folder(directory / "out");
  CHECK(folder.make());
  CHECK(state_of([] { std::raise(SIGTERM); }) == SIGTERM);
  CHECK(is_there(directory / "out"));
}

}  // namespace edgewire::graph
