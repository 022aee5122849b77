// Queue pairs of iWARP cards can only be connected by the kernel's connection manager, over TCP; librdmacm
// speaks to it and is loaded when it is first needed.
#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "transport/health.h"
#include "transport/verbs/device.h"

namespace edgewire::transport::verbs {

/// A random number by which an end of a connection shows that it is of this run, and which connection it is.
/// It is told in the sealed offers, and good for one connection.
using Token = std::array<std::uint8_t, 16>;

/// Returns the IP addresses that lead to the device `name`, as entries of its address table, which iWARP
/// cards lack. Throws Error with the remedy when there is no connection manager.
std::vector<ibv_gid_entry> cm_addresses(const std::string& name);

/// A queue pair to connect.
struct Call {
  int peer = -1;
  const Device* device = nullptr;
  std::uint32_t queue_pair = 0;
  Token expected{};      ///< token that the peer shows
  Token shown{};         ///< token that this end shows
  bool is_ours = false;  ///< whether this end calls and the other one answers
  ibv_gid address{};     ///< address of the peer, when this end calls
  std::uint16_t port = 0;
  Owned<rdma_cm_id> id{nullptr, nullptr};
  bool is_connected = false;
};

/// Makes connections and keeps them as long as it lives.
class Connector {
 public:
  /// Opens the connection manager. Throws Error.
  Connector();

  /// Waits for the peers' calls at the address of the device. Returns the TCP port.
  std::uint16_t listen(const Device& device);
  /// Connects all calls; calls that show none of the tokens are refused and counted. Throws Error that names
  /// the peer, the device and the cause.
  void connect(std::vector<Call> calls, double limit_s, const Health& health);
  std::uint64_t refused() const noexcept { return refused_; }
  /// Returns a descriptor that is readable when is_removed() may have changed.
  int event_fd() const noexcept { return channel_->fd; }
  /// Returns whether a device has been removed. The completions of a connection tell that it broke.
  bool is_removed() noexcept;

 private:
  bool take_event();
  void start(Call& call, double limit_s);
  void go_on(Call& call, rdma_cm_event_type event, int status, const Token& token);
  void answer(rdma_cm_id* id, const Token& token);

  std::unique_ptr<rdma_event_channel, void (*)(rdma_event_channel*)> channel_;
  std::vector<Owned<rdma_cm_id>> listeners_;
  std::vector<Call> calls_;  ///< calls under way; their ids point to them
  int limit_ms_ = 0;
  std::uint64_t refused_ = 0;
  bool is_removed_ = false;
};

}  // namespace edgewire::transport::verbs
