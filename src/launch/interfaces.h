#pragma once

#include <string>
#include <vector>

#include "edgewire/launch.h"

namespace edgewire::launch {

/// Returns the addresses at which other hosts may reach this one: of interfaces that are up, without loopback
/// and link-local ones; IPv6 only if there is no IPv4. `wanted` names interfaces or networks ("10.0.0.0/24"),
/// divided by commas, whose order the result keeps; empty: any. Throws Error when one of them has no address.
std::vector<Interface> interfaces(const std::string& wanted);

/// Returns whether two numeric addresses are of one family and agree in their first bits.
bool same_network(const std::string& a, const std::string& b, int prefix_bits);

/// Sorts the `addresses` of another host into the order in which to try them: those on a network of `own`,
/// the interfaces of this host, come first; those that this host has, too, come last.
std::vector<std::string> by_nearness(std::vector<std::string> addresses, const std::vector<Interface>& own);

}  // namespace edgewire::launch
