#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "transport/file_descriptor.h"
#include "transport/transport.h"

namespace edgewire::transport {

/// Makes a transport that uses shared memory among the processes of one host (see shm.cpp).
std::unique_ptr<Transport> make_shm(const Settings& settings);

/// Makes a transport that uses shared memory to the processes of this host, and `network` (tcp, verbs) to all
/// others, over one region; "shm+tcp" or alike. Bytes that stay on the host count as payload alone.
std::unique_ptr<Transport> make_mixed(const Settings& settings, std::string_view network);

/// Finds out whether processes that are said to share a host can share memory: those of one pod may be in
/// containers of their own. A process offers a page of memory, and its peers try to open it.
class ShmTrial {
 public:
  ShmTrial();
  /// Returns what the peers need. It is valid as long as this object lives.
  const std::string& offer() const noexcept { return offer_; }
  /// Returns why this process cannot share memory with the one that made `offer`; empty if it can.
  static std::string trouble(const std::string& offer);

 private:
  FileDescriptor file_;
  std::string offer_;
};

}  // namespace edgewire::transport
