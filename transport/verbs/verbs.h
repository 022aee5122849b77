// There is one reliable connection (queue pair) for each peer and lane. It uses one of the rails (ports of
// cards) of the process; all connections of a rail share a completion queue. A write is an RDMA write into
// the part of the region that the peer has registered for this process. A signal is an RDMA write with
// immediate. Its 8 bytes, the count, go into a slot for signals. Its immediate, the kind, makes a completion
// at the receiver. The completion comes after all earlier writes of the connection are visible (InfiniBand
// Architecture Specification 1.4, 9.5 and 10.7; RDMA-capable processors keep that order also with relaxed
// PCIe ordering).
//
// A read is an RDMA read of the part of the peer's region that this process may write to. iWARP has none:
// its cards want the sink to be open to all peers.
//
// iWARP has no immediates. There a signal is a send that carries kind and count, and takes the same receive.
// It, too, comes after all earlier writes (RFC 5040, 5.5). cm.h makes these connections.
//
// Every immediate takes one of the receives that the peer has posted. There are kReceives of them: kCredits
// for signals; 2 for credit messages; one for goodbye; and some for hello. Each credit message returns
// kCredits / 2 credits, so at most 2 of them can be in flight. So a receiver always has a posted receive.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "transport/backend.h"
#include "transport/verbs/cm.h"
#include "transport/verbs/device.h"

namespace edgewire::transport::verbs {

inline constexpr std::uint32_t kCredits = 32;  ///< number of signals that a peer takes before it must answer
inline constexpr std::uint32_t kReturned = kCredits / 2;  ///< number of credits that one message gives back
inline constexpr std::uint32_t kHellos = 8;
inline constexpr std::uint32_t kReceives = kCredits + kCredits / kReturned + 1 + kHellos;
/// Number of requests behind one doorbell; only the last one completes.
inline constexpr std::uint32_t kBatch = 32;
inline constexpr std::uint32_t kMinDepth = 64;  ///< least depth of a send queue, without messages of our own
/// Largest depth of a send queue; more would only delay the callers' notice of a slow peer.
inline constexpr std::uint32_t kMaxDepth = 512;
/// Number of messages of our own in a send queue: credits, hello, goodbye, look.
inline constexpr std::uint32_t kMessages = 7;
inline constexpr std::uint32_t kInlineBytes = 64;
inline constexpr std::size_t kMaxRails = 16;
static_assert(kCredits % kReturned == 0);
// A queue that waits for the completion of one batch has room for another.
static_assert(2 * kBatch <= kMinDepth);

/// The meaning of an immediate; the signal's kind is in the lower bits.
enum class Message : std::uint32_t { Signal = 0, Credit = 1, Hello = 2, Goodbye = 3 };
inline constexpr int kKindBits = 30;

/// The operation that a completion belongs to; part of wr_id.
enum class Request : std::uint64_t { Lane = 0, Message = 1, Receive = 2, Look = 3 };

/// wr_id: request 2 bits, link 20, queued requests 21, writes 21; the counts are those of the link when this
/// request was the last, modulo 2^21, of which no more than kMaxDepth are under way.
struct Ticket {
  static constexpr int kCountBits = 21;
  static constexpr std::uint64_t kCountMask = (1 << kCountBits) - 1;
  static constexpr std::size_t kLinks = 1 << 20;

  static std::uint64_t pack(Request request, std::size_t link, std::uint64_t queued, std::uint64_t writes) {
    return static_cast<std::uint64_t>(request) << 62 | static_cast<std::uint64_t>(link) << 42 |
           (queued & kCountMask) << kCountBits | (writes & kCountMask);
  }
  explicit Ticket(std::uint64_t id)
      : request(static_cast<Request>(id >> 62)),
        link(id >> 42 & (kLinks - 1)),
        queued(id >> kCountBits & kCountMask),
        writes(id & kCountMask) {}
  /// Returns the count at or after `old` whose lower bits are `low`.
  static std::uint64_t extend(std::uint64_t old, std::uint64_t low) {
    return old + ((low - old) & kCountMask);
  }

