#include "tasks/task_job.h"

#include <fmt/core.h>

#include "error.h"
#include "exchange/barrier.h"
#include "exchange/exchange.h"
#include "tasks/worker.h"

namespace edgewire::tasks {

Figures& Figures::operator+=(const Figures& more) {
  tasks += more.tasks;
  suspensions += more.suspensions;
  tasks_sent += more.tasks_sent;
  tasks_moved += more.tasks_moved;
  results_sent += more.results_sent;
  payload_bytes += more.payload_bytes;
  wire_bytes += more.wire_bytes;
  spawn_ns += more.spawn_ns;
  send_ns += more.send_ns;
  queue_ns += more.queue_ns;
  run_ns += more.run_ns;
  return_ns += more.return_ns;
  return *this;
}

TaskJob::TaskJob(launch::Bootstrap& bootstrap, const Registry& registry, const exchange::SeatOptions& options,
                 const std::string& input)
    : bootstrap_(bootstrap), registry_(registry), seat_(bootstrap, options) {
  std::string functions;
  for (std::size_t id = 0; id < registry.size(); ++id)
    functions += " " + registry.name(static_cast<FunctionId>(id));
  exchange::check_agreement(
      bootstrap, fmt::format("tasks:{}; {}; {}, {} workers{}", functions, input, seat_.link().name(),
                             options.workers, options.integrity ? "" : "; integrity off"));
  if (bootstrap.size() > 1) mail_.emplace(bootstrap, seat_.link(), options.workers, seat_.oversubscribed());
  barrier();  // a task that fails at once finds all processes connected
}

TaskJob::~TaskJob() { clear(); }

void TaskJob::barrier() {
  if (mail_) exchange::barrier(bootstrap_, seat_.link());
}

std::string TaskJob::run(FunctionId root, std::string arguments, bool measure_phases) {
  clear();
  stop_ = false;
  measure_phases_ = measure_phases;
  const auto before = mail_ ? mail_->counters() : transport::Counters{};
  for (int lane = 0; lane < seat_.pool().workers(); ++lane)
    workers_.push_back(std::make_unique<Worker>(*this, lane));
  if (bootstrap_.rank() == 0) workers_[0]->start_root(root, std::move(arguments));
  seat_.pool().run([&](int lane) {
    try {
      workers_[static_cast<std::size_t>(lane)]->run();
    } catch (const std::exception& error) {
      bootstrap_.health().fail(-1, line_of(error));  // for the other workers
      throw Error(bootstrap_.health().message());
    }
  });
  figures_ = {};
  for (const auto& worker : workers_) figures_ += worker->figures();
  if (mail_) {
    const auto after = mail_->counters();
    figures_.payload_bytes = after.payload_bytes - before.payload_bytes;
    figures_.wire_bytes = after.wire_bytes - before.wire_bytes;
  }
  return std::move(result_);
}

/// Ends what is left of a run.
void TaskJob::clear() {
  for (const auto& worker : workers_) worker->clear();
  workers_.clear();
  futures_.for_each([this](const Future& future) {
    if (future.is_done()) return;
    for (const Waiter* waiter = future.waiters.load(); waiter != nullptr;) {
      const Waiter* const one = waiter;
      waiter = one->next;
      const Context* const task = one->task;  // `one` is a part of it
      if (task != nullptr)
        delete task;
      else if (!one->is_caller)
        delete one;
    }
  });
  futures_.reset();
  result_.clear();
}

Activity TaskJob::activity() const {
  Activity sum;
  for (const auto& worker : workers_) worker->add_to(sum);
  return sum;
}

/// One of the tasks of this process that wait, in words. Not while any task runs.
std::string TaskJob::waiting() const {
  const Context* found = nullptr;
  futures_.for_each([&](const Future& future) {
    if (future.is_done()) return;
    for (const Waiter* waiter = future.waiters.load(); waiter != nullptr; waiter = waiter->next)
      if (waiter->task != nullptr) found = waiter->task;
  });
  return found == nullptr ? ""
                          : fmt::format(", such as {} in process {}", registry_.name(found->spawn_.function),
                                        bootstrap_.rank());
}

}  // namespace edgewire::tasks
