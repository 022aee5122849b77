// Shared memory: every process's region is a memfd that all others map. A write is a copy, complete at once;
// a store through remote_ptr needs no copy. A signal is one release store into a cache line of the receiver
// that only this sender and kind use. There are no headers: frame and wire bytes are the payload's.
//
// A peer opens the memfd as /proc/PID/fd/N, which works for processes of one user in one PID namespace; a
// token in the mapped memory proves that it is the right one.
#include "transport/shm.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "options/jobs.h"
#include "topology/page_nodes.h"
#include "transport/backend.h"
#include "transport/file_descriptor.h"
#include "transport/sealed.h"
#include "transport/wakeup.h"

namespace edgewire::transport {
namespace {

using Token = std::array<std::uint64_t, 2>;

constexpr const char* kNotHere = "it is not on this host, or is in another container";

/// The header that lies behind the region in the same file; then come size x kinds SignalLines.
struct alignas(64) SharedHeader {
  Token token{};
  alignas(64) Wakeup wakeup;
};
struct alignas(64) SignalLine {
  std::atomic<std::uint64_t> count{0};
};
static_assert(sizeof(SharedHeader) == 128 && sizeof(SignalLine) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The facts that a peer needs in order to map a region. They are sent as bytes.
struct Blob {
  std::int64_t pid = 0;
  std::int32_t fd = -1;
  std::int32_t kinds = 0;
  std::uint64_t region_bytes = 0;
  std::uint64_t process_space = 0;  ///< PID namespace of `pid`
  Token token{};
};
static_assert(sizeof(Blob) == 48);

Token new_token() {
  Token token{};
  std::memcpy(token.data(), random_bytes(sizeof token).data(), sizeof token);
  return token;
}

/// Returns a number that is the same in all processes of one PID namespace; 0: not known.
std::uint64_t process_space() {
  struct stat status {};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

/// Makes a memfd of `bytes` zeros.
FileDescriptor shared_file(std::size_t bytes) {
  FileDescriptor file(memfd_create("edgewire", MFD_CLOEXEC));
  if (!file || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
    throw Error(fmt::format("cannot get {} bytes of shared memory: {}", bytes, reason(errno)));
  return file;
}

/// Opens the file that a peer offers; else `cause` says why, and `limit` that this process is at fault.
FileDescriptor open_offered(const Blob& blob, std::size_t bytes, std::string& cause, bool& limit) {
  const std::uint64_t here = process_space();
  if (blob.process_space != here && blob.process_space != 0 && here != 0) {
    cause = "it is in another container (PID namespace)";
    return {};
  }
  FileDescriptor file(open(fmt::format("/proc/{}/fd/{}", blob.pid, blob.fd).c_str(), O_RDWR | O_CLOEXEC));
  const int error = errno;
  limit = !file && !limit_to_raise(error).empty();
  struct stat status {};
  const bool right = file && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                     status.st_size == static_cast<off_t>(bytes);
  if (!file && (error == EACCES || error == EPERM))
    cause = fmt::format("{} (it belongs to another user, or the system forbids to look into it)",
                        std::strerror(error));
  else if (!file && error != ENOENT)
    cause = reason(error);
  else if (!right)
    cause = kNotHere;
  return cause.empty() ? std::move(file) : FileDescriptor();
}

/// A region, one's own or a peer's, mapped here.
struct Region {
  topology::NodeMemory mapping;
  std::span<std::byte> bytes;  ///< bytes that users see
  SharedHeader* header = nullptr;
  SignalLine* signals = nullptr;

  static std::size_t file_bytes(std::size_t region_bytes, std::size_t lines) {
    return topology::whole_pages(region_bytes) + sizeof(SharedHeader) + lines * sizeof(SignalLine);
  }
  void map(int fd, std::size_t region_bytes, std::size_t lines, const std::string& what) {
    mapping = topology::NodeMemory::of_file(file_bytes(region_bytes, lines), fd, what.c_str());
    bytes = mapping.as<std::byte>().first(region_bytes);
    // All-zero bytes are valid headers and counters.
    header = reinterpret_cast<SharedHeader*>(bytes.data() + topology::whole_pages(region_bytes));
    signals = reinterpret_cast<SignalLine*>(header + 1);
  }
};

class Shm final : public BackendBase {
 public:
  explicit Shm(const Settings& settings)
      : BackendBase(settings),
        lines_(static_cast<std::size_t>(settings.size) * settings.kinds),
        regions_(settings.size),
        completed_(static_cast<std::size_t>(settings.lanes) * settings.size),
        to_wake_(settings.lanes, std::vector<std::uint8_t>(settings.size)) {}
  std::string_view name() const noexcept override { return "shm"; }
  std::span<std::byte> expose(std::size_t bytes, std::span<const Part>) override {
    file_ = shared_file(Region::file_bytes(bytes, lines_));
    own().map(file_.get(), bytes, lines_, "a shared region");
    // Before a peer can touch it: pages come from where the file's policy says, whoever is the first.
    topology::place_pages({own().mapping.as<std::byte>(), settings_.memory_nodes, true});
    own().header->token = token_;
    return own().bytes;
  }

  std::string blob() const override {
    const Blob blob{getpid(), file_.get(), settings_.kinds, own().bytes.size(), process_space(), token_};
    return {reinterpret_cast<const char*>(&blob), sizeof blob};
  }
  void connect(std::span<const std::string> blobs) override {
    for (std::size_t p = 0; p < regions_.size(); ++p) {
      if (settings_.leaves_out(static_cast<int>(p))) continue;
      Blob blob;
      if (p >= blobs.size() || blobs[p].size() != sizeof blob)
        throw Error(fmt::format("rank {} did not offer shared memory", p));
      std::memcpy(&blob, blobs[p].data(), sizeof blob);
      const auto refuse = [&](const std::string& cause) {
        return Error(
            fmt::format("cannot share memory with rank {}: {} (use {})", p, cause, opt::transport("tcp")));
      };
      std::string cause;
      bool limit = false;
      const FileDescriptor file =
          open_offered(blob, Region::file_bytes(blob.region_bytes, lines_), cause, limit);
      // A limit of this process is not the fault of the other one.
      if (limit) throw Error(fmt::format("cannot share memory: {}", cause));
      // Perhaps the other one has just ended: then the bootstrap says why.
      for (int waited = 0; !file && waited < 100 && !settings_.health->failed(); ++waited)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (!file && settings_.health->failed()) throw Error(settings_.health->message());
      if (!file || blob.kinds != settings_.kinds) throw refuse(cause.empty() ? kNotHere : cause);
      regions_[p].map(file.get(), blob.region_bytes, lines_, fmt::format("the region of rank {}", p));
      if (regions_[p].header->token != blob.token) throw refuse(kNotHere);
    }
  }

  std::byte* remote_ptr(int peer, std::size_t offset) const noexcept override {
    const auto bytes = regions_[peer].bytes;
    return offset < bytes.size() ? bytes.data() + offset : nullptr;
  }
  bool write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept override {
    if (settings_.health->failed()) return false;  // this is the only sign for a sender that is never refused
    const auto bytes = regions_[peer].bytes;
    if (offset > bytes.size() || source.size() > bytes.size() - offset) {
      settings_.health->fail(-1, fmt::format("a write of {} bytes at offset {} exceeds the region of rank {}",
                                             source.size(), offset, peer));
      return false;
    }
    if (!source.empty()) std::memcpy(bytes.data() + offset, source.data(), source.size());
    lane_counters(lane, peer).add(1, source.size(), source.size());
    // It pairs with acquire in completed().
    completed_[index(lane, peer)].fetch_add(1, std::memory_order_release);
    return true;
  }

  /// Sends a signal. A thread that polls sees it at once. Sleepers are woken at the doorbell, once for all
  /// signals before it: to wake them for each would cost more than the message.
  bool signal(int lane, int peer, int kind, std::uint64_t count) noexcept override {
    raise(regions_[peer].signals[line(settings_.rank, kind)].count, count);
    to_wake_[lane][peer] = 1;
    return true;
  }

  void ring_doorbell(int lane) noexcept override {
    auto& peers = to_wake_[lane];
    for (std::size_t peer = 0; peer < peers.size(); ++peer) {
      if (peers[peer] == 0) continue;
      peers[peer] = 0;
      regions_[peer].header->wakeup.announce();
    }
  }

  bool poll() noexcept override {
    last_look_.remember(own().header->wakeup.generation());
    return !settings_.health->failed();
  }
  bool wait(std::chrono::microseconds timeout) noexcept override {
    std::uint32_t seen = 0;
    if (last_look_.recall(seen) && !settings_.health->failed()) own().header->wakeup.sleep(seen, timeout);
    return poll();
  }

  std::uint64_t completed(int lane, int peer) const noexcept override {
    return completed_[index(lane, peer)].load(std::memory_order_acquire);  // pairs with release in write()
  }
  std::uint64_t signalled(int peer, int kind) const noexcept override {
    return own().signals[line(peer, kind)].count.load(
        std::memory_order_acquire);  // pairs with raise() in signal()
  }
  std::uint32_t arrivals() const noexcept override { return own().header->wakeup.generation(); }
  std::uint64_t wire_bytes_of(std::uint64_t frame_bytes) const noexcept override { return frame_bytes; }

 private:
  std::size_t line(int sender, int kind) const noexcept {
    return static_cast<std::size_t>(sender) * settings_.kinds + kind;
  }
  Region& own() noexcept { return regions_[settings_.rank]; }
  const Region& own() const noexcept { return regions_[settings_.rank]; }

  std::size_t lines_;
  FileDescriptor file_;
  Token token_ = new_token();
  std::vector<Region> regions_;                        ///< regions of all processes
  std::vector<std::atomic<std::uint64_t>> completed_;  ///< counts by index(); written by the lane's thread
  /// Whether a signal was raised and the peer is not yet woken, [lane][peer]; used by the lane's thread.
  std::vector<std::vector<std::uint8_t>> to_wake_;
};

}  // namespace

ShmTrial::ShmTrial() : file_(shared_file(sizeof(Token))) {
  const Blob blob{getpid(), file_.get(), 0, sizeof(Token), process_space(), new_token()};
  if (pwrite(file_.get(), &blob.token, sizeof(Token), 0) != sizeof(Token))
    throw Error(fmt::format("cannot write to shared memory: {}", reason(errno)));
  offer_.assign(reinterpret_cast<const char*>(&blob), sizeof blob);
}

std::string ShmTrial::trouble(const std::string& offer) {
  Blob blob;
  if (offer.size() != sizeof blob) return "it cannot offer shared memory";
  std::memcpy(&blob, offer.data(), sizeof blob);
  std::string cause;
  bool limit = false;
  const FileDescriptor file = open_offered(blob, sizeof(Token), cause, limit);
  if (!file) return cause;
  Token token{};
  // Reading is not enough: a file may be opened that cannot be mapped.
  void* mapped = mmap(nullptr, sizeof(Token), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return reason(errno);
  std::memcpy(&token, mapped, sizeof token);
  munmap(mapped, sizeof(Token));
  return token == blob.token ? "" : kNotHere;
}

std::unique_ptr<Transport> make_shm(const Settings& settings) { return std::make_unique<Shm>(settings); }

}  // namespace edgewire::transport
