// The dense/exchange folder moves the values of an iteration: it has slots in a region that is exposed once,
// the inbox and the outbox. This file sets up what two processes must agree on to exchange values without
// ids: the registered regions, the order of the slots, and the chunks in which the slots are filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/rooms.h"
#include "channel/region_plan.h"
#include "dense/plan/block_plan.h"
#include "dense/plan/exchange_plan.h"
#include "edgewire/detail/iteration.h"
#include "launch/bootstrap.h"
#include "topology/page_nodes.h"
#include "transport/transport.h"

namespace edgewire::exchange {

/// Signal kinds of a run: one for setup, one for the scalars of an iteration, one for written checkpoints,
/// and one for the chunks of each lane.
inline constexpr int kSetupKind = 0;
inline constexpr int kScalarsKind = 1;
inline constexpr int kCheckpointKind = 2;
inline constexpr int kFirstLaneKind = 3;

/// Consecutive slots of a stream: those of one tile column. One lane fills them; one signal announces them.
struct Chunk {
  std::uint32_t end_slot = 0;  ///< end of the slots; they begin where the stream's previous chunk ends
  std::uint32_t lane = 0;
  std::uint32_t ordinal = 0;  ///< number among the chunks of its lane to this peer
};

/// A stream that this process receives.
struct IncomingStream {
  int peer = 0;
  bool mirrors = false;
  NumberedBy<Slot, std::vector<OwnedIndex>> targets;   ///< destinations of partial sums; ascending
  NumberedBy<Slot, std::vector<LocalNumber>> sources;  ///< sources of mirrors, as the peer numbers them
  std::vector<Chunk> chunks;
  std::size_t offset = 0;  ///< offset of slot 0 of even iterations in this process's region
  unsigned first_bit = 0;  ///< bit of slot 0 from there, see Exchange::place_of()

  std::size_t slots() const noexcept { return targets.size() + sources.size(); }
};

/// A stream that this process sends.
struct OutgoingStream {
  int peer = 0;
  bool mirrors = false;
  std::uint32_t slots = 0;
  std::uint32_t first_destination = 0;
  std::size_t remote_offset = 0;  ///< offset of slot 0 of even iterations in the peer's region
  std::size_t send_offset = 0;    ///< offset of slot 0 in the send memory
  unsigned first_bit = 0;         ///< bit of slot 0 from there, see Exchange::place_of()
  /// The owned vertices whose values are sent. They are set for mirrors (ascending) and with strategy `edge`.
  NumberedBy<Slot, std::vector<OwnedIndex>> indexes;
  NumberedBy<Slot, std::vector<LocalNumber>> ids;  ///< ids as the peer numbers them; only if ids are sent
  NumberedBy<Slot, std::vector<double>> weights;  ///< weights of edges; only with strategy `edge` and weights
};

/// The content of a chunk: the partial sums of a remote tile column, or mirrors.
struct OutgoingChunk {
  std::size_t column = 0;  ///< column; only for partial sums
  std::size_t stream = 0;
  std::uint32_t first_slot = 0;
  Chunk chunk;
};

/// The work that a remote column takes.
struct ColumnWork {
  std::uint64_t edges = 0;     ///< number of edges, those of mirrors included
  bool needs_mirrors = false;  ///< whether some of its edges begin at mirrors
};

/// The counts of what a process sends to another one in a stream.
struct StreamCounts {
  std::uint32_t entries = 0;
  std::uint32_t slots = 0;
  std::uint64_t words = 0;  ///< number of words that describe the stream, see describe()
};

/// The agreement of one process with all its peers. Collective. An Error names the peer at fault. Each peer
/// has a part of this process's region. It holds the scalars of even and of odd iterations, then the inboxes
/// of even and of odd iterations; each begins at a multiple of 64 bytes. An inbox has one slot for every
/// value of the peer's streams.
class Exchange {
 public:
  /// Agrees on the order of the values of a plan, and puts it in order.
  static Exchange agree(launch::Bootstrap& bootstrap, transport::Transport& link, plan::ExchangePlan& plan,
                        plan::Encoding encoding, int lanes, const ForEach& for_each);
  /// Takes streams that are known from an earlier exchange with the same processes, strategy, encoding and
  /// lanes, [peer * lists + list]. All processes have as many lists. An incoming stream has `targets` or
  /// `sources` set, and an outgoing one has all but its peer and its places, which this constructor sets.
  /// Collective. Throws Error when the streams of the processes do not match.
  Exchange(launch::Bootstrap& bootstrap, transport::Transport& link, std::vector<IncomingStream> incoming,
           std::vector<OutgoingStream> outgoing, plan::Strategy strategy, plan::Encoding encoding, int lanes);
  /// Makes an exchange for blocks of edges, with two streams to each peer: partial sums and mirrors.
  static Exchange of_block(launch::Bootstrap& bootstrap, transport::Transport& link,
                           const plan::BlockPlan& plan, plan::Strategy strategy, plan::Encoding encoding,
                           int lanes);
  /// Takes the second step, when the tiles are known: it gives each lane its share of the remote columns,
  /// evenly by edges. Columns that need no mirrors come first. Among these and among the others, those of
  /// each peer with the fewest edges for each value come first: the link is then busy early, and little is
  /// left to send at the end (Johnson's rule for two machines in a row, Naval Research Logistics Quarterly 1,
  /// 1954). The peers take turns. `column_bounds` as cut_columns() returns. `column_nodes`, `lane_nodes`:
  /// the NUMA nodes of the columns, [column], and of the lanes, [lane]. A column goes to a lane of its node;
  /// to any, where they are empty or no lane is there.
  void deal_columns(std::span<const std::uint32_t> column_bounds,
                    const std::function<ColumnWork(std::size_t column)>& work,
                    std::span<const int> column_nodes = {}, std::span<const int> lane_nodes = {});
  /// Returns the parts of the region that peers write, each with the nodes (os_index) of the workers that
  /// read it. The workers of nodes[i] have the owned vertices with indexes [ends[i - 1], ends[i]). Workers of
  /// all nodes read mirrors: these parts have all of `all_nodes`. The nodes outlive what is returned.
  std::vector<topology::PlacedMemory> inbox_memory(std::span<const std::uint32_t> ends,
                                                   std::span<const int> nodes,
                                                   std::span<const int> all_nodes) const;

