// Takes the mirrors that are sources of the tiles: copies what peers have sent behind the messages of the
// owned vertices, before the tiles are swept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exchange/codec.h"
#include "exchange/exchange.h"
#include "exchange/slots.h"

namespace edgewire::exchange {

/// Proof that all sources of the tiles are in place for an iteration. Only MirrorInbox makes it.
class SourcesInPlace {
  friend class MirrorInbox;
  SourcesInPlace() = default;
};

class MirrorInbox {
 public:
  /// A chunk of mirrors.
  struct Part {
    int peer = 0;
    std::size_t offset = 0;   ///< in this process's region, of even iterations
    std::uint32_t first = 0;  ///< number of its first mirror among those of all peers, in the order of ranks
    std::uint32_t count = 0;
    Chunk chunk;
  };

  /// Has no parts unless mirrors are sources. Both outlive it. `codec` is used where values are rounded to 16
  /// bits.
  MirrorInbox(Exchange& exchange, SlotLoops& loops, const Codec& codec, int workers);

  /// The parts that the worker has to take in each iteration.
  std::span<const Part> parts(int worker) const noexcept { return parts_[static_cast<std::size_t>(worker)]; }
  bool arrived(const Part& part, std::uint64_t iteration) const noexcept;
  /// Call it only when it has arrived.
  void take(const Part& part, std::uint64_t iteration) noexcept;
  /// Whether workers have to wait for each other's parts before any may sweep tiles.
  bool any() const noexcept { return any_; }
  /// To be called by each worker when all workers have taken their parts of the iteration, or the job has
  /// failed.
  SourcesInPlace finish() const noexcept { return {}; }

 private:
  Exchange& exchange_;
  SlotLoops& loops_;
  Codec codec_;
  bool any_ = false;
  std::vector<std::vector<Part>> parts_;  ///< [worker]
};

}  // namespace edgewire::exchange
