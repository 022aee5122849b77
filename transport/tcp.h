// TCP: one connection for each peer and lane. A write travels as a header and its payload, from the sender's
// memory straight into the region. A signal is a header without payload. It arrives after all that was sent
// before it on the connection. There is no extra thread: a thread that polls receives and sends for all.
//
// Everything travels in units of 64 bytes. A payload byte has the same offset in its unit as its address has
// in a cache line. So the system copies whole cache lines to whole cache lines. Otherwise copying from memory
// took several times as long (Zen 4, Linux 6.18).
//
// Header and payload each have a CRC-32C, unless the settings say no. The sender computes it when it queues
// the frame, the receiver as the bytes arrive. What follows a wrong frame on its connection has no effect.
//
// tcp_send.cpp and tcp_receive.cpp move the bytes, tcp.cpp does the rest.
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
  std::uint64_t offset = 0;  ///< offset in the receiver's region (Write), or count (Signal)
  std::uint32_t length = 0;  ///< number of bytes of payload that follow; only a Write has any
  std::uint16_t kind = 0;    ///< kind of a Signal
  FrameType type = FrameType::Goodbye;
  std::uint8_t lead = 0;            ///< number of unused bytes between header and payload
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
  std::uint64_t filled = 0;  ///< number of frames ever queued; used by the lane's thread
  /// Frames to send; release by the lane's thread, acquire by the sending one.
  alignas(64) std::atomic<std::uint64_t> published{0};
  alignas(64) std::atomic<std::uint64_t> sent{0};  ///< frames sent whole; used by the sending thread alone
  /// Frames that may be reused; release by the sending thread, acquire by the lane's.
  std::atomic<std::uint64_t> reusable{0};
  /// Completed writes; release by the sending thread, acquire in completed().
  std::atomic<std::uint64_t> completed{0};
  std::atomic_flag busy;  ///< held while sending; acquire and release pair with each other
  /// Bytes sent of the first frame that is not sent whole; for the holder of `busy`.
  std::size_t sent_bytes = 0;
  std::uint64_t sent_writes = 0;  ///< writes that the frames in `sent` complete; for the holder of `busy`
  ZeroCopyCalls calls;            ///< zero-copy sends; for the holder of `busy`
  bool zero_copy = false;         ///< whether to try zero copy; for the holder of `busy`
  /// Whether zero-copy sends may be done; set by poll() on EPOLLERR, cleared before looking.
  std::atomic<bool> notified{false};
  /// Whether there is no room in the socket; set before sending, cleared by poll() on EPOLLOUT.
  std::atomic<bool> blocked{false};
  std::atomic<int> error{0};  ///< errno of a failed send, for the receiving side to report; single value
};

/// The state of what arrives from a peer on a lane. What is not atomic belongs to the holder of `busy`.
struct Arrivals {
  static constexpr std::size_t kStagingBytes = 16384;

  std::atomic_flag busy;  ///< held while receiving; pairs with itself, and with `readable`: see receive()
  /// Whether bytes may be there: cleared before reading, set by poll() on EPOLLIN: no event is lost.
  std::atomic<bool> readable{false};
  std::atomic<bool> hung_up{false};  ///< whether to read until the end shows; set by poll()
  std::atomic<bool> ended{false};    ///< whether nothing more comes or goes; set by the receiving thread
  std::atomic<bool> lost{false};  ///< whether the connection ended without goodbye; pairs with report_lost()
  int error = 0;                  ///< errno that ended the connection; 0 when the peer closed it
  bool goodbye = false;           ///< whether the peer ends in good order
  bool large = false;  ///< whether the payload under way is large; then little of what follows it is staged
  std::byte* place = nullptr;  ///< place of the next payload byte
  std::size_t payload_left = 0;
  std::uint32_t crc = 0;      ///< CRC of the payload under way, as far as it has arrived
  std::uint32_t awaited = 0;  ///< value that `crc` must have at its end
  std::size_t skip = 0;       ///< number of unused bytes that come next
  std::size_t tail = 0;       ///< number of unused bytes behind the payload under way
  std::size_t begin = 0;      ///< start of the bytes in `staging` that were not taken
  std::size_t end = 0;
  std::array<std::byte, kStagingBytes> staging;
};

/// One connection.
struct Link {
  int peer = -1;
  int lane = -1;
  FileDescriptor socket;
  std::string address;  ///< address of the peer's end
  SendQueue out;
  Arrivals in;
};

class Tcp final : public NetworkBackend {
 public:
  explicit Tcp(const Settings& settings);
  /// Sends what is queued and says goodbye; it waits for a limited time. Writes that peers still send are
  /// lost, so destroy it only after a collective step that follows the last exchange.
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
  bool refuse(Link& link, std::atomic<std::uint64_t>& count, const std::string& message) noexcept;
  void end(Link& link, int error) noexcept;
  void note_lost(Link& link) noexcept;
  void report_lost() noexcept;

  // tcp.cpp
  void add_link(int lane, int peer, FileDescriptor socket);
  void watch(int fd, std::uint64_t tag, std::uint32_t events) const;
  void refuse_callers() noexcept;
  void say_goodbye() noexcept;
  bool look(std::chrono::nanoseconds timeout) noexcept;
  void progress() noexcept;
  void announce() noexcept;

  FileDescriptor listener_;
  FileDescriptor epoll_;
  Alarm alarm_;  ///< alarm for the thread that sleeps in epoll; others sleep on wakeup_
  /// Links by peer and lane; null for this rank and peers left out.
  std::vector<std::unique_ptr<Link>> links_;
  std::atomic<std::uint64_t> refused_connections_{0};  // single values, paired with nothing
  std::atomic<std::uint64_t> corrupt_frames_{0};
  std::atomic<std::uint64_t> zero_copy_sends_{0};
  std::atomic<std::uint64_t> copied_sends_{0};
  std::atomic_flag looking_;  ///< held by the thread that asks for events without waiting
  /// Link that ended without goodbye, not yet reported; see report_lost().
  std::atomic<Link*> lost_{nullptr};
  Clock::time_point lost_at_;  ///< time when lost_ ended; written before lost_
  std::atomic_flag losing_;    ///< held so that only one link at a time is reported
};

}  // namespace edgewire::transport
