// This file has a worker's care for the link beside its work: it makes progress, waits, and tells an
// observer.
#pragma once

#include <chrono>
#include <cstddef>

#include "dense/exchange/exchange.h"
#include "topology/phase.h"

namespace edgewire::engine {

using topology::Phase;

/// The state that all workers of a loop share for this.
class LinkWatch {
 protected:
  /// Makes the watch. `observer` may be null. Both outlive it.
  LinkWatch(exchange::Exchange& exchange, topology::Observer* observer, bool oversubscribed)
      : exchange_(exchange), observer_(observer), oversubscribed_(oversubscribed) {}

  bool failed() const { return exchange_.health().failed(); }

  void tell(int worker, Phase phase, std::size_t item = 0, int peer = -1) {
    if (observer_) observer_->enter(worker, phase, item, peer);
  }

  /// Makes progress of the link; each worker watches the chunks of the peers' lanes with its number.
  bool poll(int worker) {
    const bool well = exchange_.link().poll();
    if (observer_) tell_arrivals(worker);
    return well;
  }

  void tell_arrivals(int worker) {
    for (int p = 0; p < exchange_.size(); ++p) {
      if (p == exchange_.rank()) continue;
      observer_->arrived(worker, p, exchange_.link().signalled(p, exchange::kFirstLaneKind + worker));
    }
  }

  /// Makes progress until done() holds; false once the job has failed. awaited(): the peer that it waits for.
  template <class Done, class Awaited>
  bool wait_until(int worker, const Done& done, const Awaited& awaited) {
    if (done()) return true;
    tell(worker, Phase::wait);
    for (int turns = 0; turns == 0 || !done(); ++turns) {
      if (observer_) observer_->waits_for(worker, awaited());
      const bool spin = !oversubscribed_ && turns < 100000;
      if (!spin && !exchange_.link().wait(std::chrono::microseconds(1000))) return false;
      if (!poll(worker) || failed()) return false;
    }
    return true;
  }

  exchange::Exchange& exchange_;
  topology::Observer* const observer_;

 private:
  bool oversubscribed_;  ///< whether workers share cores, so that none may spin
};

}  // namespace edgewire::engine
