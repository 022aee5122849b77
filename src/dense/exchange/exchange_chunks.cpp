// Decides which lane fills which chunk, and tells the receivers.
#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "dense/exchange/exchange.h"
#include "launch/packing.h"
#include "partition/column_addresses.h"

namespace edgewire::exchange {

void Exchange::deal_columns(std::span<const std::uint32_t> column_bounds,
                            const std::function<ColumnWork(std::size_t column)>& work,
                            std::span<const int> column_nodes, std::span<const int> lane_nodes) {
  struct Remote {
    OutgoingChunk chunk;
    ColumnWork work;
    double edges_a_slot = 0;
    double at = 0;  ///< share of the stream's slots that go before
    int turn = 0;
  };
  std::vector<Remote> remotes;
  std::size_t stream = 0;
  for (std::size_t c = 0; c + 1 < column_bounds.size(); ++c) {
    const std::uint32_t begin = column_bounds[c];
    while (stream < outgoing_.size() &&
           (outgoing_[stream].mirrors ||
            begin >= outgoing_[stream].first_destination + outgoing_[stream].slots)) {
      ++stream;
    }
    // It is a local column.
    if (stream == outgoing_.size() || begin < outgoing_[stream].first_destination) continue;
    const auto& out = outgoing_[stream];
    Remote remote;
    remote.chunk = {
        c, stream, begin - out.first_destination, {column_bounds[c + 1] - out.first_destination, 0, 0}};
    remote.work = work(c);
    remote.edges_a_slot =
        static_cast<double>(remote.work.edges) / static_cast<double>(column_bounds[c + 1] - begin);
    remote.turn = (out.peer - rank() - 1 + size()) % size();
    remotes.push_back(remote);
  }
  std::stable_sort(remotes.begin(), remotes.end(), [](const Remote& a, const Remote& b) {
    return std::pair(a.work.needs_mirrors, a.edges_a_slot) < std::pair(b.work.needs_mirrors, b.edges_a_slot);
  });
  std::vector<std::uint32_t> before(outgoing_.size());
  for (auto& remote : remotes) {
    const auto& [column, s, first_slot, chunk] = remote.chunk;
    remote.at = static_cast<double>(before[s]) / outgoing_[s].slots;
    before[s] += chunk.end_slot - first_slot;
  }
  std::stable_sort(remotes.begin(), remotes.end(), [](const Remote& a, const Remote& b) {
    return std::tuple(a.work.needs_mirrors, a.at, a.turn) < std::tuple(b.work.needs_mirrors, b.at, b.turn);
  });
  lane_chunks_.resize(lanes_);
  chunks_to_.resize(writes_.size());
  deal_mirrors();
  std::vector<std::uint64_t> load(lanes_);
  const auto far = [&](std::size_t lane, std::size_t column) {
    return !column_nodes.empty() && !lane_nodes.empty() && lane_nodes[lane] != column_nodes[column];
  };
  for (auto& remote : remotes) {
    OutgoingChunk& chunk = remote.chunk;
    std::uint32_t lane = 0;
    for (std::uint32_t other = 1; other < load.size(); ++other) {
      if (std::pair(far(other, chunk.column), load[other]) < std::pair(far(lane, chunk.column), load[lane]))
        lane = other;
    }
    load[lane] += remote.work.edges + (column_bounds[chunk.column + 1] - column_bounds[chunk.column]);
    chunk.chunk.lane = lane;
    chunk.chunk.ordinal = chunks_to_[outgoing_[chunk.stream].peer * lanes_ + lane]++;
    lane_chunks_[lane].push_back(chunk);
  }
  tell_chunks();
}

void Exchange::deal_mirrors() {
  constexpr std::uint32_t kMirrorsPerChunk = 1 << 15;
  std::uint32_t next = 0;
  for (int turn = 1; turn < size(); ++turn) {
    const std::size_t s = (rank() + turn) % size() * lists_ + lists_ - std::size_t{1};
    if (!outgoing_[s].mirrors) return;
    for (std::uint32_t slot = 0; slot < outgoing_[s].slots; slot += kMirrorsPerChunk) {
      const std::uint32_t lane = next++ % static_cast<std::uint32_t>(lanes_);
      const std::uint32_t end = std::min(outgoing_[s].slots, slot + kMirrorsPerChunk);
      const std::uint32_t ordinal = chunks_to_[outgoing_[s].peer * lanes_ + lane]++;
      lane_chunks_[lane].push_back({0, s, slot, {end, lane, ordinal}});
    }
  }
}

/// Returns the bits in front of slot 0, so that the second chunk begins at a whole byte.
unsigned Exchange::first_bit_of(const std::vector<Chunk>& chunks) const noexcept {
  constexpr std::uint32_t kGranule = partition::kColumnGranule;
  if (value_.bits % 8 == 0 || chunks.size() < 2) return 0;
  return (kGranule - chunks.front().end_slot % kGranule) % kGranule;
}

void Exchange::tell_chunks() {
  std::vector<std::vector<Chunk>> by_stream(outgoing_.size());
  for (const auto& lane : lane_chunks_) {
    for (const auto& chunk : lane) by_stream[chunk.stream].push_back(chunk.chunk);
  }
  std::vector<std::string> messages(size());
  for (auto& chunks : by_stream) {
    std::sort(chunks.begin(), chunks.end(),
              [](const Chunk& a, const Chunk& b) { return a.end_slot < b.end_slot; });
    const auto s = static_cast<std::size_t>(&chunks - by_stream.data());
    messages[s / lists_] += launch::pack(chunks);
    outgoing_[s].first_bit = first_bit_of(chunks);
  }
  const auto answers = bootstrap_.alltoall(messages);
  chunks_from_.resize(writes_.size());
  for (int p = 0; p < size(); ++p) {
    if (p == rank()) continue;
    const auto chunks = launch::unpack<Chunk>(answers[p], p);
    auto next = chunks.begin();
    for (int l = 0; l < lists_; ++l) {
      auto& stream = incoming_[p * lists_ + l];
      for (std::uint32_t slot = 0; slot < stream.slots(); slot = stream.chunks.back().end_slot) {
        if (next == chunks.end() || next->end_slot <= slot || next->end_slot > stream.slots() ||
            next->lane >= static_cast<std::uint32_t>(lanes_) || next->ordinal >= chunks.size()) {
          throw Error(fmt::format("rank {} sent a faulty list of chunks", p));
        }
        ++chunks_from_[p * lanes_ + next->lane];
        stream.chunks.push_back(*next++);
      }
      stream.first_bit = first_bit_of(stream.chunks);
    }
    if (next != chunks.end()) throw Error(fmt::format("rank {} sent a faulty list of chunks", p));
  }
}

std::vector<topology::PlacedMemory> Exchange::inbox_memory(std::span<const std::uint32_t> ends,
                                                           std::span<const int> nodes,
                                                           std::span<const int> all_nodes) const {
  std::vector<topology::PlacedMemory> memory;
  for (const IncomingStream& stream : incoming_) {
    if (stream.slots() == 0) continue;
    for (const std::uint64_t iteration : {0, 1}) {
      const std::span slots(slots_of(stream, iteration), stream_bytes(stream.slots()));
      if (stream.mirrors) {
        memory.push_back({slots, all_nodes});
        continue;
      }
      std::size_t first = 0;  // first slot: slots are in the order of their targets
      for (std::size_t i = 0; i < ends.size(); ++i) {
        const auto end = static_cast<std::size_t>(
            std::ranges::lower_bound(stream.targets, OwnedIndex(ends[i])) - stream.targets.begin());
        const std::size_t begin = place_of(stream, first).byte;
        memory.push_back({slots.subspan(begin, place_of(stream, end).byte - begin), nodes.subspan(i, 1)});
        first = end;
      }
    }
  }
  return memory;
}

}  // namespace edgewire::exchange
