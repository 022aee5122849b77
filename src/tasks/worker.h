#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "base/seconds.h"
#include "tasks/task_job.h"

namespace edgewire::tasks {

/// The tasks of a worker that are ready to run. It takes the one that it has put in last; thieves take the
/// oldest (Blumofe and Leiserson, "Scheduling multithreaded computations by work stealing", JACM 1999).
class WorkDeque {
 public:
  void push(Context* task) {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(task);
    size_.store(tasks_.size(), std::memory_order_release);  // pairs with size()
  }
  /// Returns null where there is none.
  Context* pop() {
    if (size() == 0) return nullptr;
    const std::scoped_lock lock(mutex_);
    if (tasks_.empty()) return nullptr;
    Context* const task = tasks_.back();
    tasks_.pop_back();
    size_.store(tasks_.size(), std::memory_order_release);
    return task;
  }
  /// Returns the oldest task, if there are `least` or more and may_go(task) holds.
  template <class MayGo>
  Context* steal(std::size_t least, const MayGo& may_go) {
    if (size() < least) return nullptr;
    const std::scoped_lock lock(mutex_);
    if (tasks_.size() < least || !may_go(*tasks_.front())) return nullptr;
    Context* const task = tasks_.front();
    tasks_.pop_front();
    size_.store(tasks_.size(), std::memory_order_release);
    return task;
  }
  /// Returns the number of tasks. Any thread may call it; the result may be old.
  std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }

 private:
  std::mutex mutex_;
  std::deque<Context*> tasks_;
  std::atomic<std::size_t> size_{0};
};

/// A worker of a process: runs the tasks of its deque, then those of other workers, then asks other processes
/// for one. All functions but add_to() belong to its thread.
class alignas(128) Worker {
 public:
  Worker(TaskJob& job, int lane)
      : job_(job),
        lane_(lane),
        ended_(job.ended_[static_cast<std::size_t>(lane)].tasks),
        random_(static_cast<std::uint64_t>(lane) + 1) {}

  /// Runs until the root's result is there. Throws Error.
  void run();
  /// Starts the first task of the job; the caller waits for its result.
  void start_root(FunctionId function, std::string arguments);

  /// Spawns a task. `parent`: the task that asks for it.
  Ref spawn(Spawn spawn, Context& parent);
  /// Does the same where the result has a reference already.
  void spawn_as(Spawn spawn, const Ref& result);
  /// Returns a future here that will hold the result that `ref` names. Throws Error when it was taken.
  Future& future_of(const Ref& ref, bool last);
  void release(Future& future) { job_.futures_.release(future, free_); }
  void note_suspended(int more) noexcept;
  void note_finished(Context& task) noexcept { finished_ = &task; }

  int rank() const { return job_.bootstrap_.rank(); }
  int size() const { return job_.bootstrap_.size(); }
  /// Destroys the tasks that have not run.
  void clear();
  void add_to(Activity& sum) const noexcept;
  const Figures& figures() const noexcept { return figures_; }

 private:
  /// Counts for other threads; only this worker writes them. It stores with release, so that the counts are
  /// seen before `busy` falls; add_to() loads with acquire.
  struct WorkerCounts {
    std::atomic<std::uint64_t> steps{0}, sent{0}, received{0};
    std::atomic<std::int64_t> suspended{0};  ///< tasks suspended here, less those woken here; may be below 0
    std::atomic<bool> busy{true};
    template <class T>
    static void add(std::atomic<T>& count, T more) noexcept {
      count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_release);
    }
  };
  /// The round in which worker 0 of rank 0 asks all processes what they do.
  struct TerminationRound {
    std::uint64_t number = 0;
    std::uint64_t next_ns = 0;  ///< time when the next round may begin
    int missing = 0;            ///< number of processes that have not answered
    Activity sum{}, last{};     ///< sums of this round, and of the one before
  };

  void subscribe_at_owner(const Ref& ref, const Future& answer, bool last);
  Context* next_task();
  void step(Context& task);
  void conclude(Context& task);
  [[noreturn]] void fail(const Context& task, const std::exception_ptr& error);
  void make_ready(Context& task);
  Name name_of(const Spawn& spawn, Context& parent) const;
  int choose_process(const Spawn& spawn) const;
  void wait_for_room();
  void put(const Ref& ref, Result value);
  void fulfil(Future& future, Result value);
  void return_to_caller(const Result& result);
  void become(bool busy) noexcept {
    if (counts_.busy.load(std::memory_order_relaxed) != busy) counts_.busy.store(busy);
  }
  std::uint64_t now_if_measured() const noexcept { return job_.measure_phases_ ? now_ns() : 0; }
  void tell(topology::Phase phase) noexcept;

  void post(int peer, const Header& header, std::span<const Ref> refs = {}, std::string_view body = {});
  void send_task(int peer, const Spawn& spawn, const Ref& result, bool asked_for);
  void send_result(const Ref& ref, const Result& value);
  void look_at_mail();
  std::size_t exchange_mail();
  void take(int peer, const Message& message);
  void take_task(int peer, const Message& message);
  void take_result(int peer, const Message& message);
  void subscribe(int peer, const Header& header);
  void give_task(int peer);
  void ask_for_task();
  void idle();
  void tell_stop();
  void detect_termination();
  void count_in(const Activity& state);
  void end_round();

  TaskJob& job_;
  int lane_;
  topology::Observer* observer_ = nullptr;
  topology::Phase told_ = topology::Phase::compute;  ///< phase that the observer knows
  WorkDeque deque_;
  FutureTable::Free free_{};
  Context* finished_ = nullptr;
  WorkerCounts counts_{};
  Figures figures_{};
  std::atomic<std::uint64_t>& ended_;  ///< number of tasks that have ended
  TerminationRound round_{};
  std::uint64_t random_;
  std::uint64_t mail_ns_ = 0;  ///< time of the last look at the mail
  std::uint64_t next_ask_ns_ = 0, ask_pause_ns_ = 0;
  bool asked_ = false, tells_stop_ = false;
  int idle_turns_ = 0;
};

}  // namespace edgewire::tasks
