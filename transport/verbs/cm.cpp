#include "transport/verbs/cm.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <ifaddrs.h>
#include <poll.h>
#include <sodium.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/seconds.h"

namespace edgewire::transport::verbs {
namespace {

constexpr int kBacklog = 1024;  ///< number of calls that wait for their answer
constexpr int kPortTries = 16;
constexpr int kLookMs = 50;

/// The functions of librdmacm that this backend calls.
struct CmLibrary {
  SharedLibrary from{"librdmacm.so.1",
                     "librdmacm.so.1, which connects iWARP cards, is not installed (apt-get install "
                     "librdmacm1)"};
  decltype(&::rdma_create_event_channel) create_event_channel = from["rdma_create_event_channel"];
  decltype(&::rdma_destroy_event_channel) destroy_event_channel = from["rdma_destroy_event_channel"];
  decltype(&::rdma_create_id) create_id = from["rdma_create_id"];
  decltype(&::rdma_destroy_id) destroy_id = from["rdma_destroy_id"];
  decltype(&::rdma_bind_addr) bind_addr = from["rdma_bind_addr"];
  decltype(&::rdma_listen) listen = from["rdma_listen"];
  decltype(&::rdma_get_src_port) get_src_port = from["rdma_get_src_port"];
  decltype(&::rdma_resolve_addr) resolve_addr = from["rdma_resolve_addr"];
  decltype(&::rdma_resolve_route) resolve_route = from["rdma_resolve_route"];
  decltype(&::rdma_connect) connect = from["rdma_connect"];
  decltype(&::rdma_accept) accept = from["rdma_accept"];
  decltype(&::rdma_reject) reject = from["rdma_reject"];
  decltype(&::rdma_get_cm_event) get_cm_event = from["rdma_get_cm_event"];
  decltype(&::rdma_ack_cm_event) ack_cm_event = from["rdma_ack_cm_event"];
};

const CmLibrary& cm() {
  static const CmLibrary loaded;
  return loaded;
}

auto make_channel() {
  std::unique_ptr<rdma_event_channel, void (*)(rdma_event_channel*)> made(cm().create_event_channel(),
                                                                          cm().destroy_event_channel);
  if (made == nullptr || fcntl(made->fd, F_SETFL, O_NONBLOCK) != 0)
    throw Error(
        fmt::format("iWARP cards cannot be connected: {} (modprobe rdma_ucm; may this user write to "
                    "/dev/infiniband/rdma_cm?)",
                    reason(errno)));
  return made;
}

/// Makes an id whose events go to `channel`.
Owned<rdma_cm_id> make_id(rdma_event_channel& channel, void* context) {
  rdma_cm_id* id = nullptr;
  if (cm().create_id(&channel, &id, context, RDMA_PS_TCP) != 0)
    throw Error(fmt::format("iWARP cards cannot be connected: {}", reason(errno)));
  return {id, cm().destroy_id};
}

bool leads_to(const rdma_cm_id& id, const std::string& device) {
  return id.verbs != nullptr && device == library().get_device_name(id.verbs->device);
}

/// Returns the address in an entry that cm_addresses() made.
sockaddr_in6 address_of(const ibv_gid& gid, std::uint16_t port) {
  sockaddr_in6 address{};  // larger than that of IPv4, which has its port in the same place
  address.sin6_port = htons(port);
  if (is_ipv4(gid)) {
    address.sin6_family = AF_INET;
    std::memcpy(&reinterpret_cast<sockaddr_in&>(address).sin_addr, gid.raw + 12, sizeof(in_addr));
  } else {
    address.sin6_family = AF_INET6;
    std::memcpy(&address.sin6_addr, gid.raw, sizeof gid.raw);
  }
  return address;
}

/// Converts an address to the form of an entry (IPv4: RFC 4291, 2.5.5.2). Returns false where there is none,
/// or one that is good only together with an interface.
bool to_gid(const sockaddr* address, ibv_gid& gid) {
  gid = {};
  if (address != nullptr && address->sa_family == AF_INET) {
    gid.raw[10] = gid.raw[11] = 0xFF;
    std::memcpy(gid.raw + 12, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, sizeof(in_addr));
    return true;
  }
  if (address == nullptr || address->sa_family != AF_INET6) return false;
  std::memcpy(gid.raw, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, sizeof gid.raw);
  return gid.raw[0] != 0xFE || (gid.raw[1] & 0xC0) != 0x80;  // link-local addresses do not fit
}

Error error_of(const Call& call, const std::string& cause) {
  return Error(
      fmt::format("rank {} cannot be connected over {}: {}", call.peer, call.device->label(), cause));
}

void check(const Call& call, const char* step, int result) {
  if (result != 0) throw error_of(call, fmt::format("{}: {}", step, reason(errno)));
}

/// Returns the parameters of a connection. Neither end reads from the other, but some cards begin a
/// connection with a read of nothing (RFC 6581, 9).
rdma_conn_param parameters_of(const Call& call) {
  rdma_conn_param parameters{};
  parameters.private_data = call.shown.data();
  parameters.private_data_len = static_cast<std::uint8_t>(call.shown.size());
  parameters.responder_resources = parameters.initiator_depth = 1;
  parameters.qp_num = call.queue_pair;
  return parameters;
}

/// Returns the token of a call; all zeros, which no call expects, when there is none.
Token token_of(const rdma_conn_param& parameters) {
  Token token{};
  if (parameters.private_data != nullptr && parameters.private_data_len >= token.size())
    std::memcpy(token.data(), parameters.private_data, token.size());
  return token;
}

bool is_expected(const Call& call, const Token& token) {
  return sodium_memcmp(call.expected.data(), token.data(), token.size()) == 0;
}

}  // namespace

std::vector<ibv_gid_entry> cm_addresses(const std::string& name) {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(first, freeifaddrs);
  const auto channel = make_channel();
  std::vector<ibv_gid_entry> found;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    ibv_gid gid;
    if (!to_gid(one->ifa_addr, gid)) continue;
    sockaddr_in6 address = address_of(gid, 0);
    const auto id = make_id(*channel, nullptr);
    if (cm().bind_addr(id.get(), reinterpret_cast<sockaddr*>(&address)) != 0 || !leads_to(*id, name))
      continue;
    ibv_gid_entry& entry = found.emplace_back();
    entry.gid_index = static_cast<std::uint32_t>(found.size() - 1);
    entry.port_num = id->port_num;
    entry.gid_type = IBV_GID_TYPE_ROCE_V2;  // an address of IP, as there
    entry.gid = gid;
  }
  return found;
}

