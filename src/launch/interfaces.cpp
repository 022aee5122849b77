#include "launch/interfaces.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <memory>
#include <span>

#include "base/error.h"
#include "options/jobs.h"

namespace edgewire::launch {
namespace {

/// Returns the bytes of an address in network order; empty when it is of no family that we know.
std::span<const unsigned char> bytes_of(const sockaddr* address) {
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET)
    return {reinterpret_cast<const unsigned char*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr),
            4};
  if (address->sa_family == AF_INET6)
    return {
        reinterpret_cast<const unsigned char*>(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr),
        16};
  return {};
}

bool is_link_local(std::span<const unsigned char> bytes) {
  return bytes.size() == 4 ? bytes[0] == 169 && bytes[1] == 254
                           : bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80;
}

int prefix_bits(const sockaddr* mask) {
  int bits = 0;
  for (const unsigned char byte : bytes_of(mask)) bits += std::popcount(byte);
  return bits;
}

/// Returns the bytes of a numeric address, or none when it is no such address.
std::string parse(const std::string& address) {
  std::array<char, 16> bytes{};
  if (inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return {bytes.data(), 4};
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) return {bytes.data(), 16};
  return {};
}

bool belongs(const Interface& interface, const std::string& wanted) {
  const std::size_t slash = wanted.find('/');
  if (slash == std::string::npos) return wanted.empty() || interface.name == wanted;
  int bits = 0;
  const char* end = wanted.data() + wanted.size();
  const auto [at, error] = std::from_chars(wanted.data() + slash + 1, end, bits);
  const std::string network = wanted.substr(0, slash);
  if (error != std::errc{} || at != end || bits < 0 || bits > static_cast<int>(8 * parse(network).size()))
    throw UsageError(fmt::format("{}: not a network: '{}'", opt::interface, wanted));
  return same_network(interface.address, network, bits);
}

}  // namespace

bool same_network(const std::string& a, const std::string& b, int prefix_bits) {
  const std::string left = parse(a);
  const std::string right = parse(b);
  if (left.empty() || left.size() != right.size()) return false;
  const auto bit = [](const std::string& bytes, int i) {
    return static_cast<unsigned char>(bytes[i / 8]) >> (7 - i % 8) & 1;
  };
  for (int i = 0; i < std::min(prefix_bits, static_cast<int>(8 * left.size())); ++i)
    if (bit(left, i) != bit(right, i)) return false;
  return true;
}

std::vector<Interface> interfaces(const std::string& wanted) {
  if (const std::size_t comma = wanted.find(','); comma != std::string::npos) {
    std::vector<Interface> several = interfaces(wanted.substr(0, comma));
    const std::string rest = wanted.substr(comma + 1);
    if (wanted.front() == ',' || rest.empty())
      throw UsageError(fmt::format("{}: '{}' has an empty item", opt::interface, wanted));
    for (Interface& one : interfaces(rest)) several.push_back(std::move(one));
    return several;
  }
  ifaddrs* raw = nullptr;
  if (getifaddrs(&raw) != 0)
    throw Error(fmt::format("cannot list the network interfaces: {}", reason(errno)));
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(raw, &freeifaddrs);
  std::vector<Interface> found[2];  // IPv4, IPv6
  for (const ifaddrs* one = all.get(); one != nullptr; one = one->ifa_next) {
    const auto bytes = bytes_of(one->ifa_addr);
    if (bytes.empty() || (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0 ||
        is_link_local(bytes))
      continue;
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(one->ifa_addr->sa_family, bytes.data(), text, sizeof text);
    const Interface interface { one->ifa_name, text, prefix_bits(one->ifa_netmask) };
    if (belongs(interface, wanted)) found[bytes.size() == 16].push_back(interface);
  }
  std::vector<Interface>& chosen = found[0].empty() ? found[1] : found[0];
  if (chosen.empty())
    throw Error(wanted.empty() ? "no network interface with an address that other hosts can reach"
                               : fmt::format("{}: no interface of this host that is up and has an address",
                                             opt::interface(wanted)));
  return chosen;
}

std::vector<std::string> by_nearness(std::vector<std::string> addresses, const std::vector<Interface>& own) {
  const auto distance = [&](const std::string& address) {
    int least = 1;
    for (const Interface& one : own) {
      if (one.address == address) return 2;
      if (same_network(one.address, address, one.prefix_bits)) least = 0;
    }
    return least;
  };
  std::ranges::stable_sort(addresses,
                           [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return addresses;
}

}  // namespace edgewire::launch
