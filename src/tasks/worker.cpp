#include "tasks/worker.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"

namespace edgewire::tasks {

/// Tells the observer that this worker runs tasks, or has none. There may be many tasks between two changes.
void Worker::tell(topology::Phase phase) noexcept {
  if (observer_ == nullptr || phase == told_) return;
  observer_->enter(lane_, phase, 0, phase == topology::Phase::wait && size() == 1 ? rank() : -1);
  told_ = phase;
}

void Worker::run() {
  auto& health = job_.bootstrap_.health();
  observer_ = job_.process_.pool().observer();
  while (!job_.stop_.load(std::memory_order_acquire)) {
    if (health.failed()) throw Error(health.message());
    if (Context* const task = next_task()) {
      idle_turns_ = 0;
      tell(topology::Phase::compute);
      step(*task);
      if (job_.mail_) look_at_mail();
    } else {
      tell(topology::Phase::wait);
      idle();
    }
  }
  if (!job_.mail_) return;
  if (tells_stop_) tell_stop();
  if (!job_.retry_) job_.mail_->end_run(lane_);  // otherwise the processes meet
}

// ---- tasks that run ----------------------------------------------------------------------------------

/// Returns the newest task of this worker, else the oldest of another one.
Context* Worker::next_task() {
  if (Context* const task = deque_.pop()) {
    become(true);
    return task;
  }
  for (std::size_t i = 1; i < job_.workers_.size(); ++i) {
    auto& victim = job_.workers_[(static_cast<std::size_t>(lane_) + i) % job_.workers_.size()]->deque_;
    if (victim.size() == 0) continue;
    become(true);  // set before the task leaves its deque
    if (Context* const task = victim.steal(1, [](const Context&) { return true; })) return task;
  }
  return nullptr;
}

void Worker::step(Context& task) {
  WorkerCounts::add(counts_.steps, std::uint64_t{1});
  const std::uint64_t start = now_if_measured();
  if (start > 0) figures_.queue_ns += start - task.ready_ns_;
  task.worker_ = this;
  finished_ = nullptr;
  if (!task.handle_) {
    try {
      task.handle_ = job_.registry_.function(task.spawn_.function)(task).handle();
    } catch (...) {  // out of memory for the coroutine
      const std::unique_ptr<Context> owner(&task);
      fail(task, std::current_exception());
    }
  }
  task.handle_.resume();  // from here on the task may run on another worker
  if (start > 0) figures_.run_ns += now_ns() - start;
  if (finished_ != nullptr) conclude(*finished_);
}

void Worker::conclude(Context& task) {
  const std::unique_ptr<Context> owner(&task);
  WorkerCounts::add(ended_, std::uint64_t{1});
  if (task.error_) fail(task, task.error_);
  try {
    if (task.tail_) {
      task.tail_->spawn.name = name_of(task.tail_->spawn, task);
      spawn_as(std::move(task.tail_->spawn), task.result_);
    } else {
      // Then no other task can have references to the tasks that it has spawned.
      const bool last = !task.children_.empty() && task.value_.refs.empty();
      put(task.result_, std::move(task.value_));
      if (last) job_.memo_.forget(task.children_);
    }
  } catch (...) {
    fail(task, std::current_exception());
  }
}

/// Ends the job with the error of a task.
void Worker::fail(const Context& task, const std::exception_ptr& error) {
  auto& health = job_.bootstrap_.health();
  std::string cause = "an exception of an unknown type";
  try {
    std::rethrow_exception(error);
  } catch (const PeerLost&) {
    throw;  // the run is tried again
  } catch (const std::exception& known) {
    cause = line_of(known);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the cause is said above
  }
  health.fail(
      -1, fmt::format("task {} in process {}: {}", job_.registry_.name(task.spawn_.function), rank(), cause));
  throw Error(health.message());  // perhaps the job had failed before
}

void Worker::make_ready(Context& task) {
  task.ready_ns_ = now_if_measured();
  deque_.push(&task);
  if (!job_.mail_ && job_.workers_.size() > 1) job_.wakeup_.wake_sleepers();
}

// ---- tasks that start --------------------------------------------------------------------------------

void Worker::start_root(FunctionId function, std::string arguments) {
  Future& future = job_.futures_.allocate(free_);
  job_.caller_ = {nullptr, nullptr, {}, false, true};
  future.add(job_.caller_);
  const Name name = job_.retry_ ? Memo::kFirst : Name{};
  spawn_as({function, std::move(arguments), {}, rank(), name}, Ref::of(rank(), future));
}

Ref Worker::spawn(Spawn spawn, Context& parent) {
  const std::uint64_t start = now_if_measured();
  Future& future = job_.futures_.allocate(free_);
  const Ref result = Ref::of(rank(), future);
  spawn.name = future.name = name_of(spawn, parent);
  auto known = job_.retry_ ? job_.memo_.find(spawn.name) : std::nullopt;
  if (known)
    fulfil(future, {std::move(*known), {}});
  else
    spawn_as(std::move(spawn), result);
  if (start > 0) figures_.spawn_ns += now_ns() - start;
  return result;
}

void Worker::spawn_as(Spawn spawn, const Ref& result) {
  if (spawn.function >= job_.registry_.size())
    throw Error(
        fmt::format("there is no function {}: {} are registered", spawn.function, job_.registry_.size()));
  if (spawn.process < kAnywhere || spawn.process >= size())
    throw Error(fmt::format("there is no process {}: there are {}", spawn.process, size()));
  const int process = choose_process(spawn);
  if (process == rank()) return make_ready(*new Context(std::move(spawn), result));
  wait_for_room();
  ++figures_.tasks_sent;
  send_task(process, spawn, result, false);
}

/// Returns the name of a task; none unless the run may be tried again.
Name Worker::name_of(const Spawn& spawn, Context& parent) const {
  if (!job_.retry_) return {};
  return parent.children_.emplace_back(Memo::name_of(parent.spawn_.name, parent.children_.size(), spawn));
}

/// Returns the process where most of the task's references are; this one, if it has as many.
int Worker::choose_process(const Spawn& spawn) const {
  constexpr std::size_t kLooked = 16;  // number of references that it looks at
  if (spawn.process != kAnywhere) return job_.stand_in(spawn.process);
  const auto all = spawn.refs.all();
  const auto refs = all.first(std::min(kLooked, all.size()));
  const auto count = [&](int process) {
    return std::ranges::count_if(refs, [&](const Ref& ref) { return ref.process() == process; });
  };
  int best = rank();
  for (const Ref& ref : refs)
    if (ref.process() < size() && count(ref.process()) > count(best)) best = ref.process();
  return best;
}

/// Makes tasks that send much wait for the peers, and take what these send meanwhile.
void Worker::wait_for_room() {
  constexpr std::size_t kMostBacklog = std::size_t{1} << 20;  // most bytes that wait to be sent
  while (job_.mail_->backlog(lane_) > kMostBacklog) exchange_mail();
}

// ---- results -----------------------------------------------------------------------------------------

void Worker::note_suspended(int more) noexcept {
  WorkerCounts::add(counts_.suspended, std::int64_t{more});
  figures_.suspensions += static_cast<std::uint64_t>(more);
}

Future& Worker::future_of(const Ref& ref, bool last) {
  if (ref.process() == rank()) {
    Future* const future = job_.futures_.find(ref);
    if (future == nullptr) throw Error("it waits for a result that was taken before, or never spawned");
    return *future;
  }
  if (ref.process() >= size()) throw Error("it waits for a result that was never spawned");
  if (job_.stand_in(ref.process()) != ref.process())
    throw Error(fmt::format("it waits for a result of process {}, which was lost", ref.process()));
  wait_for_room();
  Future& answer = job_.futures_.allocate(free_);
  if (last || !job_.guests_.wait(ref, answer)) subscribe_at_owner(ref, answer, last);
  return answer;
}

void Worker::subscribe_at_owner(const Ref& ref, const Future& answer, bool last) {
  post(ref.process(), {.kind = MailKind::subscribe,
                       .last = last,
                       .ref = WireRef::of(ref),
                       .reply = WireRef::of(Ref::of(rank(), answer)).bits});
}

void Worker::put(const Ref& ref, Result value) {
  if (ref.process() == rank()) return fulfil(*job_.futures_.find(ref), std::move(value));
  wait_for_room();
  send_result(ref, value);
  for (Future* const answer : job_.guests_.end(ref)) fulfil(*answer, value);
}

/// Serves all waiters: other processes first, before the value is there, since the last waiter takes it away.
void Worker::fulfil(Future& future, Result value) {
  future.value = std::move(value);
  if (job_.retry_) job_.memo_.keep(future.name, future.value);
  bool last = false;
  Waiter* here = nullptr;
  for (Waiter** end = &future.here;;) {
    // A future that is done belongs to the last waiter, so nothing of it is touched then.
    here = std::exchange(future.here, nullptr);
    Waiter* none = nullptr;
    if (future.waiters.compare_exchange_strong(none, Future::done(), std::memory_order_acq_rel,
                                               std::memory_order_acquire))  // pairs with add()
      break;
    future.here = here;
    for (Waiter* waiter = future.waiters.exchange(nullptr, std::memory_order_acq_rel); waiter != nullptr;) {
      Waiter& one = *waiter;
      waiter = one.next;
      if (one.task != nullptr || one.is_caller) {
        one.next = nullptr;
        *end = &one;
        end = &one.next;
      } else {
        send_result(one.reply, future.value);
        last = last || one.last;
        delete &one;
      }
    }
  }
  while (here != nullptr) {
    const Waiter& one = *here;
    here = one.next;  // `one` ends when its task goes on
    if (one.is_caller) {
      return_to_caller(future.value);
    } else {
      WorkerCounts::add(counts_.suspended, std::int64_t{-1});
      make_ready(*one.task);
    }
  }
  if (last) release(future);
}

void Worker::return_to_caller(const Result& result) {
  if (!result.refs.empty())
    throw Error("the first task returns references, which end with the run: return bytes");
  job_.result_ = result.bytes;
  tells_stop_ = true;
  job_.stop_.store(true, std::memory_order_release);  // pairs with run()
  job_.wakeup_.announce();
}

// ---- what others ask ---------------------------------------------------------------------------------

void Worker::add_to(Activity& sum) const noexcept {
  sum.steps += counts_.steps.load(std::memory_order_acquire);
  sum.sent += counts_.sent.load(std::memory_order_acquire);
  sum.received += counts_.received.load(std::memory_order_acquire);
  sum.suspended += counts_.suspended.load(std::memory_order_acquire);
  sum.busy += counts_.busy.load() ? 1 : 0;  // read last, since it is raised before the other counts
}

void Worker::clear() {
  while (const Context* const task = deque_.pop()) delete task;
}

// ---- what tasks ask of their worker (edgewire/tasks.h) -------------------------------------------------

FunctionId Registry::add(std::string name, Function function) {
  if (entries_.size() > std::numeric_limits<FunctionId>::max())
    throw Error("a job of tasks has at most 65536 functions");
  if (!function) throw Error("no code is given for the function " + name);
  entries_.push_back({std::move(name), std::move(function)});
  return static_cast<FunctionId>(entries_.size() - 1);
}

void Task::promise_type::return_value(std::string bytes) { context.value_.bytes = std::move(bytes); }
void Task::promise_type::return_value(Result result) { context.value_ = std::move(result); }
void Task::promise_type::return_value(TailSpawn tail) { context.tail_ = std::move(tail); }
void Task::promise_type::unhandled_exception() noexcept { context.error_ = std::current_exception(); }

void Task::Finish::await_suspend(std::coroutine_handle<promise_type> handle) noexcept {
  Context& task = handle.promise().context;
  task.worker_->note_finished(task);
}

int Context::process() const noexcept { return worker_->rank(); }
int Context::processes() const noexcept { return worker_->size(); }

Ref Context::spawn(FunctionId function, std::string arguments, Refs refs, int process) {
  return worker_->spawn({function, std::move(arguments), std::move(refs), process, {}}, *this);
}

bool Get::await_ready() const noexcept { return future_->is_done(); }

Get::Get(Context& task, const Ref& ref, bool last)
    : task_(task), ref_(ref), last_(last), future_(&task.worker_->future_of(ref, last)) {}

bool Get::await_suspend(std::coroutine_handle<>) noexcept {
  Worker& worker = *task_.worker_;
  waiter_.task = &task_;
  worker.note_suspended(1);
  if (future_->add(waiter_)) return true;  // the task may run on another worker already
  worker.note_suspended(-1);
  return false;
}

Result Get::await_resume() {
  if (!last_ && ref_.process() == task_.process()) return future_->value;
  Result value = std::move(future_->value);
  task_.worker_->release(*future_);
  return value;
}

}  // namespace edgewire::tasks
