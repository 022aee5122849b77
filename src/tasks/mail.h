// Messages between the workers of processes: of any size, in records of one size, through rings. Worker w of
// a process talks to worker w of the others, on lane w.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "exchange/ring.h"
#include "launch/bootstrap.h"
#include "tasks/future.h"
#include "transport/transport.h"

namespace edgewire::tasks {

enum class Kind : std::uint8_t {
  spawn,      ///< run a task; its references and arguments follow
  put,        ///< a result; its bytes follow
  subscribe,  ///< send a result when it is there
  ask,        ///< for a task to run
  refuse,     ///< there is no task to spare
  stop,       ///< the result of the job is there
  look,       ///< for the state of a process
  state,      ///< an Activity follows
};

struct Header {
  std::uint32_t bytes = 0;  ///< of the message, with this header
  Kind kind{};
  bool last = false;       ///< subscribe: and free it
  bool asked_for = false;  ///< spawn: the receiver had nothing to do
  bool movable = false;    ///< spawn: other processes may ask for it
  std::uint32_t refs = 0;  ///< that follow
  std::uint16_t function = 0;
  std::uint16_t unused[3]{};
  Ref ref{};                  ///< of the result that the message is about
  std::uint64_t reply = 0;    ///< subscribe: bits of the Ref for the answer. look: the round
  std::uint64_t sent_ns = 0;  ///< steady clock, where phases are measured
};
static_assert(sizeof(Header) == 48 && std::is_trivially_copyable_v<Header>);

struct Message {
  Header header{};
  std::span<const Ref> refs{};
  std::string_view body{};
};

/// Calls with a lane belong to the worker of that lane. After a failure of the job they throw Error.
class Mail {
 public:
  /// Exposes the region and connects the link. Collective; throws Error. `bootstrap` and `link` outlive it.
  Mail(launch::Bootstrap& bootstrap, transport::Transport& link, int lanes, bool oversubscribed);

  /// Never waits. What the ring has no room for stays here; see backlog().
  void post(int lane, int peer, Header header, std::span<const Ref> refs = {}, std::string_view body = {});
  /// Sends what was posted, as far as there is room.
  void flush(int lane);
  /// Bytes that were posted and had no room yet.
  std::size_t backlog(int lane) const noexcept { return lanes_[static_cast<std::size_t>(lane)].backlog; }

  /// Calls take(peer, message) for all that has arrived. Returns the number of messages. `take` may post.
  template <class Take>
  std::size_t drain(int lane, const Take& take) {
    poll();
    Lane& mine = lanes_[static_cast<std::size_t>(lane)];
    std::size_t messages = 0;
    rings_->drain(lane, mine.superstep, [&](int peer, std::span<const std::byte> records) {
      while (!records.empty())
        if (const auto message = next(mine, peer, records)) {
          take(peer, *message);
          ++messages;
        }
    });
    return messages;
  }
  /// Blocks until something may have arrived, or for a moment.
  void wait() { link_.wait(std::chrono::microseconds(200)); }
  bool oversubscribed() const noexcept { return oversubscribed_; }

  /// Drops what was not sent and what has not been drained. Returns when all processes have called it on this
  /// lane. Messages that are posted later belong to the next run.
  void end_run(int lane);

  transport::Counters counters() const noexcept { return link_.counters(); }

 private:
  struct Unsent {
    std::vector<std::byte> records{};
    std::size_t begin = 0;  ///< of what has not been sent
    bool empty() const noexcept { return begin == records.size(); }
  };
  struct alignas(128) Lane {
    std::uint64_t superstep = 1;
    std::size_t backlog = 0;
    bool posted = false;
    std::vector<std::byte> scratch{};
    std::vector<Unsent> unsent{};                   ///< [peer]
    std::vector<std::vector<std::byte>> partial{};  ///< [peer]: the begin of a message
    std::vector<std::byte> whole{};                 ///< the message that take() looks at, if it came in parts
    std::vector<Ref> refs{};
  };

  void poll();
  std::size_t push(int lane, int peer, std::span<const std::byte> records);
  std::optional<Message> next(Lane& lane, int peer, std::span<const std::byte>& records);
  static Message parse(Lane& lane, int peer, std::span<const std::byte> bytes);

  transport::Transport& link_;
  transport::Health& health_;
  int rank_, size_;
  bool oversubscribed_;
  std::vector<std::uint64_t> writes_;
  std::unique_ptr<exchange::Rings> rings_;
  std::vector<Lane> lanes_;
};

}  // namespace edgewire::tasks
