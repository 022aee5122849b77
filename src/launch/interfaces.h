#pragma once

#include <string>
#include <vector>

#include "edgewire/launch.h"

namespace edgewire::launch {

/// Returns the addresses at which other hosts may reach this one: those of interfaces that are up, without
/// loopback and link-local addresses. It returns IPv6 addresses only if there is no IPv4 address. `wanted` is
/// the name of an interface, or a network ("10.0.0.0/24"), or several of these with commas; the result is in
/// their order. If `wanted` is empty, any interface will do. Throws Error when one of them has no address.
std::vector<Interface> interfaces(const std::string& wanted);

/// Returns whether two numeric addresses agree in their first bits; false when they are of different
/// families.
bool same_network(const std::string& a, const std::string& b, int prefix_bits);

/// Sorts the `addresses` of another host into the order in which to try them. `own`: the interfaces of this
/// host. Addresses on common networks come first. Addresses that this host has, too, come last: they belong
/// to networks inside each host.
std::vector<std::string> by_nearness(std::vector<std::string> addresses, const std::vector<Interface>& own);

}  // namespace edgewire::launch
