#include "exchange/seat.h"

#include <fmt/core.h>
#include <unistd.h>

#include "exchange/ring.h"
#include "topology/machine.h"
#include "topology/placement.h"

namespace edgewire::exchange {

namespace {

transport::Settings link_settings(launch::Bootstrap& bootstrap, const SeatOptions& options) {
  transport::Settings settings;
  settings.rank = bootstrap.rank();
  settings.size = bootstrap.size();
  settings.lanes = options.workers;
  settings.kinds = kinds_for_rings(options.workers);
  settings.secret = bootstrap.secret();
  settings.address = bootstrap.address();
  settings.process_index = bootstrap.local_rank();
  settings.peer_timeout_s = options.peer_timeout_s;
  settings.health = &bootstrap.health();
  settings.nodes = bootstrap.nodes();
  settings.integrity = options.integrity;
  settings.verbs = options.verbs;
  settings.dpdk = options.dpdk;
  return settings;
}

}  // namespace

Seat::Seat(launch::Bootstrap& bootstrap, const SeatOptions& options) {
  const auto machine = topology::discover();
  pool_ = std::make_unique<topology::WorkerPool>(
      topology::place(machine, bootstrap.local_rank(), bootstrap.local_size(), options.workers));
  char name[256] = "?";
  gethostname(name, sizeof name - 1);
  place_ = fmt::format("{}: {}", name, topology::describe(pool_->placement(), machine));
  link_ = transport::create(options.transport, link_settings(bootstrap, options));
}

}  // namespace edgewire::exchange
