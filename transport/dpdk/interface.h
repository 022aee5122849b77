// This file asks what the kernel says of a network interface.
#pragma once

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <string>

#include "transport/file_descriptor.h"

namespace edgewire::transport::dpdk {

/// Asks ioctl(`question`), as netdevice(7) lists them. Returns false without such an interface or answer.
inline bool ask_interface(const std::string& name, unsigned long question, ifreq& answer) noexcept {
  answer = {};
  if (name.empty() || name.size() >= sizeof answer.ifr_name) return false;
  name.copy(answer.ifr_name, name.size());
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return socket && ioctl(socket.get(), question, &answer) == 0;
}

}  // namespace edgewire::transport::dpdk
