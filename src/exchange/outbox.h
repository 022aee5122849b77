// The sending side of an iteration: puts partial sums and mirrors into the slots of the peers.
#pragma once

#include <cstdint>
#include <span>

#include "exchange/codec.h"
#include "exchange/exchange.h"

namespace edgewire::exchange {

/// `Message`: a value in memory, float or double.
template <class Message>
class Outbox {
 public:
  Outbox(Exchange& exchange, const Codec& codec);

  /// Writes the partial sums of a chunk's column into the peer's inbox of this iteration, and signals them.
  /// There is one for each slot; it is rounded to Message. Iterations count from 1. Only the chunk's lane may
  /// call it, in the order of lane_chunks(). Returns false once the job has failed.
  bool publish(const OutgoingChunk& chunk, std::span<const double> sums, std::uint64_t iteration) noexcept;
  /// As publish(), for source values, in a stream with indexes. `values`: by index of the owned vertices. A
  /// value is multiplied by the weight of the slot's edge, if the stream has weights.
  bool publish_values(const OutgoingChunk& chunk, std::span<const Message> values,
                      std::uint64_t iteration) noexcept;
  /// Sends this process's scalars after `iteration` to all peers. One worker calls it; the others wait.
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

}  // namespace edgewire::exchange
