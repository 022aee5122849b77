#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "edgewire/tasks.h"

namespace edgewire::tasks {

/// The results that a process knows, by the names of their tasks, when a run is tried again after a loss.
/// Tasks are functions, so a task of the same name has the same result. Any thread may call all members.
class Memo {
 public:
  /// The name of the first task of a run.
  static constexpr Name kFirst{1, 1};

  /// Returns the name of the `number`th task that `parent` spawns. It follows from these, the function and
  /// the arguments (SipHash, Aumasson and Bernstein 2012, 128 bits).
  static Name name_of(const Name& parent, std::uint64_t number, const Spawn& spawn);

  /// Keeps a copy, unless the result has references: they mean nothing in another attempt.
  void keep(const Name& name, const Result& result) {
    if (name == Name{} || !result.refs.empty()) return;
    const std::scoped_lock lock(mutex_);
    results_.try_emplace(name, result.bytes);
  }
  /// Returns the bytes of a result, and counts that it was found.
  std::optional<std::string> find(const Name& name) {
    const std::scoped_lock lock(mutex_);
    const auto found = results_.find(name);
    if (found == results_.end()) return {};
    ++found_;
    return found->second;
  }
  /// Forgets results that no task can ask for any more.
  void forget(std::span<const Name> names) {
    const std::scoped_lock lock(mutex_);
    for (const Name& name : names) results_.erase(name);
  }
  void clear() {
    const std::scoped_lock lock(mutex_);
    results_.clear();
    found_ = 0;
  }
  /// Returns the number of results that find() has given since clear().
  std::uint64_t found() const noexcept { return found_; }

 private:
  struct Hash {
    std::size_t operator()(const Name& name) const noexcept { return name.low; }
  };

  std::mutex mutex_;
  std::unordered_map<Name, std::string, Hash> results_;
  std::uint64_t found_ = 0;  ///< number of results found; guarded by mutex_
};

}  // namespace edgewire::tasks
