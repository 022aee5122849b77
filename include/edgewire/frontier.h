// Runs a kernel that follows only the edges of vertices that have changed, superstep by superstep.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "edgewire/graph.h"
#include "edgewire/launch.h"
#include "edgewire/numbering.h"
#include "edgewire/options.h"

namespace edgewire::frontier {
class FrontierJob;
class SuperstepLog;
}  // namespace edgewire::frontier

namespace edgewire {

/// The out-edges of an owned vertex, as long as work on them lasts.
struct FrontierRow {
  LocalNumber vertex;
  std::span<const Home> targets;
  graph::Weights weights;  ///< without JobOptions::weighted there are none
};

namespace detail {

/// What a FrontierJob has whatever its values are.
class FrontierState {
 public:
  const graph::GraphFile& graph() const noexcept;
  /// The number of vertices that this process owns. They have the local numbers 0 to owned() - 1.
  std::uint32_t owned() const noexcept;
  /// Returns the global id of an owned vertex. `local` is less than owned().
  VertexId vertex(LocalNumber local) const noexcept;
  /// Returns the process that owns a vertex of the graph, and the vertex's local number there.
  Home home(VertexId vertex) const noexcept;
  /// Returns the sum of what all processes pass. Collective, between supersteps.
  std::uint64_t sum(std::uint64_t mine);

 protected:
  using Take = std::function<void(const std::byte* record)>;
  FrontierState(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const std::string& kernel,
                std::size_t record_bytes, const JobOptions& options);
  FrontierState(frontier::FrontierJob& within, std::size_t record_bytes, frontier::SuperstepLog& log);
  ~FrontierState();
  FrontierState(const FrontierState&) = delete;
  FrontierState& operator=(const FrontierState&) = delete;

  std::uint32_t rank() const noexcept;
  void send(int worker, std::uint32_t process, const std::byte* record, const Take& take);
  void run(std::span<const LocalNumber> frontier,
           const std::function<void(int worker, const FrontierRow& row)>& visit, const Take& take);
  void gather(std::span<const std::byte> mine, std::size_t value_bytes,
              const std::function<std::byte*(std::uint64_t vertices)>& room);

 private:
  struct Job;
  std::unique_ptr<Job> job_;
};

}  // namespace detail

/// One process's part of a job whose processes send a Value, of 4 or 8 bytes, to the owners of vertices. All
/// members are collective but those of FrontierState that say nothing of it, and throw Error when the job
/// fails.
template <class Value>
requires(std::is_trivially_copyable_v<Value> && (sizeof(Value) == 4 || sizeof(Value) == 8)) class FrontierJob
    : public detail::FrontierState {
  using Record = std::array<std::uint32_t, 1 + sizeof(Value) / 4>;
  using Words = std::array<std::uint32_t, sizeof(Value) / 4>;

 public:
  static constexpr std::size_t kRecordBytes = sizeof(Record);

  /// `kernel`: what is computed, in words; the same in all processes. `bootstrap` and `graph` outlive it.
  /// Throws UsageError when an option makes no sense.
  FrontierJob(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const std::string& kernel,
              const JobOptions& options = {})
      : FrontierState(bootstrap, graph, kernel, kRecordBytes, options) {}
  /// Makes one of a job that has begun, whose records have kRecordBytes; supersteps are noted in `log`. An
  /// OwnSearch gets such a one. `within` and `log` outlive it.
  FrontierJob(frontier::FrontierJob& within, frontier::SuperstepLog& log)
      : FrontierState(within, kRecordBytes, log) {}

  /// Calls visit(row, send) for each vertex of `frontier`, by local number. send(home, value) has
  /// hear(vertex, value) called where that vertex is owned: at once in this process, and before superstep()
  /// returns in all. `home` is one of the row's targets, or what home() returns. With several workers, they
  /// call visit() and hear() at the same time. Collective; throws UsageError where a number in `frontier` is
  /// not less than owned(), and passes on what visit() and hear() throw.
  template <class Visit, class Hear>
  void superstep(std::span<const LocalNumber> frontier, const Visit& visit, const Hear& hear) {
    const Take take = [&](const std::byte* bytes) {
      Record record;
      std::memcpy(record.data(), bytes, sizeof record);
      Words words;
      std::copy(record.begin() + 1, record.end(), words.begin());
      hear(LocalNumber(record[0]), std::bit_cast<Value>(words));
    };
    run(
        frontier,
        [&](int worker, const FrontierRow& row) {
          visit(row, [&](const Home& to, Value value) {
            if (to.owner == rank()) return hear(to.local, value);
            Record record{to.local};
            const auto words = std::bit_cast<Words>(value);
            std::copy(words.begin(), words.end(), record.begin() + 1);
            send(worker, to.owner, reinterpret_cast<const std::byte*>(record.data()), take);
          });
        },
        take);
  }

  /// Returns the values of all vertices at rank 0, in the order of their ids; elsewhere nothing. `mine`:
  /// those of the owned vertices, by local number. Collective; throws UsageError where there are more or
  /// fewer.
  template <class Any>
  std::vector<Any> gather(const std::vector<Any>& mine) {
    std::vector<Any> all;
    FrontierState::gather(std::as_bytes(std::span(mine)), sizeof(Any), [&](std::uint64_t vertices) {
      all.resize(vertices);
      return std::as_writable_bytes(std::span(all)).data();
    });
    return all;
  }
};

}  // namespace edgewire
