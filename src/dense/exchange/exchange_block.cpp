// The streams of processes that hold blocks of edges.
#include "dense/exchange/exchange.h"

namespace edgewire::exchange {

Exchange Exchange::of_block(launch::Bootstrap& bootstrap, transport::Transport& link,
                            const plan::BlockPlan& plan, plan::Strategy strategy, plan::Encoding encoding,
                            int lanes) {
  std::vector<IncomingStream> incoming;
  std::vector<OutgoingStream> outgoing;
  for (const auto& peer : plan.peers()) {
    incoming.emplace_back().targets = peer.sums_from;
    incoming.emplace_back().sources = peer.mirrors_from;
    auto& sums = outgoing.emplace_back();
    sums.slots = peer.sums_to;
    sums.first_destination = peer.first_sum;
    auto& mirrors = outgoing.emplace_back();
    mirrors.mirrors = true;
    mirrors.slots = static_cast<std::uint32_t>(peer.mirrors_to.size());
    mirrors.indexes = peer.mirrors_to;
  }
  return {bootstrap, link, std::move(incoming), std::move(outgoing), strategy, encoding, lanes};
}

}  // namespace edgewire::exchange
