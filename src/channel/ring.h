// Rings carry records, such as (id, value) pairs, to other processes: for programs that do not know
// beforehand who sends what to whom. Each pair of a sending process and a lane has a ring in the receiver's
// exposed region. The sender fills it in frames, and the receiver returns credit for the bytes that it has
// drained. A frame goes only where there is credit, so nothing is overwritten before it was drained.
//
// A superstep of records ends with a mark in every ring, which has the number of its records. No barrier is
// needed: records of the next superstep may follow at once, and wait behind the mark.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "channel/region_plan.h"
#include "process/local_process.h"
#include "transport/transport.h"

namespace edgewire::channel {

/// The settings that all processes of a job must agree on.
struct RingSettings {
  int rank = 0;
  int size = 1;
  int lanes = 1;                 ///< lanes of the transport, numbered from 0
  int first_kind = 0;            ///< first of kinds_for_rings(lanes) signal kinds in a row
  std::size_t record_bytes = 8;  ///< multiple of 4, 4096 at most
  std::size_t ring_bytes = std::size_t{1}
                           << 20;  ///< size of one ring: a multiple of 64, at least 512, and 4 records

  /// Returns the bytes of the rings of one peer: the size that its part of the region needs.
  std::size_t part_bytes() const noexcept { return lanes * ring_bytes; }
};

/// The place of the rings of a peer. Both offsets are multiples of 64.
struct RingPlace {
  std::size_t offset = 0;         ///< offset of the rings that the peer fills, in this process's region
  std::size_t remote_offset = 0;  ///< offset of the rings that this process fills, in the peer's region
};

/// Returns the places of rings in a part of the region that has part_bytes() for each peer. Throws Error that
/// names a process whose rings have another size.
std::vector<RingPlace> ring_places(const Region& region, std::size_t part, const RingSettings& settings);

/// Three numbers that a process sends to its peers when it ends a superstep of records.
using RingNote = std::array<std::uint64_t, 3>;

/// The rings between this process and all others. A process has no ring to itself.
///
/// No function here blocks, allocates or throws. A function that cannot go on says so: poll the transport,
/// look at its health, drain, and call again. While a sender waits for credit it must drain its own rings, or
/// two processes could wait for each other. A peer that breaks the rules fails the job.
///
/// All calls with a `lane` belong to the one thread that uses this lane of the transport: it sends on its
/// lane's rings, and it drains what the peers have sent on the same lane. Supersteps count from 1.
class Rings {
 public:
  /// Makes the rings, after the transport is connected. `region` is this process's exposed region;
  /// `places[p]` belongs to peer p. `writes`: the number of writes so far, [lane * size + peer]; every thread
  /// that writes on these lanes must count there. `link`, `health` and `writes` outlive the rings. Throws
  /// Error when the settings are out of bounds.
  Rings(transport::Transport& link, transport::Health& health, const RingSettings& settings,
        std::span<std::byte> region, std::span<const RingPlace> places, std::span<std::uint64_t> writes);

  /// Returns room for one or more whole records for `peer`, 4-byte aligned, valid until the next publish()
  /// for this peer, flush() or end(); none without credit, on a busy link, or when the job has failed.
  std::span<std::byte> reserve(int lane, int peer) noexcept;
  /// Hands over the first `records` of what reserve() returned last for this peer. They leave when a batch of
  /// about 64 KiB is full, with flush(), or at the end of the superstep.
  void publish(int lane, int peer, std::size_t records) noexcept;
  /// Sends what was published. Returns false if something is left: then call it again.
  bool flush(int lane) noexcept;
  /// Says to all peers that no more records of this superstep come on this lane. Records that are published
  /// later belong to the next superstep. Returns false if a peer has not been told yet. Then call it again
  /// with the same number and note, and do not publish before it has returned true.
  bool end(int lane, std::uint64_t superstep, const RingNote& note = {}) noexcept;
  /// Returns the peer's note to end(), of the last superstep whose records were all drained on this lane.
  const RingNote& note(int lane, int peer) const noexcept { return in_[index(lane, peer)].note; }

  /// Calls take(peer, span of bytes) for all records of the superstep that have arrived on this lane and were
  /// not yet taken. Each span holds whole records, in the order in which they were published; its memory is
  /// reused afterwards. It also goes on with what could not be sent before. Returns the number of records.
  template <class Take>
  std::size_t drain(int lane, std::uint64_t superstep, Take&& take) {
    std::size_t records = 0;
    for (int peer = 0; peer < settings_.size; ++peer) {
      if (left_out_[peer]) continue;
      for (auto batch = next(lane, peer, superstep); !batch.empty(); batch = next(lane, peer, superstep)) {
        take(peer, batch);
        records += batch.size() / settings_.record_bytes;
        release(lane, peer);
      }
    }
    settle(lane);
    return records;
  }
  /// Returns the first peer whose records of the superstep were not all drained on this lane, or -1.
  int awaited(int lane, std::uint64_t superstep) const noexcept;
  bool finished(int lane, std::uint64_t superstep) const noexcept { return awaited(lane, superstep) < 0; }
  /// Returns whether no peer is awaited on any lane. Any thread may ask, and then sees what the drainers did.
  bool finished(std::uint64_t superstep) const noexcept;

