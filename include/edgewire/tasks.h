// Tasks: registered functions that start other tasks, wait for their results and go on, in all processes of a
// job. The model is Ciel's (Murray et al., "CIEL: a universal execution engine for distributed data-flow
// computing", NSDI 2011), but there is no master: processes send tasks and results to each other.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "edgewire/error.h"
#include "edgewire/launch.h"
#include "edgewire/options.h"

#pragma GCC visibility push(default)

namespace edgewire::tasks {

class Context;
class Task;
class Worker;
struct Future;

/// The name of a task, which is the same in each attempt of a run after a loss.
struct Name {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const Name&, const Name&) = default;
};

/// Names the result of a task, in all processes. The process that spawned the task owns it.
class Ref {
 public:
  static constexpr int kIndexBits = 28, kGenerationBits = 24;

  Ref() = default;
  // These keep a reference from being trivially copyable: to_bytes() then takes nothing that holds one.
  Ref(const Ref& other) noexcept : bits_(other.bits_) {}  // NOLINT(modernize-use-equals-default)
  Ref& operator=(const Ref& other) noexcept {             // NOLINT(modernize-use-equals-default)
    bits_ = other.bits_;
    return *this;
  }
  ~Ref() = default;

  static Ref of(int process, std::uint32_t generation, std::uint32_t index) noexcept {
    return Ref((static_cast<std::uint64_t>(process) << (kIndexBits + kGenerationBits)) |
               (std::uint64_t{generation} << kIndexBits) | index);
  }
  static Ref of(int process, const Future& future) noexcept;
  int process() const noexcept { return static_cast<int>(bits_ >> (kIndexBits + kGenerationBits)); }
  std::uint32_t generation() const noexcept {
    return static_cast<std::uint32_t>(bits_ >> kIndexBits) & ((1U << kGenerationBits) - 1);
  }
  std::uint32_t index() const noexcept {
    return static_cast<std::uint32_t>(bits_) & ((1U << kIndexBits) - 1);
  }
  friend bool operator==(const Ref&, const Ref&) = default;

 private:
  friend struct WireRef;
  explicit Ref(std::uint64_t bits) : bits_(bits) {}

  std::uint64_t bits_ = 0;
};

/// A task returns bytes, and references to results of other tasks.
struct Result {
  std::string bytes{};
  std::vector<Ref> refs{};
};

/// One that waits for a result: a task here, a process that has asked for it, or the caller of a TaskJob.
struct Waiter {
  Waiter* next = nullptr;
  Context* task = nullptr;  ///< null: another process, or the caller
  Ref reply{};              ///< the place for the answer at that process
  bool last = false;        ///< the result is freed with this answer
  bool is_caller = false;
};

/// A coroutine. It returns the bytes of its result, a Result, or a tail_spawn(). What it throws ends the job.
using Function = std::function<Task(Context&)>;
using FunctionId = std::uint16_t;

/// The functions of a job: all processes add the same ones in the same order, before the job is made.
class Registry {
 public:
  /// Adds a function, whose name is for messages, and returns its id. Throws Error where there is none.
  FunctionId add(std::string name, Function function);
  std::size_t size() const noexcept { return entries_.size(); }
  const std::string& name(FunctionId id) const { return entries_[id].name; }
  const Function& function(FunctionId id) const { return entries_[id].function; }

 private:
  struct Entry {
    std::string name;
    Function function;
  };
  std::vector<Entry> entries_;
};

