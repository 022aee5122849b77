#include "launch/failures.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "base/error.h"

namespace edgewire::launch {
namespace {

struct Page {
  std::atomic<bool> taken = false;    ///< whether a process has a line for it
  std::atomic<bool> written = false;  ///< whether the line is there; pairs with the load in raise()
  char line[4000] = {};
};
Page* page = nullptr;

}  // namespace

KeptFailure::KeptFailure() {
  void* memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Error("cannot get memory for what the processes of a job say");
  page = new (memory) Page;
}

KeptFailure::~KeptFailure() {
  munmap(page, sizeof(Page));
  page = nullptr;
}

void KeptFailure::raise(int status) const {
  const std::string line = page->written.load(std::memory_order_acquire) ? page->line
                           : status > 128 ? fmt::format("the job was ended by signal {} ({})", status - 128,
                                                        strsignal(status - 128))
                                          : fmt::format("a process of the job ended with status {}", status);
  if (status == 2) throw UsageError(line);
  throw Error(line);
}

void tell_failure(const std::string& line) {
  if (page == nullptr) return say_failure(line);
  if (page->taken.exchange(true)) return;
  line.copy(page->line, std::min(line.size(), sizeof(page->line) - 1));
  page->written.store(true, std::memory_order_release);
}

}  // namespace edgewire::launch