  int rank() const noexcept { return bootstrap_.rank(); }
  int size() const noexcept { return bootstrap_.size(); }
  int lanes() const noexcept { return lanes_; }
  bool ids_travel() const noexcept { return plan::sends_ids(strategy_); }
  plan::Encoding encoding() const noexcept { return encoding_; }
  /// The place of a slot behind the first byte of its stream.
  struct Place {
    std::size_t byte;
    unsigned bit;  ///< bit in this byte; 0 where values have whole bytes
  };
  /// Returns the place of a slot. `stream`: an IncomingStream or an OutgoingStream. Where values are bits,
  /// chunks begin at whole bytes, so that lanes can fill them at the same time: columns begin at multiples of
  /// partition::kColumnGranule destinations, and slot 0 at the bit that makes it so for the second chunk.
  template <class Stream>
  Place place_of(const Stream& stream, std::size_t slot) const noexcept {
    const std::size_t at = stream.first_bit + slot * value_.bits;
    return {at / 8, static_cast<unsigned>(at % 8)};
  }
  const std::vector<IncomingStream>& incoming() const noexcept { return incoming_; }
  const std::vector<OutgoingStream>& outgoing() const noexcept { return outgoing_; }
  /// Returns the edges that `peer` moved here, see plan::MovedEdges. They are not checked yet. May be called
  /// once.
  plan::MovedEdges take_moved(int peer) noexcept { return std::exchange(moved_here_[peer], {}); }
  /// Returns the chunks of a lane: mirrors first. Those that go to one peer are sent in this order.
  const std::vector<OutgoingChunk>& lane_chunks(int lane) const noexcept { return lane_chunks_[lane]; }
  /// Returns the number of chunks that come from `peer`, and that go to it, on `lane` in each iteration.
  std::uint32_t chunks_from(int peer, std::uint32_t lane) const noexcept {
    return chunks_from_[peer * lanes_ + lane];
  }
  std::uint32_t chunks_to(int peer, std::uint32_t lane) const noexcept {
    return chunks_to_[peer * lanes_ + lane];
  }

  /// Returns the place of slot 0 in this iteration: in this process's region, and as an offset in the peer's.
  const std::byte* slots_of(const IncomingStream& stream, std::uint64_t iteration) const noexcept {
    return region().data() + stream.offset + (iteration % 2 == 0 ? 0 : inbox_bytes_from_[stream.peer]);
  }
  std::size_t remote_slots_of(const OutgoingStream& stream, std::uint64_t iteration) const noexcept {
    return stream.remote_offset + (iteration % 2 == 0 ? 0 : inbox_bytes_to_[stream.peer]);
  }
  std::size_t scalars_offset(int peer, std::uint64_t iteration) const noexcept {
    return region_.offset(scalars_part_, peer) + iteration % 2 * kScalarsBytes;
  }
  std::size_t remote_scalars_offset(int peer, std::uint64_t iteration) const noexcept {
    return region_.remote_offset(scalars_part_, peer) + iteration % 2 * kScalarsBytes;
  }