Connector::Connector() : channel_(make_channel()) {}

std::uint16_t Connector::listen(const Device& device) {
  // The manager may choose a port that TCP uses already.
  for (int i = 0; i < kPortTries; ++i) {
    auto id = make_id(*channel_, nullptr);
    sockaddr_in6 address = address_of(device.gid, 0);
    if (cm().bind_addr(id.get(), reinterpret_cast<sockaddr*>(&address)) != 0) break;
    if (!leads_to(*id, device.name)) break;
    if (cm().listen(id.get(), kBacklog) == 0) {
      const std::uint16_t port = ntohs(cm().get_src_port(id.get()));
      listeners_.push_back(std::move(id));
      return port;
    }
    if (errno != EADDRINUSE) break;
  }
  throw Error(fmt::format("{} accepts no connections at its address: {}", device.label(), reason(errno)));
}

void Connector::start(Call& call, double limit_s) {
  limit_ms_ = static_cast<int>(limit_s * 1000);
  call.id = make_id(*channel_, &call);
  sockaddr_in6 from = address_of(call.device->gid, 0);
  sockaddr_in6 to = address_of(call.address, call.port);
  check(call, "its address",
        cm().resolve_addr(call.id.get(), reinterpret_cast<sockaddr*>(&from), reinterpret_cast<sockaddr*>(&to),
                          limit_ms_));
}

