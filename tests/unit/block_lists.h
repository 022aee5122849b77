// The messages between processes that own blocks of edges, without a job.
#pragma once

#include <vector>

#include "dense/plan/block_routes.h"

namespace edgewire::plan {

/// Returns the lists, [process][peer], when process p computes computed[p].
inline std::vector<std::vector<PeerLists>> lists_of_all(const std::vector<BlockEdges>& computed,
                                                        const partition::Ownership& owners) {
  std::vector<std::vector<PeerLists>> lists;
  for (const auto& edges : computed)
    lists.push_back(lists_for(edges, owners, static_cast<std::uint32_t>(lists.size())));
  for (std::uint32_t p = 0; p < lists.size(); ++p)
    for (std::uint32_t q = 0; q < lists.size(); ++q)
      if (p != q) take_announced(lists[p][q], announce(lists[q][p], owners), owners, p, q);
  return lists;
}

}  // namespace edgewire::plan
