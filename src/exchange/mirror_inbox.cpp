#include "exchange/mirror_inbox.h"

namespace edgewire::exchange {

MirrorInbox::MirrorInbox(Exchange& exchange, SlotLoops& loops, const Codec& codec, int workers)
    : exchange_(exchange), loops_(loops), codec_(codec), parts_(static_cast<std::size_t>(workers)) {
  if (exchange.mirror_use() != MirrorUse::sources) return;
  std::uint32_t mirrors = 0;
  std::size_t parts = 0;
  for (const IncomingStream& stream : exchange.incoming()) {
    if (!stream.mirrors) continue;
    std::uint32_t slot = 0;
    for (const Chunk& chunk : stream.chunks) {
      parts_[parts++ % parts_.size()].push_back({stream.peer, stream.offset + slot * exchange.value_bytes(),
                                                 mirrors + slot, chunk.end_slot - slot, chunk});
      slot = chunk.end_slot;
    }
    mirrors += slot;
  }
  any_ = parts > 0;
}

bool MirrorInbox::arrived(const Part& part, std::uint64_t iteration) const noexcept {
  const std::uint64_t before = (iteration - 1) * exchange_.chunks_from(part.peer, part.chunk.lane);
  return exchange_.link().signalled(part.peer, kFirstLaneKind + static_cast<int>(part.chunk.lane)) >
         before + part.chunk.ordinal;
}

void MirrorInbox::take(const Part& part, std::uint64_t iteration) noexcept {
  const std::byte* const data =
      exchange_.region().data() + part.offset + exchange_.parity_shift_from(part.peer, iteration);
  loops_.take_mirrors(part.first, data, part.count,
                      plan::is_rounded(exchange_.encoding()) ? &codec_ : nullptr);
}

}  // namespace edgewire::exchange
