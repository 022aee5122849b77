// Checks of an exchange that deals columns to lanes and nodes, and of groups of the columns that it sends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/error.h"
#include "dense/exchange/exchange.h"

namespace edgewire::engine {

/// Returns 0, 1, ..., nodes - 1, 0, 1, ...
inline std::vector<int> in_turn(std::size_t count, int nodes) {
  std::vector<int> all;
  while (all.size() < count) all.push_back(static_cast<int>(all.size()) % nodes);
  return all;
}

/// Checks that lanes send columns of their node, if there is a lane there, and the parts of the inbox are
/// where their vertices are.
inline void check_nodes(const exchange::Exchange& exchange, std::uint32_t owned,
                        std::span<const int> column_nodes, std::span<const int> lane_nodes) {
  for (std::size_t lane = 0; lane < lane_nodes.size(); ++lane) {
    for (const auto& chunk : exchange.lane_chunks(static_cast<int>(lane))) {
      const auto& stream = exchange.outgoing()[chunk.stream];
      if (stream.mirrors || !stream.indexes.empty()) continue;
      const int node = column_nodes[chunk.column];
      if (std::ranges::count(lane_nodes, node) > 0 && lane_nodes[lane] != node)
        throw Error("a column in a lane of another node");
    }
  }
  const std::vector<std::uint32_t> ends{owned / 3, owned};
  const std::vector<int> nodes{5, 7}, all{5, 7, 8};
  std::map<std::vector<int>, std::size_t> expected, found;
  for (const auto& stream : exchange.incoming()) {
    const std::size_t bytes = exchange.place_of(stream, 1).byte;
    for (const OwnedIndex target : stream.targets) expected[{target < ends[0] ? 5 : 7}] += 2 * bytes;
    if (!stream.sources.empty()) expected[all] += stream.sources.size() * 2 * bytes;
  }
  for (const auto& part : exchange.inbox_memory(ends, nodes, all)) {
    if (part.bytes.empty()) continue;
    found[{part.nodes.begin(), part.nodes.end()}] += part.bytes.size();
    if (part.bytes.data() < exchange.region().data() ||
        part.bytes.data() + part.bytes.size() > exchange.region().data() + exchange.region().size())
      throw Error("a part of the inbox that is not in the region");
  }
  if (expected != found) throw Error("parts of the inbox on other nodes than their vertices");
}

/// Checks that mirrors go first, then sums that need none, and of each peer those that cost the fewest edges
/// a value.
inline void check_order(const exchange::Exchange& exchange, std::span<const std::uint32_t> bounds,
                        const std::function<exchange::ColumnWork(std::size_t)>& work) {
  for (int lane = 0; lane < exchange.lanes(); ++lane) {
    std::vector<double> last(exchange.outgoing().size());
    bool sums = false, mirrored = false;
    for (const auto& chunk : exchange.lane_chunks(lane)) {
      if (exchange.outgoing()[chunk.stream].mirrors) {
        if (sums) throw Error("mirrors after sums");
        continue;
      }
      sums = true;
      const auto [edges, needs_mirrors] = work(chunk.column);
      if (mirrored && !needs_mirrors) throw Error("a column without mirrors after one that needs some");
      if (mirrored != needs_mirrors) last.assign(last.size(), 0);
      mirrored = needs_mirrors;
      const double cost = static_cast<double>(edges) / (bounds[chunk.column + 1] - bounds[chunk.column]);
      if (cost < last[chunk.stream]) throw Error("a costly column before a cheap one");
      last[chunk.stream] = cost;
    }
  }
}

/// Returns local columns three at a time, then remote ones two at a time, as lanes send them, whatever goes
/// between them.
inline std::vector<std::vector<std::uint32_t>> groups_of(const exchange::Exchange& exchange,
                                                         std::size_t local_columns) {
  std::vector<std::vector<std::uint32_t>> groups;
  for (std::uint32_t c = 0; c < local_columns; ++c) {
    if (c % 3 == 0) groups.emplace_back();
    groups.back().push_back(c);
  }
  for (int lane = 0; lane < exchange.lanes(); ++lane) {
    std::size_t count = 0;
    for (const auto& chunk : exchange.lane_chunks(lane)) {
      const auto& stream = exchange.outgoing()[chunk.stream];
      if (stream.mirrors || !stream.indexes.empty()) continue;
      if (count++ % 2 == 0) groups.emplace_back();
      groups.back().push_back(static_cast<std::uint32_t>(chunk.column));
    }
  }
  return groups;
}

}  // namespace edgewire::engine
