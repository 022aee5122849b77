// The transport folder moves bytes between the processes of a job: one interface, several backends. Writes
// are one-sided: they go into a region that the receiver has exposed. A signal says that all earlier writes
// have arrived. The folder knows nothing of graphs or kernels. A new backend is one file (or folder) and a
// line in registry.cpp. tests/unit/transport_test.cpp runs the same suite over all backends.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/health.h"

namespace edgewire::transport {

/// The port of the dpdk backend.
struct DpdkChoice {
  std::string port{};            ///< PCI address, or virtual device such as "net_af_packet0,iface=eth0"
  std::string args{};            ///< more arguments for DPDK's environment, separated by blanks
  std::uint64_t bits_per_s = 0;  ///< limit of what is sent; 0: the rate that the port reports
  std::string faults{};          ///< faults of a bad link, for tests: see dpdk/frame_port.h

  int poll_cpu = -1;  ///< core that nobody else uses, where a thread polls all the time; -1: none

  /// Frames in IPv4 and UDP from this address, see dpdk/ip_choice.h; empty: plain Ethernet.
  std::string udp{};

  /// Returns the choice with the port for the process with this rank on its host, if `port` is a list,
  /// separated by `;`. Does the same for a list of addresses.
  DpdkChoice of(int local_rank) const;
};

/// The cards of the verbs backend, and how they are used.
struct VerbsChoice {
  /// Cards as NAME[:PORT[:GID_INDEX]], of several (rails) divided by commas; empty: the nearest.
  std::string device{};
  int traffic_class = 0;  ///< class of RoCE packets: DSCP in the upper six bits
  /// registration: pinned, on-demand (paging), or auto: on-demand only if pinning fails.
  std::string memory = "auto";
  /// Whether a thread takes completions, instead of the callers of poll() and wait().
  bool progress_thread = false;
  int poll_cpu = -1;       ///< core that nobody else uses, where that thread polls all the time; -1: none
  bool immediates = true;  ///< whether signals are immediates; false: sends, as iWARP must; for tests
};

/// The settings that a backend must know before it is made. `health` outlives the transport.
struct Settings {
  int rank = 0;
  int size = 1;
  int lanes = 1;               ///< number of sending threads; the same number in every process
  int kinds = 1;               ///< number of signal counters from each peer
  std::string secret;          ///< per-run secret, 32 bytes, the same in every process
  std::string address;         ///< local address to listen on (tcp); empty: 127.0.0.1
  double peer_timeout_s = 10;  ///< limit of every blocking step
  Health* health = nullptr;
  std::vector<int> nodes{};      ///< host of each process, as a number (shm+tcp)
  std::vector<bool> left_out{};  ///< whether another transport leads to process p, by p; empty: to none
  std::span<std::byte>
      region{};  ///< memory for expose() to take instead of its own; outlives the transport (tcp)
  std::vector<int> process_nodes{};  ///< NUMA node of each process of this host; empty: not known (verbs)
  int process_index = 0;             ///< index of this process in process_nodes
  std::vector<int> memory_nodes{};   ///< NUMA nodes of this process's workers, for its region; empty: any
  VerbsChoice verbs{};
  DpdkChoice dpdk{};
  bool integrity = true;  ///< whether a CRC-32C checks all that arrives; the same in every process (tcp)

  bool leaves_out(int peer) const { return peer == rank || (!left_out.empty() && left_out[peer]); }
};

/// Sums over all lanes since the start. Bytes are what this process sent.
struct Counters {
  std::uint64_t writes = 0;               ///< number of accepted writes
  std::uint64_t payload_bytes = 0;        ///< bytes of all accepted writes
  std::uint64_t frame_bytes = 0;          ///< payload, frame headers and signals, as given to the link
  std::uint64_t wire_bytes = 0;           ///< frame_bytes and the headers of the link (see wire_bytes_of())
  std::uint64_t refused_connections = 0;  ///< number of strangers turned away
  std::uint64_t zero_copy_sends = 0;      ///< number of calls that let the system send without a copy (tcp)
  /// Number of reports that the system copied anyway; a link then stops trying.
  std::uint64_t copied_sends = 0;
  std::uint64_t handshake_messages = 0;  ///< messages sent to make connections (tcp)
  std::uint64_t refused_frames = 0;      ///< frames outside the sender's part of the region, or malformed
  // The following counts are for links that lose frames (dpdk). The counters above do not include them.
  std::uint64_t retransmitted_bytes = 0;  ///< payload that was sent again
  std::uint64_t duplicate_frames = 0;     ///< frames that arrived again and were dropped
  std::uint64_t reordered_frames = 0;     ///< frames that arrived before an earlier frame, and waited for it
  std::uint64_t corrupt_frames = 0;       ///< frames cut short or changed on the way
  std::uint64_t foreign_frames = 0;       ///< frames of another run, or protocol
  std::uint64_t missed_frames = 0;        ///< frames dropped by this process's port because it had no buffer
  /// Frames that arrived at each queue of this process's port.
  std::array<std::uint64_t, 16> queue_frames{};
  bool sends_in_place = false;  ///< whether payload is sent without a copy
};

/// One-sided communication with notification among `size` processes.
///
/// Control plane: collective, may block for `peer_timeout_s`, throws Error. Data plane: never blocks (except
/// `wait`), allocates or throws. Only one thread at a time may use a lane for `write`, `signal` and
/// `ring_doorbell`. Any thread may call all other functions at any time.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const noexcept = 0;
  /// Describes the cards or ports that it uses, once it is connected. The result may be empty.
  virtual std::string describe() const { return {}; }

