// Command lines of all commands with odd words. The program ends by itself or by SIGTERM; its exit status is
// 0, 1 or 2, and a line says why it is not 0. It leaves nothing in folders that nobody named.
#include <fmt/format.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "../unit/graph_test.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/program.h"
#include "fuzz.h"
#include "graph/convert.h"

namespace edgewire::cli {

namespace {

namespace fs = std::filesystem;
using graph::read_file;
using graph::write_file;
using std::chrono::milliseconds;

constexpr uid_t kNobody = 65534;
constexpr milliseconds kRuns{2000}, kEnds{60'000};  // until SIGTERM, and from there on

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    words.push_back(text.substr(at, text.find('\n', at) - at));
    if (text.find('\n', at) == text.npos) break;
  }
  return words;
}

/// The lines are words of a command line. They name files of the current folder alone.
void name_no_other_folders(std::string& text) {
  std::ranges::replace(text, '/', '_');
  std::ranges::replace(text, '\0', '0');
  for (std::size_t at = text.find(".."); at != text.npos; at = text.find("..")) text.erase(at, 1);
}

/// A program that runs in a folder of its own, as a user who can write nowhere else.
class Program {
 public:
  Program() {
    const fs::path build = fs::read_symlink("/proc/self/exe").parent_path() / "../..";
    for (const char* const name : {"edgewire", "edgewire-wide"})
      if (file_ < 0) file_ = open((build / name).c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE_MESSAGE(file_ >= 0, "the program is not built in " << build);
    for (const char* const name : {"inner", "home", "tmp"}) {
      fs::create_directory(folder_ / name);
      chmod((folder_ / name).c_str(), 0777);
    }
    chmod((folder_ / "").c_str(), 0755);
    const std::string edges = "0 1 2\n1 2 1\n2 0 5\n2 3 1\n";
    write_file(inner("g.txt"), edges);
    graph::convert(inner("g.txt"), inner("g.ew"), {});
    write_file(inner("list"), "0\n2\n");
    write_file(inner("parts"), "0\n1\n0\n1\n");
    for (const auto& entry : fs::directory_iterator(folder_ / "inner"))
      inputs_.emplace_back(entry.path().string(), read_file(entry.path().string()));
  }
  ~Program() { close(file_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void run(const std::vector<std::string>& words) {
    restore();
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) become(words);
    int status = 0;
    const bool by_itself = ended(child, status, kRuns);
    if (!by_itself) kill(-child, SIGTERM);
    const bool at_all = by_itself || ended(child, status, kEnds);
    kill(-child, SIGKILL);
    if (!at_all) waitpid(child, &status, 0);
    check(status, by_itself, at_all);
  }

 private:
  std::string inner(const std::string& name) const { return folder_ / ("inner/" + name); }

  void restore() const {
    for (const auto& entry : fs::directory_iterator(folder_ / "inner")) fs::remove_all(entry.path());
    for (const auto& [path, bytes] : inputs_) {
      write_file(path, bytes);
      chmod(path.c_str(), 0666);
    }
  }

  /// Runs the program in the child.
  [[noreturn]] void become(const std::vector<std::string>& words) const {
    setpgid(0, 0);
    const rlimit file_bytes{1 << 24, 1 << 24}, processes{300, 300}, no_core{0, 0};
    setrlimit(RLIMIT_FSIZE, &file_bytes);
    setrlimit(RLIMIT_NPROC, &processes);
    setrlimit(RLIMIT_CORE, &no_core);
    const int in = open("/dev/null", O_RDONLY), out = open("/dev/null", O_WRONLY);
    const int errors = open((folder_ / "stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const bool right = in >= 0 && out >= 0 && errors >= 0 && chdir((folder_ / "inner").c_str()) == 0;
    dup2(in, 0);
    dup2(out, 1);
    dup2(errors, 2);
    const std::string home = "HOME=" + folder_ / "home", temporary = "TMPDIR=" + folder_ / "tmp";
    if (!right ||
        (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0)))
      _exit(99);
    std::vector<char*> arguments{const_cast<char*>("edgewire")}, environment;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    for (const std::string* const one : {&home, &temporary})
      environment.push_back(const_cast<char*>(one->c_str()));
    for (char** one = environ; *one != nullptr; ++one)
      if (const std::string_view name = *one;
          !name.starts_with("HOME=") && !name.starts_with("TMPDIR=") && !name.starts_with("EDGEWIRE"))
        environment.push_back(*one);
    environment.push_back(nullptr);
    fexecve(file_, arguments.data(), environment.data());
    _exit(98);
  }

  static bool ended(pid_t child, int& status, milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (waitpid(child, &status, WNOHANG) != child) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(milliseconds(2));
    }
    return true;
  }

  void check(int status, bool by_itself, bool at_all) const {
    const std::string errors = read_file(folder_ / "stderr");
    INFO("stderr: " << errors);
    CHECK(at_all);
    CHECK(errors.find("Sanitizer") == errors.npos);
    CHECK(errors.find("runtime error: ") == errors.npos);
    CHECK(errors.find("terminate called") == errors.npos);
    if (!by_itself) return;
    REQUIRE_MESSAGE(WIFEXITED(status), "ended by signal " << WTERMSIG(status));
    CHECK(WEXITSTATUS(status) <= 2);
    const std::size_t last = errors.rfind('\n', errors.size() - std::min<std::size_t>(errors.size(), 2));
    const std::string line = errors.substr(last == errors.npos ? 0 : last + 1);
    if (WEXITSTATUS(status) > 0) {
      CHECK(line.starts_with("edgewire"));
      CHECK(line.ends_with('\n'));
      CHECK(line.size() > std::string_view("edgewire: \n").size());
    }
    CHECK(fs::is_empty(folder_ / "tmp"));
    CHECK(fs::is_empty(folder_ / "home"));
    CHECK(folder_.files() == 4);  // inner, home, tmp and stderr
  }

  graph::TemporaryDirectory folder_;
  int file_ = -1;
  std::vector<std::pair<std::string, std::string>> inputs_;
};

/// A word that an option takes, or does not.
std::string value_for(const CLI::Option& option, std::uint64_t turn) {
  constexpr std::array kValues{"1",     "g.ew",  "out.tsv", "0",   "2",   "g.txt",
                               "@list", "parts", "out",     "0.5", "10M", "x"};
  const auto words = choices(option);
  return turn % 2 == 0 && !words.empty() ? words[turn / 2 % words.size()] : kValues[turn % kValues.size()];
}

/// Command lines with one or two of the options of a command each.
std::vector<std::string> lines_of(const CLI::App& command) {
  std::vector<std::string> lines;
  std::string start = path_of(command);
  std::ranges::replace(start, ' ', '\n');
  start += "\ng.ew\n";
  std::string before;
  std::uint64_t turn = 0;
  for (const CLI::Option* const option : command.get_options()) {
    if (option->get_positional() || option->get_name().empty()) continue;
    std::string words = option->get_name() + "\n";
    if (option->get_type_size() > 0) words += value_for(*option, turn++) + "\n";
    lines.push_back(fmt::format("{}{}{}", start, before, words));
    before = std::move(words);
  }
  for (const CLI::App* const below : visible_commands(command))
    for (std::string& line : lines_of(*below)) lines.push_back(std::move(line));
  return lines;
}

TEST_CASE("odd command lines") {
  CLI::App app;
  add_commands(app);
  std::vector<std::string> seeds;
  for (const CLI::App* const command : visible_commands(app))
    for (std::string& line : lines_of(*command)) seeds.push_back(std::move(line));
  Program program;
  fuzz::feed({.name = "command-lines",
              .read =
                  [&](const fuzz::Input& input) {
                    program.run(words_of(input.bytes));
                    return "";
                  },
              .seeds = seeds,
              .adapt = name_no_other_folders,
              .twice = false,
              .inputs = 20});
}

}  // namespace

}  // namespace edgewire::cli
