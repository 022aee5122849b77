// The receiving side of an iteration: what peers have written is added to the sums of the own vertices.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/codec.h"
#include "engine/exchange.h"

namespace edgewire::engine {

class Inbox {
 public:
  /// `blocks[b]`..`blocks[b + 1]`: indexes of the own vertices that are finished together (the local tile
  /// columns). `indexes`: [local number] index, for ids that travel.
  Inbox(Exchange& exchange, std::span<const std::uint32_t> blocks, std::span<const std::uint32_t> indexes,
        const Codec& codec);

  /// Whether everything that peers send for the block in this iteration (from 1) has arrived.
  bool ready(std::size_t block, std::uint64_t iteration) const noexcept;
  /// The peer whose chunks or scalars the block still lacks in this iteration; -1: none.
  int awaited(std::size_t block, std::uint64_t iteration) const noexcept;
  /// The peer whose scalars after `iteration` have not come; -1: none.
  int awaited_scalars(std::uint64_t iteration) const noexcept;
  /// Adds it to sums[index - blocks[block]], peer after peer, so that the result does not depend on the order
  /// of arrival. A false id fails the job, naming the peer.
  void add(std::size_t block, std::uint64_t iteration, std::span<double> sums) const noexcept;
  /// The mirrors that `peer` has sent in this iteration; only to be asked for when ready(). Null when it
  /// sends none. Where values travel in 16 bits the first worker that asks decodes them.
  const float* mirrors(int peer, std::uint64_t iteration) noexcept;
  /// Whether the scalars of all peers after `iteration` have arrived; if so adds them up in the order of
  /// ranks.
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
    std::vector<float> values;
    /// Twice the last decoded iteration, less one while that is being decoded. Its release by the decoder
    /// pairs with the acquire of those who wait.
    std::atomic<std::uint64_t> state{0};
  };
  /// As add(), of pairs from `peer`; `begin` is the index of sums[0]. False when one is false.
  bool add_pairs(std::span<const IdValue> pairs, int peer, std::uint32_t begin,
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

}  // namespace edgewire::engine