  /// Leaves out a peer that was lost: from now on nothing is sent to it, nothing is taken from it, and nobody
  /// waits for it. This holds for all lanes. Nobody may use the rings meanwhile.
  void leave_out(int peer) { left_out_[peer] = true; }

  /// Returns the next frame of one ring, as drain() takes it; none before it arrives or after the superstep.
  std::span<const std::byte> next(int lane, int peer, std::uint64_t superstep) noexcept;
  /// Gives the memory of that frame back to the sender.
  void release(int lane, int peer) noexcept;

 private:
  static constexpr std::size_t kUnit = 64;  ///< unit of frames: they begin at its multiples
  static constexpr std::uint16_t kSkip = std::numeric_limits<std::uint16_t>::max();
  static constexpr std::size_t kBatches = 4;  ///< number of pieces of send memory for each ring

  /// The header that precedes the records of a frame. Little endian, like all of a job.
  struct FrameHeader {
    std::uint16_t records = 0;   ///< number of records; kSkip: the frame only fills the ring up to its end
    std::uint8_t superstep = 0;  ///< lower bits of the superstep, to find mistakes
    std::uint8_t tail = 0;  ///< number of 4-byte values behind the records, if the superstep ends with them
  };
  static_assert(sizeof(FrameHeader) == 4);
  static constexpr std::size_t kNoteValues = sizeof(RingNote) / sizeof(std::uint32_t);
  /// The number of records of the superstep, in its lower bits, and the note without the zeros at its end.
  using Tail = std::array<std::uint32_t, 1 + kNoteValues>;
  /// The most that a frame has around its records. It takes this much of the ring in any case.
  static constexpr std::size_t kAround = sizeof(FrameHeader) + sizeof(Tail);
  static constexpr std::size_t kMostBatchBytes = std::size_t{1} << 16;
  static_assert(kMostBatchBytes / 4 < kSkip);

  /// A ring that this process fills. Positions are bytes since the start.
  struct alignas(kUnit) Outgoing {
    /// Header of the open frame: at the peer or in send memory; null: none is open.
    std::byte* frame = nullptr;
    std::size_t frame_bytes = 0;                 ///< room of the open frame, with its header
    std::size_t used = 0;                        ///< bytes of its records
    bool sealed = false;                         ///< whether the frame only waits to be sent
    FrameHeader header{};                        ///< header of the sealed frame
    std::uint64_t begin = 0;                     ///< position of the open or of the next frame
    std::uint64_t told = 0;                      ///< position up to which the peer was told
    std::uint64_t superstep = 1;                 ///< superstep of the records that are published next
    std::uint64_t in_superstep = 0;              ///< records of the superstep so far
    std::byte* batches = nullptr;                ///< send memory; null: the peer's region is mapped
    std::size_t batch = 0;                       ///< number of the next piece of `batches`
    std::array<std::uint64_t, kBatches> busy{};  ///< numbers of writes after which the pieces may be reused
  };
  /// A ring that a peer fills.
  struct alignas(kUnit) Incoming {
    FrameHeader header{};        ///< header of the frame that next() has returned
    Tail tail{};                 ///< tail of that frame, if it has one
    std::uint64_t drained = 0;   ///< position up to which it was drained
    std::uint64_t credited = 0;  ///< position that the sender knows of
    std::uint64_t in_superstep = 0;
    RingNote note{};  ///< note of the last superstep
    /// The superstep whose records come next. Release by the lane's thread, acquire in finished().
    std::atomic<std::uint64_t> superstep{1};
  };

  std::size_t index(int lane, int peer) const noexcept {
    return static_cast<std::size_t>(lane) * settings_.size + peer;
  }
  int sent_kind(int lane) const noexcept { return settings_.first_kind + 2 * lane; }
  int drained_kind(int lane) const noexcept { return settings_.first_kind + 2 * lane + 1; }
  std::size_t bytes_of_frame(std::size_t record_bytes) const noexcept {
    return (kAround + record_bytes + kUnit - 1) / kUnit * kUnit;
  }
  std::size_t lane_offset(int lane) const noexcept { return lane * settings_.ring_bytes; }
  bool open(int lane, int peer, std::size_t least_bytes) noexcept;
  bool open_here(int lane, int peer, std::size_t bytes) noexcept;
  void seal(Outgoing& ring) const noexcept;
  void seal_end(Outgoing& ring, const RingNote& note) const noexcept;
  bool push(int lane, int peer) noexcept;
  bool write(int lane, int peer, std::size_t bytes) noexcept;
  void credit(int lane, int peer) noexcept;
  void settle(int lane) noexcept;
  std::span<const std::byte> refuse(int peer, const char* cause) noexcept;

  transport::Transport& link_;
  transport::Health& health_;
  RingSettings settings_;
  std::size_t batch_bytes_;
  std::span<std::byte> region_;
  std::vector<RingPlace> places_;
  std::vector<bool> left_out_;  ///< this process and the lost ones, by peer
  std::span<std::uint64_t> writes_;
  std::vector<Outgoing> out_;       ///< rings to fill, [lane * size + peer]
  std::unique_ptr<Incoming[]> in_;  ///< rings to drain, likewise
};

}  // namespace edgewire::channel
