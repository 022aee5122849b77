#include "transport/dpdk/ip_choice.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <linux/filter.h>
#include <netinet/in.h>

#include <bit>
#include <charconv>

#include "base/error.h"
#include "options/jobs.h"
#include "transport/dpdk/frame_port.h"

namespace edgewire::transport::dpdk {
namespace {

std::uint32_t number_of(const IpAddress& address) noexcept {
  std::uint32_t number = 0;
  for (const std::uint8_t byte : address) number = number << 8 | byte;
  return number;
}

/// Asks for an address of an interface, by ioctl(`question`). Returns false when it has none.
bool ask(const std::string& interface, unsigned long question, IpAddress& answer) {
  ifreq told;
  if (!ask_interface(interface, question, told)) return false;
  sockaddr_in found{};
  std::memcpy(&found, &told.ifr_addr, sizeof found);
  std::memcpy(answer.data(), &found.sin_addr, answer.size());
  return true;
}

bool parse_mac(const std::string& text, MacAddress& mac) {
  int end = 0;
  return std::sscanf(text.c_str(), "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
                     &mac[3], &mac[4], &mac[5], &end) == 6 &&
         static_cast<std::size_t>(end) == text.size();
}

}  // namespace

bool IpChoice::is_beyond(const IpAddress& other) const noexcept {
  const std::uint32_t differ = number_of(address) ^ number_of(other);
  return has_gateway && std::countl_zero(differ) < prefix;
}

IpChoice ip_choice(const std::string& text, const std::string& port) {
  IpChoice choice;
  choice.used = !text.empty();
  if (!choice.used) return choice;
  const auto refuse = [&] {
    return UsageError(fmt::format(
        "{} must be ADDRESS[/PREFIX][@GATEWAY], as 10.0.0.1/24@52:54:00:12:34:56, or auto in place "
        "of the address, not '{}'",
        opt::dpdk_udp, text));
  };
  const std::size_t at = text.find('@');
  choice.has_gateway = at != text.npos;
  if (choice.has_gateway && !parse_mac(text.substr(at + 1), choice.gateway)) throw refuse();
  const std::string own = text.substr(0, at);
  if (own == "auto") {
    const std::string interface = argument(port, "iface");
    IpAddress mask{};
    if (!ask(interface, SIOCGIFADDR, choice.address) || !ask(interface, SIOCGIFNETMASK, mask))
      throw Error(fmt::format("{}: {} has no IPv4 address", opt::dpdk_udp("auto"), port));
    choice.prefix = std::popcount(number_of(mask));
    return choice;
  }
  const std::size_t slash = own.find('/');
  if (inet_pton(AF_INET, own.substr(0, slash).c_str(), choice.address.data()) != 1) throw refuse();
  if (slash == own.npos) return choice;
  const char* const end = own.data() + own.size();
  const auto parsed = std::from_chars(own.data() + slash + 1, end, choice.prefix);
  if (parsed.ec != std::errc() || parsed.ptr != end || choice.prefix < 0 || choice.prefix > 32)
    throw refuse();
  return choice;
}

FileDescriptor quiet_kernel(const IpAddress& address) noexcept {
  FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sock_filter nothing{BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog program{1, &nothing};
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(kUdpPort);
  std::memcpy(&here.sin_addr, address.data(), address.size());
  const int shared = 1;  // the port is shared with other transports of this process
  const bool done = socket &&
                    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &shared, sizeof shared) == 0 &&
                    setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0 &&
                    bind(socket.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0;
  return done ? std::move(socket) : FileDescriptor();
}

}  // namespace edgewire::transport::dpdk
