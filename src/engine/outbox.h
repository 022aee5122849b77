// The sending side of an iteration: finished sums go into the peers' slots.
#pragma once

#include <cstdint>
#include <span>

#include "engine/codec.h"
#include "engine/exchange.h"

namespace edgewire::engine {

class Outbox {
 public:
  Outbox(Exchange& exchange, const Codec& codec);

  /// Puts the sums of a chunk's column (one for each slot, rounded to float) into the peer's inbox of this
  /// iteration (from 1) and signals them. Called by the chunk's lane only, in the order of lane_chunks().
  /// False once the job has failed.
  bool publish(const OutgoingChunk& chunk, std::span<const double> sums, std::uint64_t iteration) noexcept;
  /// Puts source values into the peer's inbox, of a stream with indexes: `values` are by index of the own
  /// vertices. Else as publish().
  bool publish_values(const OutgoingChunk& chunk, std::span<const float> values,
                      std::uint64_t iteration) noexcept;
  /// Sends this process's scalars after `iteration` to all peers. Called by one worker while the others rest.
  bool publish_scalars(const Scalars& scalars, std::uint64_t iteration) noexcept;

 private:
  template <class Fill>
  bool send(const OutgoingChunk& chunk, std::size_t values, std::uint64_t iteration,
            const Fill& fill) noexcept;
  template <class Value>
  void fill(const OutgoingChunk& chunk, std::size_t values, std::byte* slots, bool again,
            const Value& value) noexcept;
  std::span<std::byte> near_memory(int lane, std::size_t at, std::size_t bytes) const noexcept;

  Exchange& exchange_;
  Codec codec_;
  std::vector<std::vector<float>> residuals_;  ///< [stream][slot], where values are rounded to 16 bits
  /// [lane][number in lane_chunks]: writes to the peer once the chunk was sent; its send memory is free when
  /// as many have completed.
  std::vector<std::vector<std::uint64_t>> sent_;
  /// Writes to a peer once what last left from the lane's near memory was sent.
  struct alignas(64) Near {
    int peer = -1;
    std::uint64_t sent = 0;
  };
  std::vector<Near> near_;  ///< [lane]
};

}  // namespace edgewire::engine
