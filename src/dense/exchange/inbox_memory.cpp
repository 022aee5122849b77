// Which parts of the region belong to which NUMA node.
#include <algorithm>

#include "dense/exchange/exchange.h"

namespace edgewire::exchange {

std::vector<topology::PlacedMemory> Exchange::inbox_memory(std::span<const std::uint32_t> ends,
                                                           std::span<const int> nodes,
                                                           std::span<const int> all_nodes) const {
  std::vector<topology::PlacedMemory> memory;
  for (const IncomingStream& stream : incoming_) {
    if (stream.slots() == 0) continue;
    for (const std::uint64_t iteration : {0, 1}) {
      const auto slots = region().subspan(stream.offset + parity_shift_from(stream.peer, iteration),
                                          stream.slots() * value_bytes());
      if (stream.mirrors) {
        memory.push_back({slots, all_nodes});
        continue;
      }
      std::size_t first = 0;  // slots are in the order of their targets
      for (std::size_t i = 0; i < ends.size(); ++i) {
        const auto end = static_cast<std::size_t>(
            std::ranges::lower_bound(stream.targets, OwnedIndex(ends[i])) - stream.targets.begin());
        memory.push_back(
            {slots.subspan(first * value_bytes(), (end - first) * value_bytes()), nodes.subspan(i, 1)});
        first = end;
      }
    }
  }
  return memory;
}

}  // namespace edgewire::exchange
