// TCP: one connection for each peer and lane. A write travels as a header and its payload. The payload is
// sent directly from the sender's memory and received directly into the region. A signal is a header without
// payload. It arrives after all that was sent before it on the same connection. There is no extra thread: a
// thread that polls receives and sends for all.
//
// Everything travels in units of 64 bytes. A payload byte has the same offset in its unit as its address has
// in a cache line. So the system copies whole cache lines to whole cache lines. Otherwise copying from memory
// took several times as long (Zen 4, Linux 6.18).
//
// Header and payload each have a CRC-32C, unless the settings say no. The sender computes it when it queues
// the frame, the receiver as the bytes arrive. What follows a wrong frame on its connection has no effect.
//
// tcp_connect.cpp makes the connections, tcp_send.cpp and tcp_receive.cpp move the bytes, tcp.cpp polls and
// waits.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "transport/backend.h"
#include "transport/crc32c.h"
#include "transport/file_descriptor.h"
#include "transport/zero_copy.h"

namespace edgewire::transport {

enum class FrameType : std::uint8_t { Write = 1, Signal = 2, Goodbye = 3 };

inline constexpr std::size_t kUnitBytes = 64;

/// Precedes every payload on a connection, in the byte order of the hosts (all little endian).
struct FrameHeader {
  std::uint64_t offset = 0;  ///< Write: in the receiver's region; Signal: the count
  std::uint32_t length = 0;  ///< bytes of payload that follow; only a Write has any
  std::uint16_t kind = 0;    ///< of a Signal
  FrameType type = FrameType::Goodbye;
  std::uint8_t lead = 0;            ///< unused bytes between header and payload
  std::uint32_t payload_check = 0;  ///< CRC-32C of the payload
  std::array<std::byte, kUnitBytes - 24> spare{};
  std::uint32_t check = 0;  ///< CRC-32C of all members before it

  /// Returns the number of unused bytes after the payload, up to a whole unit.
  std::size_t tail() const noexcept { return (kUnitBytes - (lead + length) % kUnitBytes) % kUnitBytes; }
  /// Returns what `check` must be.
  std::uint32_t right_check() const noexcept {
    return crc32c(std::as_bytes(std::span(this, 1)).first(offsetof(FrameHeader, check)));
  }
  /// Returns the bytes of the whole frame on the connection.
  std::size_t bytes() const noexcept { return sizeof *this + lead + length + tail(); }
};
static_assert(sizeof(FrameHeader) == kUnitBytes);

/// Most payload bytes of a frame. A larger write travels as several frames.
constexpr std::size_t kMaxFrameBytes = std::size_t{1} << 30;

/// The queue of a lane for a peer. The lane's thread fills `frames` and publishes them. The thread that holds
/// `busy` sends them.
struct SendQueue {
  struct Frame {
    FrameHeader header;
    const std::byte* payload = nullptr;
    bool ends_write = false;
  };
  static constexpr std::size_t kFrames = 512;

  std::vector<Frame> frames{kFrames};
  std::uint64_t filled = 0;  ///< frames ever queued; of the lane's thread
  alignas(64) std::atomic<std::uint64_t> published{
      0};  ///< release by the lane's thread, acquire by the sending one
  alignas(64) std::atomic<std::uint64_t> sent{0};  ///< whole; by the sending thread, for itself
  std::atomic<std::uint64_t> reusable{0};   ///< frames; release by the sending thread, acquire by the lane's
  std::atomic<std::uint64_t> completed{0};  ///< writes; release by the sending thread, acquire in completed()
  std::atomic_flag busy;                    ///< held while sending; acquire and release pair with each other
  std::size_t sent_bytes = 0;     ///< of the first frame that is not sent whole; of the holder of `busy`
  std::uint64_t sent_writes = 0;  ///< that the frames in `sent` end; of the holder of `busy`
  ZeroCopyCalls calls;            ///< belongs to the holder of `busy`
  bool zero_copy = false;         ///< try it; of the holder of `busy`
  std::atomic<bool> notified{
      false};  ///< calls may be done; set by poll() on EPOLLERR, cleared before looking
  std::atomic<bool> blocked{
      false};                 ///< no room in the socket; set before sending, cleared by poll() on EPOLLOUT
  std::atomic<int> error{0};  ///< errno of a failed send, for the receiving side to report; single value
};

/// The state of what is arriving from a peer on a lane. The members that are not atomic belong to the holder
/// of `busy`.
struct Arrivals {
  static constexpr std::size_t kStagingBytes = 16384;

