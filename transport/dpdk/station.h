#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/seconds.h"
#include "transport/dpdk/frame_port.h"
#include "transport/dpdk/reliability.h"
#include "transport/transport.h"
#include "transport/wakeup.h"

namespace edgewire::transport::dpdk {

class Link;

/// Frames that did not count, of all flows of a station.
struct Strays {
  std::atomic<std::uint64_t> corrupt{0}, foreign{0};  // single values, paired with nothing
};

/// An open port, shared by all transports of this process that name it. A thread that wants progress makes it
/// for all of them; a thread of the station does otherwise. The port stays open until the process ends.
class Station {
 public:
  /// Returns the station for this port. Throws Error, UsageError.
  static std::shared_ptr<Station> at(const DpdkChoice& choice, int lanes);

  /// Takes an open port. `udp`: whether frames are in IPv4 and UDP. `bits_per_s` 0: not paced. `poll_cpu`: a
  /// core that the station's thread has for itself; -1: none.
  Station(std::unique_ptr<FramePort> port, bool udp, std::uint64_t bits_per_s, int poll_cpu);
  ~Station();

  const PortFacts& facts() const noexcept { return port_->facts(); }
  /// Returns the part of a frame behind its envelope.
  std::span<const std::byte> body(const Incoming& frame) const noexcept {
    return std::span(frame.data, frame.bytes).subspan(envelope_bytes(udp_));
  }

  // ---- by any thread -------------------------------------------------------------------------------
  /// Adds a flow and returns its number, which peers put into their frames.
  std::uint32_t add(Link& link);
  void remove(std::uint32_t number) noexcept;
  void remember(std::span<std::byte> memory);
  void forget(std::span<std::byte> memory) noexcept;
  /// Gives back what a flow that was removed has held.
  void release_all(Receiver& receiver) noexcept;
  /// Receives and sends, or has another thread do it that is at it. Returns true when something moved.
  bool progress() noexcept;
  const Strays& strays() const noexcept { return strays_; }
  std::uint64_t received_by(std::size_t queue) const noexcept { return port_->received_by(queue); }
  std::uint64_t missed() const noexcept { return missed_.load(std::memory_order_relaxed); }

  // ---- by flows, from take() and step() --------------------------------------------------------------
  /// Returns a frame to fill, or null when the port allows no more now. Every frame is followed by sent().
  Outgoing* room() noexcept;
  /// Does likewise, and also returns null when the line rate allows no more now.
  Outgoing* room(Nanoseconds now) noexcept { return pacer_.ready(now) ? room() : nullptr; }
  void sent() noexcept;
  void release(const Incoming& frame) noexcept {
    --kept_;
    port_->release(frame.handle);
  }
  /// Returns whether one more frame may be kept.
  bool may_keep() const noexcept { return kept_ < facts().buffers; }

 private:
  static constexpr std::size_t kBurst = 64;
  static constexpr int kTurns = 4;
  /// Number of turns between two looks at the port's facts.
  static constexpr std::uint64_t kTurnsALook = 4096;

  bool work() noexcept;
  void turn() noexcept;
  void take(const Incoming& frame, Nanoseconds now) noexcept;
  void flush() noexcept;
  void run(const std::stop_token& stop) noexcept;

  std::unique_ptr<FramePort> port_;
  const bool udp_;
  Pacer pacer_;
  int poll_cpu_;
  SpinLock busy_;                   ///< held by the thread that has the station
  std::atomic<bool> asked_{false};  ///< true when somebody found busy_ held; its holder sees it and goes on
  /// Time of the last progress by other threads than the station's own.
  std::atomic<Nanoseconds> last_progress_{0};
  // The state that belongs to the holder follows.
  struct Place {
    Link* link = nullptr;
    std::uint32_t generation = 0;
  };
  std::vector<Place> places_;
  std::size_t first_place_ = 0;  ///< place of the flow that sends first
  std::vector<Outgoing> outgoing_;
  std::size_t queued_ = 0;
  std::size_t kept_ = 0;
  bool moved_ = false;
  std::size_t received_ = 0;  ///< number of frames received in the last turn
  std::uint64_t turns_ = 0;
  Strays strays_;
  std::atomic<std::uint64_t> missed_{0};
  std::mutex thread_mutex_;  ///< guards the adding and removing of flows
  int flows_ = 0;
  std::jthread thread_;
};

/// Returns the time of the system's steady clock.
inline Nanoseconds now_ns() noexcept { return static_cast<Nanoseconds>(edgewire::now_ns()); }

}  // namespace edgewire::transport::dpdk