  transport::Transport& link() const noexcept { return link_; }
  transport::Health& health() const noexcept { return bootstrap_.health(); }
  launch::Bootstrap& bootstrap() const noexcept { return bootstrap_; }
  std::span<const std::byte> region() const noexcept { return region_.bytes(); }
  /// Returns the memory of all outgoing streams (see send_offset), then two cells of kScalarsBytes: for even
  /// and for odd iterations.
  std::span<std::byte> send_memory() const noexcept { return send_; }
  /// Returns send memory for one lane that stays in the cache of its core, with room for a chunk at a time.
  std::span<std::byte> near_memory(int lane) const noexcept {
    return near_.subspan(static_cast<std::size_t>(lane) * kNearBytes, kNearBytes);
  }

  /// Returns whether holds(peer) is true of all peers.
  template <class Holds>
  bool all_peers(const Holds& holds) const {
    for (int p = 0; p < size(); ++p)
      if (p != rank() && !holds(p)) return false;
    return true;
  }
  /// Returns whether all writes on this lane have completed.
  bool all_have_left(int lane) const {
    return all_peers([&](int p) { return link_.completed(lane, p) >= writes(lane, p); });
  }
  /// Polls until done() returns true. Throws Error when the job fails before.
  void wait_until(const std::function<bool()>& done);
  /// Queues writes of `source`, however long it is, on lane 0, before the first iteration. Throws Error when
  /// the job fails.
  void write_setup(int peer, std::size_t offset, std::span<const std::byte> source);
  /// Starts all writes on lane 0, and waits until they have left. Throws Error when the job fails before.
  void wait_for_setup_writes();
  /// Queues a write. Polls while the queue is full. Returns false once the job has failed.
  bool write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept;
  bool signal(int lane, int peer, int kind, std::uint64_t count) noexcept;
  /// Returns the number of writes so far on this lane to this peer.
  std::uint64_t writes(int lane, int peer) const noexcept { return writes_[lane * size() + peer]; }
  /// Waits until `done` writes to the peer have completed. Returns false once the job has failed.
  bool wait_completed(int lane, int peer, std::uint64_t done) noexcept;
  /// Returns the time that this lane has waited for room in the queue to this peer, or for completions.
  std::uint64_t stalled_ns(int lane, int peer) const noexcept { return stalled_ns_[lane * size() + peer]; }

  /// Returns the number of messages that agreed on the order of values: lists, and their signals.
  std::uint64_t setup_messages() const noexcept { return setup_messages_; }

  static constexpr std::size_t kScalarsBytes = sizeof(PackedTotals);
  static constexpr std::size_t kNearBytes = std::size_t{1} << 19;

 private:
  Exchange(launch::Bootstrap& bootstrap, transport::Transport& link, plan::Strategy strategy,
           plan::Encoding encoding, int lanes, std::size_t streams);
  template <class Done>
  bool until(int lane, int peer, const Done& done) noexcept;
  std::vector<StreamCounts> count_lists(const plan::ExchangePlan& plan) const;
  std::vector<StreamCounts> tell_counts(const std::vector<StreamCounts>& out);
  void agree_on_regions(const std::vector<StreamCounts>& out, const std::vector<StreamCounts>& in);
  void agree_on_order(plan::ExchangePlan& plan, const std::vector<StreamCounts>& out,
                      const std::vector<StreamCounts>& in, const ForEach& for_each);
  void send_entries(const plan::ExchangePlan& plan);
  void order_stream(std::size_t stream, bool mirrors, std::uint32_t* list, const StreamCounts& counts,
                    const plan::OwnedVertices& owned);
  void wait_for_setup(std::uint64_t count);
  void set_streams(const plan::ExchangePlan& plan);
  void place_streams();
  void deal_mirrors();
  void tell_chunks();
  std::size_t stream_bytes(std::size_t slots) const noexcept;
  unsigned first_bit_of(const std::vector<Chunk>& chunks) const noexcept;

  std::uint64_t setup_messages_ = 0;
  launch::Bootstrap& bootstrap_;
  transport::Transport& link_;
  plan::Strategy strategy_;
  plan::Encoding encoding_;
  plan::ValueSize value_;
  int lanes_;
  int lists_;  ///< number of streams to each peer
  channel::Region region_;
  std::size_t scalars_part_ = 0, slots_part_ = 0;  ///< numbers of parts of the region
  std::span<std::byte> send_, near_;
  std::vector<std::size_t> inbox_bytes_from_, inbox_bytes_to_;
  std::vector<IncomingStream> incoming_;  ///< streams, [peer * lists + list], as the next
  std::vector<OutgoingStream> outgoing_;
  std::vector<plan::MovedEdges> moved_here_;  ///< moved edges, [peer]
  std::vector<std::vector<OutgoingChunk>> lane_chunks_;
  std::vector<std::uint32_t> chunks_from_, chunks_to_;
  std::vector<std::uint64_t> writes_;
  std::vector<std::uint64_t> stalled_ns_;
};

}  // namespace edgewire::exchange
