// The verbs folder is the RDMA backend: writes go through a reliable connection of a network card straight
// into the peer's registered memory. library.h loads libibverbs, device.* chooses the card, setup.cpp
// registers memory and makes queue pairs, connect.cpp connects, cm.* connects iWARP cards, datapath.cpp
// writes and signals, progress.cpp takes completions and says what went wrong, cards.cpp tells other
// processes what there is. Other folders include this header alone.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/choice.h"
#include "transport/transport.h"

namespace edgewire::transport {

/// Makes the transport. Throws Error when no device can be used.
std::unique_ptr<Transport> make_verbs(const Settings& settings);

/// Returns all RDMA devices with an active port and an address: "rxe0 port 1: RoCE v2, siw0 port 1: iWARP".
std::string verbs_devices_here();

/// Returns why no RDMA device opens and registers memory here, and the remedy; empty when one does.
std::string trouble_with_verbs();

/// Returns at least one card; see offer_cards(). Throws Error that says why there is none.
std::vector<Card> verbs_cards(const VerbsChoice& wanted, std::span<const std::string> addresses);

}  // namespace edgewire::transport
