#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>

namespace edgewire::tasks {

/// The tasks of a worker that are ready to run. It takes the one that it has put in last; thieves take the
/// oldest (Blumofe and Leiserson, "Scheduling multithreaded computations by work stealing", JACM 1999).
template <class T>
class WorkDeque {
 public:
  void push(T* task) {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(task);
    size_.store(tasks_.size(), std::memory_order_release);  // pairs with size()
  }
  /// Null: there is none.
  T* pop() {
    if (size() == 0) return nullptr;
    const std::scoped_lock lock(mutex_);
    if (tasks_.empty()) return nullptr;
    T* const task = tasks_.back();
    tasks_.pop_back();
    size_.store(tasks_.size(), std::memory_order_release);
    return task;
  }
  /// The oldest one, if there are `least` or more and may_go(task).
  template <class MayGo>
  T* steal(std::size_t least, const MayGo& may_go) {
    if (size() < least) return nullptr;
    const std::scoped_lock lock(mutex_);
    if (tasks_.size() < least || !may_go(*tasks_.front())) return nullptr;
    T* const task = tasks_.front();
    tasks_.pop_front();
    size_.store(tasks_.size(), std::memory_order_release);
    return task;
  }
  /// Any thread may ask; the answer may be old.
  std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }

 private:
  std::mutex mutex_;
  std::deque<T*> tasks_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace edgewire::tasks
