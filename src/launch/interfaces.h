#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgewire::launch {

/// An address of this host and the network behind it: "10.0.0.1", 24.
struct Interface {
  std::string name;
  std::string address;
  int prefix_bits = 0;
};

/// The addresses at which other hosts may reach this one: of interfaces that are up, without loopback and
/// link-local ones. IPv6 addresses only where there is no IPv4 address. `wanted` is the name of an interface
/// or a network ("10.0.0.0/24") that they must belong to, or several with commas, in whose order they come;
/// empty: any. Throws Error when none is left of one of them.
std::vector<Interface> interfaces(const std::string& wanted);

/// Whether two numeric addresses agree in their first bits; false when they are of different families.
bool same_network(const std::string& a, const std::string& b, int prefix_bits);

/// `addresses` of another host in the order in which this host, with interfaces `own`, should try them: of
/// common networks first, its own addresses (of a network that both hosts have inside) last.
std::vector<std::string> by_nearness(std::vector<std::string> addresses, const std::vector<Interface>& own);

}  // namespace edgewire::launch
