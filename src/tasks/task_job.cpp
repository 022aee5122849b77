#include "tasks/task_job.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "launch/agreement.h"
#include "options/jobs.h"
#include "process/barrier.h"
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
  results_kept += more.results_kept;
  return *this;
}

Activity& Activity::operator+=(const Activity& more) noexcept {
  steps += more.steps;
  sent += more.sent;
  received += more.received;
  suspended += more.suspended;
  busy += more.busy;
  return *this;
}

TaskJob::TaskJob(launch::Bootstrap& bootstrap, const Registry& registry,
                 const process::ProcessOptions& options, const std::string& input, bool retry)
    : bootstrap_(bootstrap),
      registry_(registry),
      retry_(retry && bootstrap.size() > 1),
      own_process_(std::make_unique<process::LocalProcess>(bootstrap, options)),
      process_(*own_process_) {
  const auto transport = process_.link().name();
  if (retry && transport != "shm" && transport != "tcp" && transport != "shm+tcp")
    throw UsageError(
        fmt::format("{} works over shm, tcp and shm+tcp, not over {}: choose another {}, or leave it out",
                    opt::retry, transport, opt::transport));
  connect(fmt::format("{}{}{}", input, options.integrity ? "" : "; integrity off", retry ? "; retry" : ""));
  if (retry) bootstrap.health().tolerate_losses(bootstrap.size());
}

TaskJob::TaskJob(launch::Bootstrap& bootstrap, const Registry& registry, process::LocalProcess& process)
    : bootstrap_(bootstrap), registry_(registry), retry_(false), process_(process) {
  connect({});
}

void TaskJob::connect(const std::string& input) {
  const int workers = process_.pool().workers();
  std::string functions;
  for (std::size_t id = 0; id < registry_.size(); ++id)
    functions += " " + registry_.name(static_cast<FunctionId>(id));
  launch::check_agreement(bootstrap_, {{"the list of functions", functions},
                                       {"the input", input},
                                       {"the transport", std::string(process_.link().name())},
                                       {"the number of workers", std::to_string(workers)}});
  ended_ = std::vector<Ended>(static_cast<std::size_t>(workers));
  if (bootstrap_.size() > 1) mail_.emplace(bootstrap_, process_.link(), workers, process_.oversubscribed());
  for (int process = 0; process < bootstrap_.size(); ++process)
    if (process != bootstrap_.rank()) peers_.push_back(process);
  barrier();  // a task that fails at once finds all processes connected
}

TaskJob::~TaskJob() { clear(); }

void TaskJob::barrier() {
  if (mail_) process::barrier(bootstrap_, process_.link());
}

std::string TaskJob::run(FunctionId root, std::string arguments, bool measure_phases) {
  if (root >= registry_.size())
    throw Error(fmt::format("there is no function {}: {} are registered", root, registry_.size()));
  measure_phases_ = measure_phases;
  figures_ = {};
  for (Ended& one : ended_) one.tasks.store(0, std::memory_order_relaxed);
  memo_.clear();
  const auto before = mail_ ? mail_->counters() : transport::Counters{};
  if (mail_ && retry_) {
    meet(false);
    do attempt(root, arguments);
    while (!meet(stop_));
  } else {
    attempt(root, std::move(arguments));
  }
  figures_.tasks = tasks_ended();
  figures_.results_kept = memo_.found();
  if (mail_) {
    const auto after = mail_->counters();
    figures_.payload_bytes = after.payload_bytes - before.payload_bytes;
    figures_.wire_bytes = after.wire_bytes - before.wire_bytes;
  }
  return std::move(result_);
}

/// Runs an attempt. It ends with the run, or earlier when a process is lost and the job goes on.
void TaskJob::attempt(FunctionId root, std::string arguments) {
  clear();
  stop_ = false;
  for (int lane = 0; lane < process_.pool().workers(); ++lane)
    workers_.push_back(std::make_unique<Worker>(*this, lane));
  if (bootstrap_.rank() == 0) workers_[0]->start_root(root, std::move(arguments));
  process_.pool().run([&](int lane) {
    try {
      workers_[static_cast<std::size_t>(lane)]->run();
    } catch (const PeerLost&) {  // meet() says who was lost
      return;
    } catch (const std::exception& error) {
      bootstrap_.health().fail(-1, line_of(error));  // tells the other workers
      throw Error(bootstrap_.health().message());
    }
  });
  for (const auto& worker : workers_) figures_ += worker->figures();
}

/// Agrees on the processes that are left, and begins their attempt. Returns whether rank 0 has `finished`.
bool TaskJob::meet(bool finished) {
  const process::LinkProgress progress(process_.link());
  const auto said = bootstrap_.allgather(finished ? "finished" : "goes on");
  std::vector<bool> lost(said.size());
  peers_.clear();
  for (std::size_t process = 0; process < said.size(); ++process) {
    lost[process] = said[process].empty();
    const int peer = static_cast<int>(process);
    if (!lost[process] && peer != bootstrap_.rank()) peers_.push_back(peer);
  }
  mail_->begin_attempt(++attempts_, lost);
  return said[0] == "finished";
}

/// Returns the process that runs the tasks meant for `process`: itself, or another one if it was lost.
int TaskJob::stand_in(int process) const {
  if (process == bootstrap_.rank() || std::ranges::find(peers_, process) != peers_.end()) return process;
  const std::size_t left = static_cast<std::size_t>(process) % (peers_.size() + 1);
  return left == peers_.size() ? bootstrap_.rank() : peers_[left];
}

/// Drops the rest of a run.
void TaskJob::clear() {
  for (const auto& worker : workers_) worker->clear();
  workers_.clear();
  futures_.for_each([this](const Future& future) {
    for (const Waiter* waiter : {future.is_done() ? nullptr : future.waiters.load(), future.here}) {
      while (waiter != nullptr) {
        const Waiter* const one = waiter;
        waiter = one->next;
        const Context* const task = one->task;  // `one` is a part of it
        if (task != nullptr)
          delete task;
        else if (!one->is_caller)
          delete one;
      }
    }
  });
  futures_.reset();
  guests_.clear();
  result_.clear();
}

Activity TaskJob::activity() const {
  Activity sum;
  for (const auto& worker : workers_) worker->add_to(sum);
  return sum;
}

/// Returns the name of a task of this process that waits, for messages. No task may run meanwhile.
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