/// A plain value as bytes, and back. References go beside the bytes, so that the workers know them.
template <class T>
requires std::is_trivially_copyable_v<T> std::string to_bytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}
/// Throws Error when there are more or fewer bytes.
template <class T>
requires std::is_trivially_copyable_v<T> T from_bytes(std::string_view bytes) {
  if (bytes.size() != sizeof(T))
    throw Error("it has " + std::to_string(bytes.size()) + " bytes where " + std::to_string(sizeof(T)) +
                " are expected");
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <class T>
T from_bytes(const Result& result) {
  return from_bytes<T>(std::string_view(result.bytes));
}

/// Lets the task run where most of its references are, or where there is nothing else to do.
inline constexpr int kAnywhere = -1;

/// The references of a task: {a, b}, or a vector. (GCC 12 refuses initializer lists where coroutines wait.)
class Refs {
 public:
  Refs(std::vector<Ref> all = {}) : all_(std::move(all)) {}  // NOLINT(google-explicit-constructor)
  template <std::same_as<Ref>... More>
  Refs(const Ref& first, const More&... more) {  // NOLINT(google-explicit-constructor)
    all_.reserve(1 + sizeof...(more));
    all_.push_back(first);
    (all_.push_back(more), ...);
  }
  std::span<const Ref> all() const noexcept { return all_; }

 private:
  std::vector<Ref> all_;
};

/// A task that is to run.
struct Spawn {
  FunctionId function = 0;
  std::string arguments{};
  Refs refs{};
  int process = kAnywhere;
  Name name{};  ///< set by the worker, where lost processes are tolerated
};
/// `co_return task.tail_spawn(...)` returns this.
struct [[nodiscard]] TailSpawn {
  Spawn spawn;
};

/// The coroutine of a task. It is started and destroyed by its worker.
class [[nodiscard]] Task {
 public:
  struct promise_type;
  /// Gives the thread back to the worker, who destroys the coroutine.
  struct Finish {
    static bool await_ready() noexcept { return false; }
    static void await_suspend(std::coroutine_handle<promise_type> handle) noexcept;
    static void await_resume() noexcept {}
  };
  struct promise_type {
    Context& context;

    /// Takes the arguments of functions, and of lambdas, which come with themselves; more may follow.
    template <class... More>
    explicit promise_type(Context& task, const More&...) : context(task) {}
    template <class Lambda, class... More>
    promise_type(const Lambda&, Context& task, const More&...) : context(task) {}
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    Finish final_suspend() noexcept { return {}; }
    void return_value(std::string bytes);
    void return_value(Result result);
    void return_value(TailSpawn tail);
    void unhandled_exception() noexcept;
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<> handle() const { return handle_; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

/// `co_await task.get(ref)` waits for this. A result of another process is asked for when this is made: make
/// several, then wait for each.
class [[nodiscard]] Get {
 public:
  Get(Context& task, const Ref& ref, bool last);
  Get(const Get&) = delete;
  Get& operator=(const Get&) = delete;
  bool await_ready() const noexcept;
  bool await_suspend(std::coroutine_handle<>) noexcept;
  Result await_resume();

 private:
  Context& task_;
  Ref ref_;
  bool last_;
  Future* future_;  ///< in this process; for a result of another one, a place for its answer
  Waiter waiter_{};
};

/// A task, as its function sees it. Only that function may use it.
class Context {
 public:
  Context(Spawn spawn, const Ref& result) : spawn_(std::move(spawn)), result_(result) {}
  ~Context() {
    if (handle_) handle_.destroy();
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  std::string_view arguments() const noexcept { return spawn_.arguments; }
  template <class T>
  T argument() const {
    return from_bytes<T>(spawn_.arguments);
  }
  std::span<const Ref> refs() const noexcept { return spawn_.refs.all(); }
  /// Returns the reference of this task's own result, to hand to others.
  Ref self() const noexcept { return result_; }
  int process() const noexcept;
  int processes() const noexcept;

  /// Starts a task; it runs later. Throws Error when there is no such function or process.
  Ref spawn(FunctionId function, std::string arguments = {}, Refs refs = {}, int process = kAnywhere);
  /// Makes what co_return takes: the result of this task will be that of another one.
  static TailSpawn tail_spawn(FunctionId function, std::string arguments = {}, Refs refs = {},
                              int process = kAnywhere) {
    return {{function, std::move(arguments), std::move(refs), process, {}}};
  }
  /// Makes what co_await takes to give a result, when it is there. Meanwhile the worker runs other tasks.
  Get get(const Ref& ref) { return {*this, ref, false}; }
  /// Does what get() does, and frees the result. Nobody else may wait for it, now or later. Results that
  /// nobody takes stay until the job ends.
  Get take(const Ref& ref) { return {*this, ref, true}; }

 private:
  friend class Get;
  friend class TaskJob;
  friend class Worker;
  friend struct Task::Finish;
  friend struct Task::promise_type;

  bool may_move() const noexcept { return !handle_ && spawn_.process == kAnywhere; }

  Spawn spawn_;
  Ref result_;
  std::coroutine_handle<> handle_{};
  Worker* worker_ = nullptr;  ///< worker that runs it now, or did so last
  std::uint64_t ready_ns_ = 0;
  std::vector<Name> children_{};  ///< names of the tasks that it has spawned, where it has a name
  // This says how the task ended: with a result, unless there is one of the others.
  Result value_{};
  std::optional<TailSpawn> tail_{};
  std::exception_ptr error_{};
};

/// The figures of a process in one run. Times are sums over its workers; phases that are not measured have 0.
struct Figures {
  std::uint64_t tasks = 0;         ///< tasks that ended here
  std::uint64_t suspensions = 0;   ///< a task that waits twice counts twice
  std::uint64_t tasks_sent = 0;    ///< to other processes
  std::uint64_t tasks_moved = 0;   ///< tasks sent because the other process had nothing to do
  std::uint64_t results_sent = 0;  ///< to other processes
  std::uint64_t payload_bytes = 0, wire_bytes = 0;
  std::uint64_t spawn_ns = 0;      ///< time in spawn()
  std::uint64_t send_ns = 0;       ///< time of tasks, from spawn() to the process that runs them
  std::uint64_t queue_ns = 0;      ///< ready, but not running
  std::uint64_t run_ns = 0;        ///< time in their functions
  std::uint64_t return_ns = 0;     ///< time of results, on their way between processes
  std::uint64_t results_kept = 0;  ///< results of tasks that did not run again after a loss

  Figures& operator+=(const Figures& more);
};

}  // namespace edgewire::tasks

namespace edgewire {

/// One process's part of a job of tasks.
class TaskJob {
 public:
  /// Makes the job. This is collective. `bootstrap` and `registry` outlive it. It throws Error when the
  /// processes differ in functions, workers or transport. `retry`: from here on the job outlives the loss of
  /// processes other than rank 0, and runs their tasks again in the others, over shm, tcp and shm+tcp.
  TaskJob(launch::Bootstrap& bootstrap, const tasks::Registry& registry, const JobOptions& options = {},
          bool retry = false);
  ~TaskJob();
  TaskJob(const TaskJob&) = delete;
  TaskJob& operator=(const TaskJob&) = delete;

  /// Runs the task `root` in process 0 until its result is there, and returns that result in process 0,
  /// elsewhere nothing. Tasks that nobody has waited for until then are dropped. Collective. Throws Error
  /// that names task and process when a task throws, and when all tasks wait for each other.
  std::string run(tasks::FunctionId root, std::string arguments = {});
  /// The figures of the last run, of this process.
  const tasks::Figures& figures() const noexcept;

 private:
  struct Job;
  std::unique_ptr<Job> job_;
};

}  // namespace edgewire

#pragma GCC visibility pop
