// Messages of any size between the workers of processes, in records of one size through rings. Long bodies
// stay in a read area where the peer can read that. Worker w talks to worker w of other processes, on lane w.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "channel/ring.h"
#include "launch/bootstrap.h"
#include "tasks/future.h"
#include "tasks/read_area.h"
#include "transport/transport.h"

namespace edgewire::tasks {

enum class MailKind : std::uint8_t {
  // The first three make work for the receiver.
  spawn,      ///< asks to run a task; its references and arguments follow
  put,        ///< brings a result; its references and bytes follow
  subscribe,  ///< asks for a result when it is there
  ask,        ///< asks for a task to run
  refuse,     ///< says that there is no task to spare
  stop,       ///< says that the result of the job is there
  look,       ///< asks what a process does
  state,      ///< answers: an Activity follows
  read,       ///< says up to which position the read area was read; for Mail alone
};

/// A reference inside a message.
struct WireRef {
  std::uint64_t bits = 0;
  static WireRef of(const Ref& ref) noexcept { return {ref.bits_}; }
  Ref ref() const noexcept { return Ref(bits); }
};

struct Header {
  std::uint32_t bytes = 0;  ///< size of the message, with this header
  MailKind kind{};
  bool last = false;       ///< whether to free the result (subscribe)
  bool asked_for = false;  ///< whether the receiver had nothing to do (spawn)
  bool movable = false;    ///< whether other processes may ask for the task (spawn)
  std::uint32_t refs = 0;  ///< number of references that follow
  std::uint16_t function = 0;
  bool placed = false;        ///< whether a Placed follows instead of the body; set by Mail
  std::uint32_t attempt = 0;  ///< attempt in which it was posted; set by Mail
  WireRef ref{};              ///< reference of the result that the message is about
  /// The bits of the WireRef for the answer (subscribe), the round (look), or the position (read).
  std::uint64_t reply = 0;
  std::uint64_t sent_ns = 0;  ///< time of sending by the steady clock, where phases are measured
};
static_assert(sizeof(Header) == 48 && std::is_trivially_copyable_v<Header>);

/// The exception of a worker that can go no further because a process was lost, while the job goes on.
struct PeerLost {};

struct Message {
  Header header{};
  std::span<const Ref> refs{};
  std::string_view body{};
};

/// The mail of a process. Calls with a lane belong to the worker of that lane. After a failure of the job
/// they throw Error, and PeerLost after a loss until begin_attempt().
class Mail {
 public:
  /// Exposes the region and connects the link. Collective; throws Error. `bootstrap` and `link` outlive it.
  Mail(launch::Bootstrap& bootstrap, transport::Transport& link, int lanes, bool oversubscribed);

  /// Posts a message, and never waits. What the ring has no room for stays here; see backlog().
  void post(int lane, int peer, Header header, std::span<const Ref> refs = {}, std::string_view body = {});
  /// Sends what was posted, as far as there is room.
  void flush(int lane);
  /// Returns the number of bytes that were posted and had no room yet.
  std::size_t backlog(int lane) const noexcept { return lanes_[static_cast<std::size_t>(lane)].backlog; }
  /// Returns whether flush() has nothing more to do.
  bool all_sent(int lane) const noexcept { return !lanes_[static_cast<std::size_t>(lane)].posted; }

  /// Calls take(peer, message) for all that has arrived. Returns the number of messages. `take` may post.
  template <class Take>
  std::size_t drain(int lane, const Take& take) {
    poll();
    Lane& mine = lanes_[static_cast<std::size_t>(lane)];
    std::size_t messages = 0;
    rings_->drain(lane, mine.superstep, [&](int peer, std::span<const std::byte> records) {
      while (!records.empty())
        if (auto message = next(mine, peer, records); message && message->header.attempt == attempt_) {
          if (message->header.kind == MailKind::read) {
            area_->release(lane, peer, message->header.reply);
            continue;
          }
          const auto placed = place_of_body(peer, *message);
          if (placed && !area_->is_mapped(peer)) {
            mine.fetches.push_back({peer, message->header, mine.refs, *placed});
            continue;
          }
          if (placed) message->body = area_->view(lane, peer, *placed);
          take(peer, *message);
          if (placed) tell_read(lane, peer, *placed);
          ++messages;
        }
    });
    for (; has_fetched(lane); ++messages) {
      const Fetch fetched = std::move(mine.fetches.front());
      mine.fetches.pop_front();
      mine.fetched_with = 0;
      take(fetched.peer,
           Message{fetched.header, fetched.refs, area_->view(lane, fetched.peer, fetched.placed)});
      tell_read(lane, fetched.peer, fetched.placed);
    }
    return messages;
  }
  /// Blocks until something may have arrived, or for a moment.
  void wait() { link_.wait(std::chrono::microseconds(200)); }

  /// Drops what was not sent and what has not been drained. Returns when all processes have called it on this
  /// lane. Messages that are posted later belong to the next run.
  void end_run(int lane);
  /// Begins an attempt: messages of other attempts are dropped where they arrive. `lost`: the lost ones by
  /// peer; they get nothing and send nothing any more. No worker may run meanwhile.
  void begin_attempt(std::uint32_t attempt, const std::vector<bool>& lost);
  transport::Counters counters() const noexcept { return link_.counters(); }

 private:
  struct Unsent {
    std::vector<std::byte> records{};
    std::size_t begin = 0;  ///< start of the bytes that have not been sent
    bool empty() const noexcept { return begin == records.size(); }
  };
  /// A message whose body must be brought here first.
  struct Fetch {
    int peer;
    Header header;
    std::vector<Ref> refs;
    Placed placed;
  };
  struct alignas(128) Lane {
    std::uint64_t superstep = 1;
    std::size_t backlog = 0;
    bool posted = false;
    std::vector<std::byte> scratch{};
    std::vector<Unsent> unsent{};                   ///< unsent bytes by peer
    std::vector<std::vector<std::byte>> partial{};  ///< begin of a message by peer
    std::vector<std::byte> whole{};                 ///< message that take() looks at, if it came in parts
    std::vector<Ref> refs{};
    std::deque<Fetch> fetches{};     ///< messages to fetch for, one after the other
    std::uint64_t fetched_with = 0;  ///< the link's write that completes the first fetch; 0: not begun
  };

  void poll();
  std::size_t push(int lane, int peer, std::span<const std::byte> records);
  std::optional<Message> next(Lane& lane, int peer, std::span<const std::byte>& records);
  static Message parse(Lane& lane, int peer, std::span<const std::byte> bytes);
  static std::optional<Placed> place_of_body(int peer, const Message& message);
  bool has_fetched(int lane);
  void tell_read(int lane, int peer, const Placed& placed);

  transport::Transport& link_;
  transport::Health& health_;
  int rank_, size_;
  bool oversubscribed_;
  std::uint32_t attempt_ = 0;
  int losses_ = 0;  ///< number of losses that this attempt knows of
  std::vector<std::uint64_t> writes_;
  channel::Region region_;
  std::unique_ptr<channel::Rings> rings_;
  std::optional<ReadArea> area_;
  std::vector<Lane> lanes_;
};

}  // namespace edgewire::tasks
