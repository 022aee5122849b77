#pragma once

#include <string>

#include "transport/file_descriptor.h"

namespace edgewire::transport {

/// A listening socket on a numeric or named address; port 0: any free one. Throws Error that names both.
FileDescriptor listen_on(const std::string& address, int port);
/// Whether other hosts cannot reach this address. Throws Error when it means nothing.
bool is_loopback(const std::string& address);
/// Port that a listening socket got.
int port_of(const FileDescriptor& listener);
/// Numeric address of this end of a connection.
std::string local_address(const FileDescriptor& connected);
/// Numeric address of the other end; "?" when the connection has ended.
std::string peer_address(const FileDescriptor& connected);
/// Accepts one connection, non-blocking; none when nobody waits. `from` tells the address of the other side.
/// Throws Error when too many files are open.
FileDescriptor accept_from(const FileDescriptor& listener, std::string& from);
/// Starts to connect, non-blocking; the outcome shows in its first use. Throws Error when the address
/// means nothing.
FileDescriptor start_connecting(const std::string& address, int port);

}  // namespace edgewire::transport
