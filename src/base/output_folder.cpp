#include "base/output_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace edgewire {

namespace {

/// A guard that holds back the signals that would end this thread's process.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : TemporaryName::kSignals) sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t before_{};
};

// Read by the signal handler, in whatever thread it runs.
struct Place {
  /// Process whose name this is; 0: free; -1: being written. A child of fork owns none.
  std::atomic<pid_t> owner{0};
  std::array<char, PATH_MAX> path{};
};
std::array<Place, 64> places;
static_assert(std::atomic<pid_t>::is_always_lock_free);

/// Removes the file or folder, and returns whether there was something to remove.
bool remove(const char* path) { return unlink(path) == 0 || rmdir(path) == 0; }

void remove_and_end(int number) {
  TemporaryName::remove_all();
  std::signal(number, SIG_DFL);
  std::raise(number);  // ends the process when the handler returns
}

/// Installs the handler where a signal would end the process.
void install_handler() {
  for (const int number : TemporaryName::kSignals) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = remove_and_end;
    sigaction(number, &action, nullptr);
  }
  static std::once_flag once;
  std::call_once(once, [] { std::at_quick_exit([] { TemporaryName::remove_all(); }); });
}

int claim_place(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  for (std::size_t p = 0; p < places.size(); ++p) {
    pid_t nobody = 0;
    if (!places[p].owner.compare_exchange_strong(nobody, -1)) continue;
    std::ranges::copy(path, places[p].path.begin());
    places[p].path[path.size()] = '\0';
    places[p].owner = getpid();
    return static_cast<int>(p);
  }
  return -1;
}

}  // namespace

OutputFolder::OutputFolder(std::string path, Parents parents) : path_(std::move(path)) {
  const auto look = [this](const std::string& folder) {
    if (access(folder.c_str(), F_OK) != 0) missing_.push_back(folder);
  };
  for (std::size_t slash = path_.find('/', 1);
       parents == Parents::are_made && slash != path_.npos && slash + 1 < path_.size();
       slash = path_.find('/', slash + 1))
    look(path_.substr(0, slash));
  look(path_);
}

bool OutputFolder::make() {
  const SignalsWait until_it_is_watched;
  bool makes = false;
  for (const std::string& folder : missing_) {
    makes = mkdir(folder.c_str(), 0777) == 0;
    const int cause = errno;
    if (makes)
      watch(folder);
    else if (cause != EEXIST && folder == path_)
      throw Error(fmt::format("{}: cannot make the folder: {}", path_, reason(cause)));
  }
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 && !S_ISDIR(status.st_mode))
    throw Error(fmt::format("{}: it is not a folder", path_));
  return makes;
}

/// Watches the folder by a path that is right from any working folder. It does not ask the disk, which may
/// fail.
void OutputFolder::watch(const std::string& made) {
  std::error_code none;
  const auto path = std::filesystem::absolute(made, none);
  made_.push_back(std::make_unique<TemporaryName>(none ? made : path.string()));
}

void OutputFolder::adopt() {
  const auto made = std::exchange(made_, {});
  for (const std::string& folder : missing_) watch(folder);
  for (const auto& one : made) one->forget();
}

void OutputFolder::keep() noexcept {
  for (const auto& one : made_) one->forget();
  made_.clear();
}

OutputFolder::~OutputFolder() {
  while (!made_.empty()) made_.pop_back();  // the innermost first
}

std::string temporary_folder() {
  const char* const named = std::getenv("TMPDIR");
  const bool is_named = named != nullptr && *named != '\0';
  std::string folder = is_named ? named : "/tmp";
  struct stat status {};
  int cause = stat(folder.c_str(), &status) == 0 ? 0 : errno;
  if (cause == 0 && !S_ISDIR(status.st_mode)) cause = ENOTDIR;
  if (cause == 0 && access(folder.c_str(), W_OK | X_OK) != 0) cause = errno;
  if (cause == 0) return folder;
  throw Error(is_named ? fmt::format("TMPDIR={}: cannot make files there: {}; name another folder, or none",
                                     folder, reason(cause))
                       : fmt::format("{}: cannot make files there: {}; TMPDIR names another folder", folder,
                                     reason(cause)));
}

TemporaryName::TemporaryName(std::string path)
    : path_(std::move(path)), maker_(getpid()), place_(claim_place(path_)) {
  install_handler();
}

TemporaryName::~TemporaryName() {
  if (maker_ != getpid()) return;
  if (!forgotten_) remove(path_.c_str());
  forget();
}

void TemporaryName::forget() noexcept {
  forgotten_ = true;
  if (const int place = std::exchange(place_, -1); place >= 0)
    places[static_cast<std::size_t>(place)].owner = 0;
}

void TemporaryName::remove_all() noexcept {
  const int error = errno;
  const pid_t self = getpid();
  for (bool removed = true; removed;) {  // a folder is empty when what is in it has gone
    removed = false;
    for (Place& place : places)
      if (place.owner == self && remove(place.path.data())) removed = true;
  }
  errno = error;
}

}  // namespace edgewire
