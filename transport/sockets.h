#pragma once

#include <string>

#include "transport/file_descriptor.h"

namespace edgewire::transport {

/// Opens a listening socket on a numeric or named address; port 0: any. Throws Error that names both.
FileDescriptor listen_on(const std::string& address, int port);
/// Returns whether other hosts cannot reach this address. Throws Error when the address means nothing.
bool is_loopback(const std::string& address);
/// Returns the port that a listening socket got.
int port_of(const FileDescriptor& listener);
/// Returns the numeric address of this end of a connection.
std::string local_address(const FileDescriptor& connected);
/// Returns the numeric address of the other end; "?" when the connection has ended.
std::string peer_address(const FileDescriptor& connected);
/// Lets the system probe a connection that has been idle for `idle_s`, and after three probes without an
/// answer end it. Seconds are whole, and one at least.
void keep_alive(const FileDescriptor& connected, double idle_s, double interval_s);
/// The facts that TCP knows of the packets that this end of a connection sends.
struct Sending {
  bool known = false;         ///< whether the facts are known; false: it is no TCP connection
  std::size_t waiting = 0;    ///< bytes that the other host has not acknowledged; 0 at the end
  double answered_s_ago = 0;  ///< seconds since the other host last acknowledged anything
  int mtu = 0;                ///< MTU of the way, as far as this host knows
};
Sending sending(const FileDescriptor& connected);
/// Returns a text as "MTU 9000 here; ping -M do -s 8972 ADDRESS tells"; empty inside a host.
std::string mtu_advice(const FileDescriptor& connected, const std::string& address);

/// Accepts one connection, non-blocking; none when nobody waits. `from` tells the address of the other side.
/// Throws Error when too many files are open.
FileDescriptor accept_from(const FileDescriptor& listener, std::string& from);
/// A connection that is being made, non-blocking; the outcome shows in the socket's first use.
struct Outgoing {
  FileDescriptor socket;
  int error = 0;    ///< errno of a failure at once; then the socket is of no use
  std::string way;  ///< the way as "from ADDRESS on INTERFACE"; empty where the system has not found a way
};
/// Starts a connection. Throws Error when the address means nothing.
Outgoing start_connecting(const std::string& address, int port);

}  // namespace edgewire::transport
