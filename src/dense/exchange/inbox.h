// The receiving side of an iteration: adds what peers have written to the accumulators of the owned vertices.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "dense/exchange/exchange.h"
#include "edgewire/detail/codec.h"
#include "edgewire/detail/slots.h"

namespace edgewire::exchange {

class Inbox {
 public:
  /// Makes an inbox. Block b, a local tile column, is the owned vertices with indexes [blocks[b],
  /// blocks[b + 1]). `indexes`: [local number], needed if ids are sent. `codec` is for values of 16 bits.
  Inbox(Exchange& exchange, SlotLoops& loops, std::span<const std::uint32_t> blocks,
        NumberedBy<LocalNumber, std::span<const OwnedIndex>> indexes, const Codec& codec);

  /// Waits for the powers that Outbox::publish_powers() of each peer sends, and takes them. Call it before
  /// any peer can be in iteration 2. Throws Error when the job fails.
  void take_powers();
  /// Returns a peer whose partial sums for the block have not arrived in this iteration, or -1 if there is
  /// none. Iterations count from 1.
  int awaited(std::size_t block, std::uint64_t iteration) const noexcept;
  /// Returns one of `peers` whose mirrors have not all arrived in this iteration, or -1 if there is none.
  int awaited_mirrors(std::span<const int> peers, std::uint64_t iteration) const noexcept;
  /// Returns a peer whose scalars after `iteration` have not arrived, or -1 if there is none.
  int awaited_scalars(std::uint64_t iteration) const noexcept;
  /// Adds the partial sums that peers have sent for the block; `accumulators`: of the block. Takes one peer
  /// after the other, so the result does not depend on the order of arrival. A wrong id fails the job; the
  /// message names the peer.
  void add(std::size_t block, std::uint64_t iteration, std::byte* accumulators) const noexcept;
  /// Returns the mirrors that `peer`, which sends some, has sent in this iteration. Call it in each
  /// iteration, and only when they have arrived. The first worker that calls it decodes them if need be. They
  /// stay as they are until all workers have ended the iteration: the peer writes the same slots two
  /// iterations later, and by then it has the scalars that this process sends at that end.
  const std::byte* mirrors(int peer, std::uint64_t iteration) noexcept;
  /// Returns the totals that `peer` has sent after `iteration`. Call it only when awaited_scalars() is -1.
  PackedTotals totals(int peer, std::uint64_t iteration) const noexcept;

 private:
  struct Source {  ///< slots of one stream that belong to one block
    std::uint32_t stream;
    std::uint32_t first_slot;
    std::uint32_t end_slot;
  };
  struct Needed {  ///< chunks that must have arrived from a peer's lane
    int peer;
    std::uint32_t lane;
    std::uint32_t chunks;
  };
  struct Decoded {
    std::vector<std::byte> values;
    std::vector<float> scales;  ///< scales, [slot], see SlotLoops::decode()
    /// State of decoding. 2 i: iteration i is decoded; 2 i - 1: a worker is decoding it. The decoder's
    /// release pairs with the acquire of the workers that wait.
    std::atomic<std::uint64_t> state{0};
  };
  bool arrived(const Needed& needed, std::uint64_t iteration) const noexcept;
  static void need(std::vector<Needed>& needed, int peer, const Chunk& chunk);

  Exchange& exchange_;
  SlotLoops& loops_;
  Codec codec_;
  std::vector<Decoded> decoded_;  ///< decoded mirrors, [peer], where values travel in 16 bits
  std::vector<std::uint32_t> blocks_;
  NumberedBy<LocalNumber, std::span<const OwnedIndex>> indexes_;
  std::vector<std::vector<Source>> sources_;
  std::vector<std::vector<Needed>> needed_;          ///< chunks of partial sums that a block needs, [block]
  std::vector<std::vector<Needed>> needed_mirrors_;  ///< chunks of mirrors, [peer]
};

}  // namespace edgewire::exchange
