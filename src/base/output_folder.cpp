#include "base/output_folder.h"

#include <fmt/core.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace edgewire {

namespace {

/// While it lives, signals wait that would end this thread's process.
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

}  // namespace

OutputFolder::OutputFolder(std::string path, Parents parents) : path_(std::move(path)) {
  const SignalsWait until_it_is_watched;
  for (std::size_t slash = path_.find('/', 1); parents == Parents::are_made && slash != path_.npos;
       slash = path_.find('/', slash + 1)) {
    const std::string parent = path_.substr(0, slash);
    if (mkdir(parent.c_str(), 0777) == 0) watch(parent);
  }
  if (mkdir(path_.c_str(), 0777) == 0)
    watch(path_);
  else if (errno != EEXIST)
    throw Error(fmt::format("{}: cannot make the folder: {}", path_, reason(errno)));
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 && !S_ISDIR(status.st_mode))
    throw Error(fmt::format("{}: it is not a folder", path_));
}

/// By the path that it has from any working folder.
void OutputFolder::watch(const std::string& made) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(made.c_str(), nullptr), &std::free);
  if (real != nullptr) made_.push_back(std::make_unique<TemporaryName>(real.get()));
}

ino_t OutputFolder::number() const {
  struct stat status {};
  return stat(path_.c_str(), &status) == 0 ? status.st_ino : 0;
}

void OutputFolder::adopt() {
  if (!made()) watch(path_);
}

void OutputFolder::keep() noexcept {
  for (const auto& one : made_) one->forget();
  made_.clear();
}

OutputFolder::~OutputFolder() {
  while (!made_.empty()) made_.pop_back();  // the innermost first
}

}  // namespace edgewire
