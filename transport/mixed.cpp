// This file has two backends in one: shared memory for peers on this host, a network backend for all others.
// Each call goes to the backend of its peer. Both use one region: shared memory makes it, and the network
// backend receives into it. A thread that waits sleeps in the network backend, in short slices. Between
// slices it looks for arrivals in shared memory, so that they are not seen late.
#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/seconds.h"
#include "transport/shm.h"
#include "transport/wakeup.h"

namespace edgewire::transport {
namespace {

constexpr std::chrono::microseconds kSlice{100};

class Mixed final : public Transport {
 public:
  Mixed(const Settings& settings, std::string_view network)
      : network_(network), name_("shm+" + network_), settings_(settings), local_(settings.nodes.size()) {
    if (local_.size() != static_cast<std::size_t>(settings.size))
      throw Error(fmt::format("transport {}: it is not known which processes share a host", name_));
    std::vector<bool> remote(local_.size());
    for (std::size_t p = 0; p < local_.size(); ++p) {
      local_[p] = settings.nodes[p] == settings.nodes[settings.rank];
      remote[p] = !local_[p];
    }
    Settings inner = settings;
    inner.left_out = remote;
    shm_ = make_shm(inner);
    settings_.left_out = local_;
  }

  std::string_view name() const noexcept override { return name_; }
  std::string describe() const override { return net_->describe(); }

  std::span<std::byte> expose(std::size_t bytes, std::span<const Part> parts) override {
    settings_.region = shm_->expose(bytes, parts);
    net_ = create(network_, settings_);
    return net_->expose(bytes, parts);
  }
  /// Returns the blob of the network backend, then the blob of shared memory, whose length is known.
  std::string blob() const override { return net_->blob() + shm_->blob(); }
  void connect(std::span<const std::string> blobs) override {
    const std::size_t tail = shm_->blob().size();
    std::vector<std::string> net, shm;
    for (const std::string& blob : blobs) {
      const std::size_t head = blob.size() - std::min(tail, blob.size());
      net.push_back(blob.substr(0, head));
      shm.push_back(blob.substr(head));
    }
    shm_->connect(shm);
    net_->connect(net);
  }
  std::span<std::byte> send_memory(std::size_t bytes) override { return net_->send_memory(bytes); }

  std::byte* remote_ptr(int peer, std::size_t offset) const noexcept override {
    return of(peer).remote_ptr(peer, offset);
  }
  void stored(int lane, int peer, std::size_t bytes) noexcept override { of(peer).stored(lane, peer, bytes); }
  bool write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept override {
    return of(peer).write(lane, peer, offset, source);
  }
  bool can_read(int peer) const noexcept override { return of(peer).can_read(peer); }
  bool read_remote(int lane, int peer, std::size_t offset, std::span<std::byte> sink) noexcept override {
    return of(peer).read_remote(lane, peer, offset, sink);
  }
  bool signal(int lane, int peer, int kind, std::uint64_t count) noexcept override {
    return of(peer).signal(lane, peer, kind, count);
  }
  void ring_doorbell(int lane) noexcept override {
    shm_->ring_doorbell(lane);
    net_->ring_doorbell(lane);
  }
  bool poll() noexcept override {
    const bool well = net_->poll() && shm_->poll();
    last_look_.remember(arrivals());
    return well;
  }
  bool wait(std::chrono::microseconds timeout) noexcept override {
    std::uint32_t seen = 0;
    if (!last_look_.recall(seen)) return poll();
    const auto deadline = Clock::now() + timeout;
    while (arrivals() == seen) {
      const auto left = std::chrono::ceil<std::chrono::microseconds>(deadline - Clock::now());
      if (left.count() <= 0) break;
      if (!net_->wait(std::min(left, kSlice))) return false;
    }
    return poll();
  }
  std::uint64_t completed(int lane, int peer) const noexcept override {
    return of(peer).completed(lane, peer);
  }
  bool takes_more(int lane, int peer) const noexcept override { return of(peer).takes_more(lane, peer); }
  std::uint64_t signalled(int peer, int kind) const noexcept override {
    return of(peer).signalled(peer, kind);
  }
  std::uint32_t arrivals() const noexcept override { return shm_->arrivals() + net_->arrivals(); }

  Counters counters() const noexcept override {
    Counters total = net_->counters();
    const Counters shm = shm_->counters();
    total.writes += shm.writes;
    total.payload_bytes += shm.payload_bytes;
    return total;
  }
  std::uint64_t frame_bytes_to(int peer) const noexcept override {
    return local_[peer] ? 0 : net_->frame_bytes_to(peer);
  }
  std::uint64_t wire_bytes_of(std::uint64_t frame_bytes) const noexcept override {
    return net_->wire_bytes_of(frame_bytes);
  }

 private:
  Transport& of(int peer) const noexcept { return local_[peer] ? *shm_ : *net_; }

  std::string network_, name_;
  Settings settings_;        ///< settings of the network backend
  std::vector<bool> local_;  ///< whether process p is on this host, by p
  std::unique_ptr<Transport> shm_;
  /// Network backend; declared after shm_, whose region it uses, so destroyed before it.
  std::unique_ptr<Transport> net_;
  LastLook last_look_;
};

}  // namespace

std::unique_ptr<Transport> make_mixed(const Settings& settings, std::string_view network) {
  return std::make_unique<Mixed>(settings, network);
}

}  // namespace edgewire::transport
