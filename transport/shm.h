#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "transport/file_descriptor.h"
#include "transport/transport.h"

namespace edgewire::transport {

/// Shared memory among the processes of one host (see shm.cpp).
std::unique_ptr<Transport> make_shm(const Settings& settings);

/// Shared memory to the processes of this host, and `network` (tcp, verbs) to all others, over one region;
/// named "shm+tcp" or alike. Bytes that stay on the host count as payload, but not as frame or wire bytes.
std::unique_ptr<Transport> make_mixed(const Settings& settings, std::string_view network);

/// Whether processes that are said to share a host can share memory: those of one pod may be in containers
/// of their own. A process offers a page of memory, and its peers try to open it.
class ShmTrial {
 public:
  ShmTrial();
  /// For the peers; valid as long as this object lives.
  const std::string& offer() const noexcept { return offer_; }
  /// Why this process cannot share memory with the one that made `offer`; empty: it can.
  static std::string trouble(const std::string& offer);

 private:
  FileDescriptor file_;
  std::string offer_;
};

}  // namespace edgewire::transport