  Request request;
  std::size_t link;
  std::uint64_t queued;
  std::uint64_t writes;
};
static_assert(kMaxDepth < Ticket::kCountMask / 2);

/// The bytes that a send carries where there are no immediates.
struct SentMessage {
  std::uint32_t immediate = 0;  ///< value of the immediate in its place
  std::uint32_t reserved = 0;
  std::uint64_t count = 0;
};
static_assert(sizeof(SentMessage) == 16);

/// The value that a hello writes, so that the receiver sees whether writes arrive where they should:
/// Soft-RoCE of Linux 7.3, for one, gets that wrong in memory that is paged on demand.
inline constexpr std::uint64_t kGreeting = 0x6564'6765'7769'7265;

/// The place where a link's signals arrive. Zeroed memory is valid.
struct Arrivals {
  std::array<std::uint64_t, kCredits> counts;   ///< counts; the one of signal n is [n % kCredits]
  std::array<SentMessage, kReceives> messages;  ///< messages of posted receives, without immediates
  std::uint64_t greeting;                       ///< greeting, with immediates
  std::uint64_t seen;                           ///< value read from the peer, see look_at_silence()
};

struct RailOffer;
struct LinkAddress;

/// A port of a card, and what this process uses it for.
struct Rail {
  Device device;
  Owned<ibv_pd> domain;
  Owned<ibv_comp_channel> channel;
  Owned<ibv_cq> queue{nullptr, nullptr};
  Registered arrivals{};      ///< memory of all links' arrivals
  std::uint16_t cm_port = 0;  ///< port where calls arrive (iWARP)

  // These belong to the holder of Verbs::reaping_.
  bool is_down = false;
  Clock::time_point down_since{};
};

/// One queue pair.
struct Link {
  int peer = -1;
  int lane = -1;
  std::size_t index = 0;
  std::size_t rail = 0;
  Owned<ibv_qp> qp{nullptr, nullptr};
  std::uint32_t depth = 0;
  std::uint32_t hellos = 1;  ///< number of hellos sent, where this end greets first
  std::uint32_t inline_bytes = 0;
  // These say where things lie at the peer.
  std::uint64_t remote_region = 0;  ///< address of the region
  std::uint32_t region_key = 0;
  std::uint64_t remote_counts = 0;  ///< address of the kCredits counts of this link
  std::uint32_t counts_key = 0;

  // These belong to the lane's thread.
  std::array<ibv_send_wr, kBatch> batch{};  ///< requests, chained; posted together
  std::array<ibv_sge, kBatch> sources{};
  std::array<SentMessage, kBatch> signals_sent{};  ///< signals in the batch
  std::uint32_t batched = 0;
  std::uint64_t queued = 0;   ///< number of requests ever put into a batch
  std::uint64_t writes = 0;   ///< number of writes ever accepted
  std::uint64_t signals = 0;  ///< number of signals ever accepted

  // Written by whoever holds Verbs::reaping_ (release), read by the lane's thread and others (acquire).
  alignas(64) std::atomic<std::uint64_t> reaped{0};  ///< number of requests of the lane that have completed
  std::atomic<std::uint64_t> completed{0};           ///< number of writes
  std::atomic<std::uint64_t> credits{kCredits};      ///< number of signals that may ever be sent
  std::atomic<std::uint32_t> messages{0};            ///< messages of our own that have not completed
  std::atomic<bool> greeted{false};
  std::atomic<bool> ended{false};  ///< whether the peer has said goodbye

  // These belong to the holder of Verbs::reaping_.
  std::uint64_t received = 0;  ///< number of signals
  std::uint32_t owed = 0;      ///< number of credits to give back
  Arrivals* arrivals = nullptr;
  Clock::time_point heard{};   ///< time when something of the link last completed (iWARP)
  Clock::time_point looked{};  ///< time when the read under way was posted
  bool looks = false;          ///< whether a read is under way
};

/// Registered memory that writes may come from, in a list that only grows: it can be searched at any time.
struct Piece {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::vector<Registered> registrations;  ///< registrations by rail
  const Piece* next = nullptr;
};

class Verbs final : public NetworkBackend {
 public:
  explicit Verbs(const Settings& settings);
  /// Sends what is queued and says goodbye, and waits a bounded time.
  ~Verbs() override;

  std::string_view name() const noexcept override { return "verbs"; }
  std::string describe() const override;
  std::span<std::byte> expose(std::size_t bytes, std::span<const Part> parts) override;
  std::string blob() const override;
  void connect(std::span<const std::string> blobs) override;
  std::span<std::byte> send_memory(std::size_t bytes) override;
  bool write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept override;
  bool can_read(int) const noexcept override { return !rails_.front().device.is_iwarp; }
  bool read_remote(int lane, int peer, std::size_t offset, std::span<std::byte> sink) noexcept override;
  bool signal(int lane, int peer, int kind, std::uint64_t count) noexcept override;
  void ring_doorbell(int lane) noexcept override;
  bool poll() noexcept override;
  bool wait(std::chrono::microseconds timeout) noexcept override;
  std::uint64_t completed(int lane, int peer) const noexcept override;
  Counters counters() const noexcept override;
  std::uint64_t wire_bytes_of(std::uint64_t frame_bytes) const noexcept override;