void Connector::connect(std::vector<Call> calls, double limit_s, const Health& health) {
  calls_ = std::move(calls);
  for (Call& call : calls_)
    if (call.is_ours) start(call, limit_s);
  const auto deadline = Clock::now() + std::chrono::duration<double>(limit_s);
  const auto missing = [&] { return std::ranges::find(calls_, false, &Call::is_connected); };
  for (auto first = missing(); first != calls_.end(); first = missing()) {
    if (take_event()) continue;
    if (health.failed()) throw Error(health.message());
    if (Clock::now() > deadline)
      throw error_of(*first,
                     fmt::format("no answer within {} s (is TCP open between these addresses?)", limit_s));
    pollfd events{channel_->fd, POLLIN, 0};
    ::poll(&events, 1, kLookMs);
  }
  listeners_.clear();
}

/// Takes an event. Returns false when there is none.
bool Connector::take_event() {
  rdma_cm_event* event = nullptr;
  if (cm().get_cm_event(channel_.get(), &event) != 0) return false;
  const auto kind = event->event;
  const int status = event->status;
  rdma_cm_id* const id = event->id;
  const Token token = token_of(event->param.conn);
  cm().ack_cm_event(event);  // acknowledged before the id that it is about ends
  if (kind == RDMA_CM_EVENT_DEVICE_REMOVAL)
    is_removed_ = true;
  else if (kind == RDMA_CM_EVENT_CONNECT_REQUEST)
    answer(id, token);
  else if (id->context != nullptr)
    go_on(*static_cast<Call*>(id->context), kind, status, token);
  return true;
}

/// Takes the next step of a call, ours or one that was answered.
void Connector::go_on(Call& call, rdma_cm_event_type event, int status, const Token& token) {
  switch (event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      if (!leads_to(*call.id, call.device->name))
        throw error_of(call, "another RDMA device has the same address here");
      return check(call, "the route", cm().resolve_route(call.id.get(), limit_ms_));
    case RDMA_CM_EVENT_ROUTE_RESOLVED: {
      rdma_conn_param parameters = parameters_of(call);
      return check(call, "the call", cm().connect(call.id.get(), &parameters));
    }
    case RDMA_CM_EVENT_ESTABLISHED:
      if (call.is_ours && !is_expected(call, token))
        throw error_of(call, "the process that answered is not of this run");
      call.is_connected = true;
      return;
    case RDMA_CM_EVENT_REJECTED:
      throw error_of(call, "it refuses the call");
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_CONNECT_ERROR:
      throw error_of(call, fmt::format("{} (is TCP open between these addresses?)",
                                       status == 0 ? "unreachable" : std::strerror(std::abs(status))));
    case RDMA_CM_EVENT_DISCONNECTED:
      throw error_of(call, "it has closed the connection");
    default:
      return;
  }
}

void Connector::answer(rdma_cm_id* id, const Token& token) {
  Owned<rdma_cm_id> caller(id, cm().destroy_id);
  caller->context = nullptr;
  const auto call = std::ranges::find_if(calls_, [&](const Call& one) {
    return !one.is_ours && one.id == nullptr && is_expected(one, token) && leads_to(*id, one.device->name);
  });
  if (call == calls_.end()) {
    ++refused_;
    cm().reject(id, nullptr, 0);
    return;
  }
  call->id = std::move(caller);
  id->context = &*call;
  rdma_conn_param parameters = parameters_of(*call);
  check(*call, "the answer", cm().accept(id, &parameters));
}

bool Connector::is_removed() noexcept {
  rdma_cm_event* event = nullptr;
  while (cm().get_cm_event(channel_.get(), &event) == 0) {
    is_removed_ = is_removed_ || event->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
    cm().ack_cm_event(event);
  }
  return is_removed_;
}

}  // namespace edgewire::transport::verbs
