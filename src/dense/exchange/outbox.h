// The sending side of an iteration: puts partial sums and mirrors into the slots of the peers.
#pragma once

#include <cstdint>
#include <span>

#include "base/rooms.h"
#include "dense/exchange/exchange.h"
#include "edgewire/detail/codec.h"
#include "edgewire/detail/slots.h"

namespace edgewire::exchange {

class Outbox {
 public:
  /// Makes an outbox. Exchange and loops outlive it. `codec` is for values of 16 bits.
  Outbox(Exchange& exchange, SlotLoops& loops, const Codec& codec);

  /// Tells each peer, where values have 16 bits, the powers of two by which its mirrors are multiplied, in
  /// the slots of iteration 0. They are there with the totals of iteration 0. Throws Error when the job
  /// fails.
  void publish_powers();
  /// Writes the partial sums of a chunk's column into the peer's inbox of this iteration, and signals them.
  /// `accumulators`: one for each slot. Iterations count from 1. Only the chunk's lane may call it, with the
  /// chunks that go to one peer in the order of lane_chunks(). Returns false once the job has failed.
  bool publish_partial_sums(const OutgoingChunk& chunk, const std::byte* accumulators,
                            std::uint64_t iteration) noexcept;
  /// Does the same as publish_partial_sums(), for messages of the owned vertices, in a stream with indexes.
  bool publish_messages(const OutgoingChunk& chunk, std::uint64_t iteration) noexcept;
  /// Sends this process's totals after `iteration` to all peers. One worker calls it; the others wait.
  bool publish_totals(const PackedTotals& totals, std::uint64_t iteration) noexcept;

 private:
  template <class Fill>
  bool send(const OutgoingChunk& chunk, std::uint64_t iteration, const Fill& fill) noexcept;
  std::span<std::byte> near_memory(int lane, std::size_t at, std::size_t bytes) const noexcept;

  Exchange& exchange_;
  SlotLoops& loops_;
  Codec codec_;
  std::vector<std::vector<float>> residuals_;  ///< residuals, [stream][slot], where values have 16 bits
  std::vector<std::vector<float>> scales_;     ///< scales of mirrors, [stream][slot]; empty: all are 1
  /// Number of writes to the peer once a chunk was sent, [lane][number in lane_chunks]; its send memory is
  /// free when as many have completed.
  std::vector<std::vector<std::uint64_t>> sent_;
  /// The number of writes to a peer once the last chunk in the lane's near memory was sent.
  struct alignas(64) Near {
    int peer = -1;
    std::uint64_t sent = 0;
  };
  std::vector<Near> near_;  ///< near memory, [lane]
};

}  // namespace edgewire::exchange