 private:
  Link& link(int lane, int peer) const noexcept { return *links_[index(lane, peer)]; }

  const Device& device_of(const Link& link) const noexcept { return rails_[link.rail].device; }
  void hold() noexcept {
    while (reaping_.test_and_set(std::memory_order_acquire)) continue;
  }

  // setup.cpp
  Piece& add_piece(std::byte* data, std::size_t bytes, bool remote);
  std::uint32_t make_queues();
  void make_links();
  void make_queue_pair(Link& link);

  // connect.cpp
  void bring_up(Link& link, const LinkAddress& address, const RailOffer& offer);
  Call call_of(const Link& link, const LinkAddress& address, const RailOffer& offer) const;
  /// Returns whether the other end sends first: with iWARP, the end that called does (RFC 5044, 7.1.2).
  bool greets_second(const Link& link) const noexcept {
    return connector_ != nullptr && link.peer > settings_.rank;
  }
  void greet();
  void greet_again() noexcept;

  // datapath.cpp
  const Piece* find(const std::byte* source) const noexcept;
  std::size_t run_at(const Link& link, const std::byte* source, std::size_t bytes,
                     std::uint32_t& key) const noexcept;
  ibv_send_wr& add(Link& link, const void* source, std::size_t bytes, std::uint32_t key) noexcept;
  bool has_room(const Link& link, std::size_t requests) const noexcept;
  bool transfer(Link& link, ibv_wr_opcode way, std::size_t offset, std::span<const std::byte> here) noexcept;
  void submit(Link& link, ibv_send_wr& first) noexcept;
  void post(Link& link) noexcept;
  void post_message(Link& link, Message message) noexcept;
  void post_look(Link& link) noexcept;
  void post_receive(Link& link, std::size_t place) noexcept;
  void give_credits(Link& link) noexcept;

  // progress.cpp
  void reap(bool insist) noexcept;
  void take(const ibv_wc& completion) noexcept;
  void take_arrival(Link& link, const ibv_wc& completion, std::size_t place) noexcept;
  void take_message(Link& link, std::uint32_t immediate, std::uint64_t count) noexcept;
  void watch(std::uint32_t seen, std::chrono::microseconds timeout) noexcept;
  void run(const std::stop_token& stop) noexcept;
  void take_error(const ibv_wc& completion) noexcept;
  void fail(int peer, const std::string& message) noexcept;
  void lose(const Link& link, const std::string& cause) noexcept;
  void report_lost() noexcept;
  void look_at_silence() noexcept;
  void look_at_events() noexcept;
  void look_at_events(Rail& rail) noexcept;

  topology::NodeMemory arrivals_;  ///< arrivals by link; it outlives its registrations
  std::vector<Rail> rails_;
  std::size_t longest_message_ = 0;        ///< number of bytes that all rails can carry at once
  std::vector<const Piece*> part_pieces_;  ///< parts of the region by peer; null where it has none
  std::mutex pieces_mutex_;                ///< held while a piece is added
  std::vector<std::unique_ptr<Piece>> pieces_;
  /// Newest piece: release by add_piece(), acquire by find().
  std::atomic<const Piece*> first_piece_{nullptr};
  std::uint32_t mtu_bytes_ = 0;
  std::vector<std::uint32_t> psns_;  ///< first sequence numbers by link
  std::vector<Token> tokens_;        ///< tokens that the peers are to show, by link
  /// Links by peer and lane; null for this rank and peers left out.
  std::vector<std::unique_ptr<Link>> links_;
  /// Connector for iWARP; ends before the queue pairs that it connects.
  std::unique_ptr<Connector> connector_;
  bool connected_ = false;
  std::atomic<bool> has_thread_{false};  ///< whether a thread takes completions; paired with nothing
  std::atomic_flag reaping_;             ///< held by the thread that takes completions; pairs with itself
  Alarm alarm_;                    ///< alarm: one thread sleeps on the completion channel, others on wakeup_
  std::uint32_t looks_ = 0;        ///< number of looks; for the holder of reaping_
  Clock::time_point next_look_{};  ///< time of the next look at silent peers; for the holder of reaping_
  // The first link that failed without a cause of its own; all for the holder of reaping_ but has_lost_.
  const Link* lost_ = nullptr;
  std::string lost_cause_;
  Clock::time_point lost_at_;
  std::atomic<bool> has_lost_{false};
  std::jthread progress_;  ///< progress thread, where the settings want one, from connect() on
};

}  // namespace edgewire::transport::verbs
