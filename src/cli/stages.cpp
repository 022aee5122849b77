#include "cli/stages.h"

#include <memory>
#include <mutex>

#include "report/progress.h"

namespace edgewire::cli {

Stages stages_on_terminal(const char* unit, bool enabled) {
  struct Bar {
    std::mutex mutex;
    std::string_view step;
    std::unique_ptr<report::Progress> progress;
  };
  return [bar = std::make_shared<Bar>(), unit, enabled](std::string_view step, std::uint64_t done,
                                                        std::uint64_t total) {
    const std::scoped_lock lock(bar->mutex);
    if (bar->progress == nullptr || bar->step != step) {
      bar->progress.reset();
      bar->progress = std::make_unique<report::Progress>(step.data(), total, unit, enabled);
      bar->step = step;
    }
    bar->progress->set(done);
  };
}

}  // namespace edgewire::cli
