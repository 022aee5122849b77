// The receiving side of an iteration: adds what peers have written to the accumulators of the owned vertices.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "exchange/codec.h"
#include "exchange/exchange.h"

namespace edgewire::exchange {

/// `Message`: a value in memory, float or double.
template <class Message>
class Inbox {
 public:
  /// Block b: the owned vertices with indexes [blocks[b], blocks[b + 1]), which are finished together. Blocks
  /// are the local tile columns. `indexes`: [local number] index, needed if ids are sent.
  Inbox(Exchange& exchange, std::span<const std::uint32_t> blocks, std::span<const std::uint32_t> indexes,
        const Codec& codec);

  /// Whether everything that peers send for the block in this iteration has arrived. Iterations count from 1.
  bool ready(std::size_t block, std::uint64_t iteration) const noexcept;
  /// A peer whose chunks or scalars for the block have not arrived in this iteration; -1: none.
  int awaited(std::size_t block, std::uint64_t iteration) const noexcept;
  /// A peer whose scalars after `iteration` have not arrived; -1: none.
  int awaited_scalars(std::uint64_t iteration) const noexcept;
  /// Adds the partial sums that peers have sent for the block; `sums` has its accumulators. Takes one peer
  /// after the other, so the result does not depend on the order of arrival. A wrong id fails the job; the
  /// message names the peer.
  void add(std::size_t block, std::uint64_t iteration, std::span<double> sums) const noexcept;
  /// The mirrors that `peer` has sent in this iteration; null when it sends none. Call it only after ready().
  /// Where values travel in 16 bits, the first worker that calls it decodes them.
  const Message* mirrors(int peer, std::uint64_t iteration) noexcept;
  /// Whether the scalars of all peers after `iteration` have arrived. If so, sets `total` to their sum, added
  /// in the order of ranks.
  bool scalars(std::uint64_t iteration, const Scalars& mine, Scalars& total) const noexcept;

 private:
  struct Source {  ///< the slots of one stream that belong to one block
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
    std::vector<Message> values;
    /// 2 i: iteration i is decoded; 2 i - 1: a worker is decoding it. The decoder's release pairs with the
    /// acquire of the workers that wait.
    std::atomic<std::uint64_t> state{0};
  };
  /// As add(), for pairs of id and value; `begin` is the index of sums[0]. Returns false when an id is wrong.
  bool add_pairs(std::span<const IdValue<Message>> pairs, int peer, std::uint32_t begin,
                 std::span<double> sums) const noexcept;
  bool arrived(const Needed& needed, std::uint64_t iteration) const noexcept;

  Exchange& exchange_;
  Codec codec_;
  std::vector<Decoded> decoded_;  ///< [peer], where values travel in 16 bits
  std::vector<std::uint32_t> blocks_;
  std::span<const std::uint32_t> indexes_;
  void need(std::size_t block, int peer, const Chunk& chunk);
  std::vector<std::vector<Source>> sources_;
  std::vector<std::vector<Needed>> needed_;
};

}  // namespace edgewire::exchange
