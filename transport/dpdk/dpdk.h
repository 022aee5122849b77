// The dpdk folder is the transport over a DPDK port: reliability.h, which is tested without a port; frames
// (frame.h); and a station for each port, which all transports of a process share (station.h). Only the
// eal*.cpp files use DPDK: they are a plug-in behind frame_port.h, loaded at its first use.
//
// For each peer the transport has a Link, which makes the frames to and from that peer reliable. The threads
// of the lanes queue writes and signals; the holder of the station cuts them into frames. Frames are taken
// in order, so a signal is never seen before earlier writes.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "transport/backend.h"
#include "transport/dpdk/ip_choice.h"
#include "transport/dpdk/reliability.h"
#include "transport/dpdk/station.h"
#include "transport/file_descriptor.h"

namespace edgewire::transport::dpdk {

/// The queue of a lane for a peer. The lane's thread fills it, and the holder of the station empties it.
class LaneQueue {
 public:
  struct Work {
    const std::byte* source = nullptr;
    std::size_t bytes = 0;
    std::uint64_t place = 0;  ///< offset in the region, or count of a signal
    std::uint16_t kind = 0;
    FrameType type = FrameType::Data;
  };
  /// Adds work. Returns false when there is no room.
  bool push(const Work& work) noexcept {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == kWorks) return false;
    works_[tail % kWorks] = work;
    tail_.store(tail + 1, std::memory_order_release);  // pairs with acquire in size()
    return true;
  }
  std::uint64_t size() const noexcept {
    return tail_.load(std::memory_order_acquire) - head_.load(std::memory_order_relaxed);
  }
  Work& at(std::uint64_t i) noexcept { return works_[(head_.load(std::memory_order_relaxed) + i) % kWorks]; }
  void pop() noexcept {
    head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // pairs with push()
  }

  /// Number of completed writes; release by Link, acquire by Dpdk::completed().
  std::atomic<std::uint64_t> completed{0};

 private:
  static constexpr std::uint64_t kWorks = 1024;
  std::array<Work, kWorks> works_;
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  alignas(64) std::atomic<std::uint64_t> head_{0};
};

class Dpdk;

/// The traffic between this process and one peer: a flow of the station, whose holder calls take() and
/// step().
class Link {
 public:
  Link(Dpdk& owner, int peer, int lanes);

  /// Returns the key of the checks.
  std::uint64_t key() const noexcept;
  /// Takes an intact frame. Returns true if it keeps the frame until Station::release().
  bool take(const Incoming& frame, const Header& header, std::span<const std::byte> payload,
            Nanoseconds now) noexcept;
  /// Sends, by Station::send(), what should leave now.
  void step(Nanoseconds now) noexcept;
  LaneQueue& lane(int lane) noexcept { return queues_[lane]; }
  bool has_work() noexcept;

  const int peer;
  std::uint32_t number = 0;  ///< number of this flow at this station
  // The envelope of the peer; it is set before `active`.
  Envelope envelope;
  std::uint32_t remote_number = 0;
  /// True once the peer is connected: release by connect(), acquire by the station's holder.
  std::atomic<bool> active{false};
  std::atomic<bool> greeted{false};  ///< true once the peer is up, and has heard of us
  std::atomic<bool> leaving{false};  ///< true when Goodbye goes out as soon as when nothing is queued
  std::atomic<bool> ended{false};    ///< true once the peer has said goodbye
  std::atomic<bool> quiet{true};     ///< true while all that was sent is acknowledged, nothing is queued
  // Single values, paired with nothing.
  std::atomic<std::uint64_t> retransmitted_bytes{0}, duplicates{0}, reordered{0}, crowded_out{0};

 private:
  friend class Dpdk;
  std::atomic<bool> has_left_{false};  ///< true once Goodbye was sent; pairs with ~Dpdk()
  void place(const Header& header, std::span<const std::byte> payload) noexcept;
  bool next_content(Content& content) noexcept;
  void send(Outgoing& to, const Sender::Frame& frame, Nanoseconds now) noexcept;
  void send_ack(Outgoing& to, Nanoseconds now) noexcept;
  void send(Outgoing& to, const Header& header, Nanoseconds now) noexcept;
  bool ack_is_due(Nanoseconds now) const noexcept;
  void look_for_silence(Nanoseconds now) noexcept;

  Dpdk& owner_;
  std::vector<LaneQueue> queues_;  ///< queues by lane
  std::vector<std::size_t> cut_;   ///< bytes of the first work that were sent, by lane
  std::size_t turn_ = 0;           ///< the lane that sends next
  Sender sender_;
  Receiver receiver_;
  bool greeting_ = false, greeting_arrived_ = false, news_ = false;
  Nanoseconds owed_since_ = 0;  ///< time since when an acknowledgement is owed; 0: none is
  Nanoseconds heard_at_ = 0, sent_at_ = 0, stepped_at_ = 0;
};

class Dpdk final : public NetworkBackend {
 public:
  /// Opens the transport. `station`: to send and receive by, for tests; null: that of the settings' port.
  explicit Dpdk(const Settings& settings, std::shared_ptr<Station> station = nullptr);
  /// Sends what is queued and says goodbye, and waits a bounded time for the peers.
  ~Dpdk() override;

  std::string_view name() const noexcept override { return "dpdk"; }
  std::span<std::byte> expose(std::size_t bytes, std::span<const Part> parts) override;
  std::string blob() const override;
  void connect(std::span<const std::string> blobs) override;
  std::span<std::byte> send_memory(std::size_t bytes) override;
  bool write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept override;
  bool signal(int lane, int peer, int kind, std::uint64_t count) noexcept override;
  void ring_doorbell(int lane) noexcept override;
  bool poll() noexcept override;
  bool wait(std::chrono::microseconds timeout) noexcept override;
  std::uint64_t completed(int lane, int peer) const noexcept override;
  Counters counters() const noexcept override;
  std::uint64_t wire_bytes_of(std::uint64_t frame_bytes) const noexcept override;
  std::string path() const override;

 private:
  friend class Link;
  Link& link(int peer) const noexcept { return *links_[peer]; }
  void fail(int peer, const std::string& message) noexcept;
  void greet();
  void set_payload(std::uint32_t mtu) noexcept;
  Envelope envelope_to(const MacAddress& mac, const IpAddress& ip) const noexcept;
  void remember(std::span<std::byte> memory);

  std::shared_ptr<Station> station_;
  std::uint64_t key_;  ///< key of checks, from the run's secret
  std::mutex remembered_mutex_;
  std::vector<std::span<std::byte>> remembered_;  ///< memory that the station remembers
  std::uint32_t payload_bytes_ = 0;               ///< payload bytes of a full frame
  std::vector<std::unique_ptr<Link>> links_;      ///< links by peer; null for this rank and peers left out
  const IpChoice own_ip_;
  FileDescriptor kernel_socket_;  ///< result of quiet_kernel()
  bool connected_ = false;
  std::atomic_flag watching_;  ///< set while one thread looks at the port, others sleep on wakeup_
};

}  // namespace edgewire::transport::dpdk
