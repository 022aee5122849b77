// Runs a call of the library in a process of its own, as a job does with its processes. So an interrupt ends
// it at once, arrays that it reads do not change meanwhile, and no fault of it reaches Python's process. What
// it returns lies in memory that both have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "edgewire/progress.h"

namespace edgewire::python {

/// Memory that this process shares with those that it starts later.
class SharedMemory {
 public:
  /// All bytes are 0, and take memory when they are written. Throws Error.
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Returns the memory as elements of this type, as many as fit.
  template <class Element>
  std::span<Element> as() const noexcept {
    return {static_cast<Element*>(data_), bytes_ / sizeof(Element)};
  }

 private:
  void* data_;
  std::size_t bytes_;
};

/// The last step of a call, as its process tells of it. Texts are literals, at the same address in both.
struct ToldStep {
  const char* name = nullptr;
  std::uint64_t done = 0, total = 0;
  const char* unit = "";
};

/// Is called from time to time with the step under way; `name` may be null. It throws to end the call.
using Wait = std::function<void(const ToldStep& step)>;

/// Tells, within `work` of run_apart(), what the user should know: a line that is no error.
void note_apart(const std::string& line);

/// Runs `work` in a process of its own until it returns, and calls `wait` about 20 times a second meanwhile.
/// `work` gets the function that it tells of its progress. Throws what it throws, as UsageError or Error; an
/// Error where its process dies, with the first line that it wrote to stderr; and what `wait` throws, once
/// the process has ended. Returns what note_apart() was told.
std::vector<std::string> run_apart(const std::function<void(const Progress& progress)>& work,
                                   const Wait& wait);

}  // namespace edgewire::python