  std::atomic_flag busy;              ///< pairs with itself, and with `readable`: see receive()
  std::atomic<bool> readable{false};  ///< cleared before reading, set by poll() on EPOLLIN: no event is lost
  std::atomic<bool> hung_up{false};   ///< set by poll(): read until the end shows
  std::atomic<bool> ended{false};     ///< nothing more comes or goes; set by the receiving thread
  std::atomic<bool> lost{false};      ///< it ended without goodbye; pairs with report_lost()
  int error = 0;                      ///< errno that ended it; 0 when the peer closed it
  bool goodbye = false;               ///< the peer ends in good order
  bool large = false;                 ///< the payload under way is large: stage little of what follows it
  std::byte* place = nullptr;         ///< where the next payload byte goes
  std::size_t payload_left = 0;
  std::uint32_t crc = 0;      ///< of the payload under way, as far as it has arrived
  std::uint32_t awaited = 0;  ///< what `crc` must be at its end
  std::size_t skip = 0;       ///< bytes that mean nothing, before anything else
  std::size_t tail = 0;       ///< such bytes behind the payload under way
  std::size_t begin = 0;      ///< of the bytes in `staging` that were not taken
  std::size_t end = 0;
  std::array<std::byte, kStagingBytes> staging;
};

/// One connection.
struct Link {
  int peer = -1;
  int lane = -1;
  FileDescriptor socket;
  std::string address;  ///< of the peer's end
  SendQueue out;
  Arrivals in;
};

class Tcp final : public NetworkBackend {
 public:
  explicit Tcp(const Settings& settings);
  /// Sends what is queued and says goodbye; waits for a limited time. Writes that peers still send are lost,
  /// so destroy it only after a collective step that follows the last exchange.
  ~Tcp() override;

  std::string_view name() const noexcept override { return "tcp"; }
  std::span<std::byte> expose(std::size_t bytes, std::span<const Part> parts) override;
  std::string blob() const override;
  void connect(std::span<const std::string> blobs) override;
  bool write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept override;
  bool signal(int lane, int peer, int kind, std::uint64_t count) noexcept override;
  void ring_doorbell(int lane) noexcept override;
  bool poll() noexcept override;
  bool wait(std::chrono::microseconds timeout) noexcept override;
  std::uint64_t completed(int lane, int peer) const noexcept override;
  bool takes_more(int lane, int peer) const noexcept override { return !link(lane, peer).out.blocked.load(); }
  Counters counters() const noexcept override;
  std::uint64_t wire_bytes_of(std::uint64_t frame_bytes) const noexcept override;

 private:
  // epoll returns a tag with each event. The tag of a link is its index. These two tags are for the event
  // file descriptor that wakes a sleeping thread, and for the listening socket.
  static constexpr std::uint64_t kAlarmTag = ~std::uint64_t{0};
  static constexpr std::uint64_t kListenerTag = kAlarmTag - 1;

  Link& link(int lane, int peer) const noexcept { return *links_[index(lane, peer)]; }

  // tcp_connect.cpp
  void add_link(int lane, int peer, FileDescriptor socket);
  void watch(int fd, std::uint64_t tag, std::uint32_t events) const;
  void refuse_callers() noexcept;
  void say_goodbye() noexcept;

  // tcp_send.cpp
  bool queue(Link& link, const FrameHeader& header, const std::byte* payload, bool ends_write) noexcept;
  void flush(Link& link) noexcept;
  bool send_some(Link& link) noexcept;
  void reap(Link& link) noexcept;

  // tcp_receive.cpp
  void receive(Link& link) noexcept;
  bool read(Link& link) noexcept;
  bool take_staged(Link& link) noexcept;
  bool take_frame(Link& link, const FrameHeader& header) noexcept;
  bool placed(Link& link, std::size_t bytes) noexcept;
  bool refuse_changed(Link& link) noexcept;
  bool refuse_frame(Link& link, const std::string& cause) noexcept;
  void end(Link& link, int error) noexcept;
  void note_lost(Link& link) noexcept;
  void report_lost() noexcept;

  // tcp.cpp
  bool look(std::chrono::nanoseconds timeout) noexcept;
  void progress() noexcept;
  void announce() noexcept;

  FileDescriptor listener_;
  FileDescriptor epoll_;
  Alarm alarm_;                               ///< one thread sleeps in epoll, others on wakeup_
  std::vector<std::unique_ptr<Link>> links_;  ///< by peer and lane; null for this rank and peers left out
  std::atomic<std::uint64_t> refused_connections_{0};  // single values, paired with nothing
  std::atomic<std::uint64_t> corrupt_frames_{0};
  std::atomic<std::uint64_t> zero_copy_sends_{0};
  std::atomic<std::uint64_t> copied_sends_{0};
  std::atomic_flag looking_;          ///< one thread at a time asks for events without waiting
  std::atomic<Link*> lost_{nullptr};  ///< ended without goodbye, not yet reported; see report_lost()
  Clock::time_point lost_at_;         ///< written before lost_
  std::atomic_flag losing_;           ///< only one link at a time
};

}  // namespace edgewire::transport
