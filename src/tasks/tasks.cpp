#include "edgewire/tasks.h"

#include <limits>

#include "tasks/worker.h"

namespace edgewire::tasks {

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