  // ---- control plane -------------------------------------------------------------------------------
  /// Makes this process's region: zeroed, page aligned, owned by the transport, `bytes` > 0. `parts[p]` says
  /// where peer p may write: {offset, bytes} inside the region (ignored for this rank). Call it once.
  struct Part {
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };
  virtual std::span<std::byte> expose(std::size_t bytes, std::span<const Part> parts) = 0;
  /// Returns what the other processes need in order to connect. It is opaque, and valid after expose().
  virtual std::string blob() const = 0;
  /// Connects all processes, and returns when every pair can communicate. `blobs[p]` is process p's blob().
  virtual void connect(std::span<const std::string> blobs) = 0;
  /// Returns memory for the source of writes, page aligned and zeroed. The transport owns it.
  virtual std::span<std::byte> send_memory(std::size_t bytes) = 0;

  // ---- data plane ----------------------------------------------------------------------------------
  /// Returns the address of byte `offset` of the peer's region if that region is mapped here, else null. If
  /// it is mapped, stores replace `write`, and `stored` must be told their size.
  virtual std::byte* remote_ptr(int peer, std::size_t offset) const noexcept = 0;
  /// Tells the counters of `lane` of `bytes` stored by the peer's remote_ptr, or here for its read_remote().
  virtual void stored(int lane, int peer, std::size_t bytes) noexcept = 0;
  /// Queues a copy of `source` to byte `offset` of the peer's region. `source` is in send_memory() or in this
  /// process's region, and must not change until the write is completed. Returns false when the queue is
  /// full: then poll and try again.
  virtual bool write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept = 0;
  /// Returns whether peers can be read from where their memory is not mapped. It is known before connect().
  virtual bool can_read(int) const noexcept { return false; }
  /// Queues a copy of the peer's region, from byte `offset` on, to `sink`, which is in send_memory(). The
  /// bytes lie in the part that this process may write to. It counts as a write in completed(); then they are
  /// here. Returns false where write() would, and where can_read() says no.
  virtual bool read_remote(int, int, std::size_t, std::span<std::byte>) noexcept { return false; }
  /// Raises the peer's counter `kind` to `count`, after all earlier writes and stores of this lane are
  /// visible there. Counts never fall. A kind is of one lane at a time. Returns false when the queue is full.
  virtual bool signal(int lane, int peer, int kind, std::uint64_t count) noexcept = 0;
  /// Starts the queued work of the lane.
  virtual void ring_doorbell(int lane) noexcept = 0;
  /// Makes progress on all lanes: takes completions, places arrivals. Returns false once the job has failed,
  /// and from then on; health says why.
  virtual bool poll() noexcept = 0;
  /// Blocks until something may have arrived, or for `timeout`; then polls. For more threads than cores.
  virtual bool wait(std::chrono::microseconds timeout) noexcept = 0;
  /// Returns the number of writes of this lane to this peer whose source bytes may be reused.
  virtual std::uint64_t completed(int lane, int peer) const noexcept = 0;
  /// Returns false while queued work for this peer waits for room in the link (tcp: in the socket); more work
  /// would wait, too. poll() updates it. Backends without such a limit always return true.
  virtual bool takes_more(int, int) const noexcept { return true; }
  /// Returns the latest count of `kind` from `peer`; acquire: all writes before that signal are visible.
  virtual std::uint64_t signalled(int peer, int kind) const noexcept = 0;
  /// Returns a number that changes whenever something arrives, for code that waits on two transports; else 0.
  virtual std::uint32_t arrivals() const noexcept { return 0; }

  virtual Counters counters() const noexcept = 0;
  /// Returns the part of Counters::frame_bytes that went to this peer.
  virtual std::uint64_t frame_bytes_to(int peer) const noexcept = 0;
  /// Returns the fewest bytes on the link, with all headers, that carry `frame_bytes` in one direction.
  virtual std::uint64_t wire_bytes_of(std::uint64_t frame_bytes) const noexcept = 0;
  /// Returns how frames travel, in words for the run report. The result is empty if there is only one way.
  virtual std::string path() const { return {}; }
};

/// A backend as `edgewire transports` lists it.
struct Backend {
  std::string name;
  std::string description;
  bool usable = false;
  std::string reason;  ///< reason why the backend is not usable here, and the remedy; empty when it is usable
};

/// Returns all known backends, usable or not, in order of preference inside a host.
std::vector<Backend> backends();

/// Throws Error when there is no such backend or it is not usable, with its reason.
std::unique_ptr<Transport> create(std::string_view name, const Settings& settings);

}  // namespace edgewire::transport
