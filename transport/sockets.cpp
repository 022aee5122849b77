#include "transport/sockets.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <ifaddrs.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/error.h"

namespace edgewire::transport {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList resolve(const std::string& address, int port, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int status = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (status != 0) throw Error(fmt::format("{}: {}", address, gai_strerror(status)));
  return {found, &freeaddrinfo};
}

FileDescriptor open_socket(const addrinfo& at) {
  return FileDescriptor(socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at.ai_protocol));
}

/// Returns where the packets of a connection with this local address leave this host.
std::string way_of(const std::string& address) {
  ifaddrs* listed = nullptr;
  std::string name;
  if (getifaddrs(&listed) != 0) return "from " + address;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(listed, &freeifaddrs);
  for (const ifaddrs* one = listed; one != nullptr && name.empty(); one = one->ifa_next) {
    char text[NI_MAXHOST] = "";
    if (one->ifa_addr == nullptr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (getnameinfo(one->ifa_addr, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0 &&
        address == text)
      name = one->ifa_name;
  }
  return fmt::format("from {}{}{}", address, name.empty() ? "" : " on ", name);
}

void set_option(const FileDescriptor& socket, int level, int option, int value) {
  setsockopt(socket.get(), level, option, &value, sizeof value);
}

/// Returns an address that getsockname() or getpeername() tells; empty when the connection has ended.
std::string numeric_address(const FileDescriptor& connected, decltype(getsockname)& tell) {
  sockaddr_storage at{};
  socklen_t length = sizeof at;
  char host[NI_MAXHOST] = "";
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  if (tell(connected.get(), address, &length) == 0)
    getnameinfo(address, length, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return host;
}

}  // namespace

FileDescriptor listen_on(const std::string& address, int port) {
  const AddressList found = resolve(address, port, AI_PASSIVE);
  FileDescriptor listener = open_socket(*found);
  const int on = 1;
  if (listener && setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      bind(listener.get(), found->ai_addr, found->ai_addrlen) == 0 && listen(listener.get(), SOMAXCONN) == 0)
    return listener;
  throw Error(fmt::format("cannot listen on {} port {}: {}", address, port, reason(errno)));
}

bool is_loopback(const std::string& address) {
  const AddressList found = resolve(address, 0, 0);
  if (found->ai_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr.s_addr) >> 24 == 127;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(found->ai_addr)->sin6_addr) != 0;
}

int port_of(const FileDescriptor& listener) {
  sockaddr_storage at{};
  socklen_t length = sizeof at;
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &length);
  // Both families have the port at the same place.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&at)->sin_port);
}

std::string local_address(const FileDescriptor& connected) {
  std::string address = numeric_address(connected, getsockname);
  if (address.empty()) throw Error("a connection has no address");
  return address;
}

std::string peer_address(const FileDescriptor& connected) {
  std::string address = numeric_address(connected, getpeername);
  return address.empty() ? "?" : address;
}

void keep_alive(const FileDescriptor& connected, double idle_s, double interval_s) {
  set_option(connected, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(connected, IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, static_cast<int>(idle_s)));
  set_option(connected, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, static_cast<int>(interval_s)));
  set_option(connected, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

Sending sending(const FileDescriptor& connected) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(connected.get(), IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {};
  int waiting = 0;
  if (info.tcpi_state == TCP_CLOSE || ioctl(connected.get(), SIOCOUTQ, &waiting) != 0) waiting = 0;
  return {true, static_cast<std::size_t>(waiting), info.tcpi_last_ack_recv / 1e3,
          static_cast<int>(info.tcpi_pmtu)};
}

std::string mtu_advice(const FileDescriptor& connected, const std::string& address) {
  constexpr int kLoopbackMtu = 65535;
  const int mtu = sending(connected).mtu;
  if (mtu <= 0 || mtu >= kLoopbackMtu) return "";
  const bool v6 = address.find(':') != std::string::npos;
  return fmt::format("MTU {} here; ping -M do -s {} {} tells", mtu, mtu - (v6 ? 48 : 28), address);
}

FileDescriptor accept_from(const FileDescriptor& listener, std::string& from) {
  sockaddr_storage at{};
  socklen_t length = sizeof at;
  FileDescriptor socket(
      accept4(listener.get(), reinterpret_cast<sockaddr*>(&at), &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
  // The caller waits in the queue until there is room, and so would all others: nothing would say why.
  if (!socket && (errno == EMFILE || errno == ENFILE))
    throw Error(fmt::format("cannot take a connection: {}", reason(errno)));
  if (!socket) return socket;
  char host[NI_MAXHOST] = "?";
  char port[NI_MAXSERV] = "?";
  getnameinfo(reinterpret_cast<const sockaddr*>(&at), length, host, sizeof host, port, sizeof port,
              NI_NUMERICHOST | NI_NUMERICSERV);
  from = fmt::format("{} port {}", host, port);
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  return socket;
}

Outgoing start_connecting(const std::string& address, int port) {
  const AddressList found = resolve(address, port, 0);
  Outgoing made;
  made.socket = open_socket(*found);
  if (!made.socket) throw Error(fmt::format("cannot connect to {}: {}", address, reason(errno)));
  set_option(made.socket, IPPROTO_TCP, TCP_NODELAY, 1);
  if (::connect(made.socket.get(), found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS)
    made.error = errno;
  else
    made.way = way_of(local_address(made.socket));
  return made;
}

}  // namespace edgewire::transport
