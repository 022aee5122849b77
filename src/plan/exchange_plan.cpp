#include "plan/exchange_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "error.h"
#include "plan/remote_edges.h"

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kBlocksAtATime = 64;  // row blocks that a worker takes at a time

std::uint64_t row_blocks(std::uint32_t sources) {
  return (sources + std::uint64_t{ExchangePlan::kRowBlock} - 1) / ExchangePlan::kRowBlock;
}

/// work(worker, block, first row, last row) for every block of rows, or every `step`-th.
void for_each_block(const ForEach& for_each, std::uint32_t sources, std::uint32_t step,
                    const std::function<void(int, std::uint64_t, std::uint32_t, std::uint32_t)>& work) {
  const std::uint64_t blocks = row_blocks(sources);
  const std::uint64_t taken = std::uint64_t{kBlocksAtATime} * step;
  for_each((blocks + taken - 1) / taken, [&](int worker, std::uint64_t group) {
    for (std::uint64_t b = group * taken; b < std::min(blocks, (group + 1) * taken); b += step) {
      const auto first = static_cast<std::uint32_t>(b * ExchangePlan::kRowBlock);
      work(worker, b, first, std::min(sources, first + ExchangePlan::kRowBlock));
    }
  });
}

}  // namespace

Arrivals order_arrivals(const OwnVertices& own, std::span<const std::uint32_t> entries,
                        std::span<const std::uint32_t> slots_of, int peer) {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> entry_at(own.count(), kNone);
  for (std::uint32_t e = 0; e < entries.size(); ++e) {
    if (entries[e] >= own.count() || entry_at[own.indexes()[entries[e]]] != kNone) {
      throw Error(
          fmt::format("rank {} sent a faulty exchange plan: vertex {} of {}", peer, entries[e], own.count()));
    }
    entry_at[own.indexes()[entries[e]]] = e;
  }
  Arrivals arrivals;
  arrivals.positions.resize(entries.size());
  arrivals.targets.reserve(entries.size());
  std::uint32_t position = 0;
  for (std::uint32_t i = 0; i < own.count(); ++i) {
    if (entry_at[i] == kNone) continue;
    arrivals.positions[entry_at[i]] = position++;
    arrivals.targets.insert(arrivals.targets.end(), slots_of.empty() ? 1 : slots_of[entry_at[i]], i);
  }
  return arrivals;
}

ExchangePlan::ExchangePlan(const graph::GraphFile& graph, const Ownership& ownership, int rank,
                           const OwnVertices& own, Strategy strategy, int workers, const ForEach& for_each)
    : graph_(graph),
      ownership_(ownership),
      own_(own),
      rank_(static_cast<std::uint32_t>(rank)),
      strategy_(strategy),
      lists_(strategy == Strategy::worker ? workers : 1),
      index_(ownership, ownership.processes() == 1 ? 0 : lists_) {
  const int processes = ownership.processes();
  if (strategy == Strategy::cover) {
    covers_ = cover_pairs(graph, ownership, rank, own, for_each);
    mark_covers();
  } else if (processes > 1) {
    const auto lists = static_cast<std::uint32_t>(lists_);
    for_each_block(
        for_each, own.count(), 1, [&](int, std::uint64_t, std::uint32_t first, std::uint32_t last) {
          visit_remote_edges(graph, ownership, rank_, first, last, [&](std::uint32_t local, Place place) {
            index_.mark(static_cast<int>(local % lists), place);
          });
        });
  }
  index_.seal();
  first_entries_.push_back(0);
  for (int p = 0; p < processes; ++p) {
    for (int list = 0; list < streams_per_peer(strategy, workers); ++list) {
      Stream stream;
      stream.peer = p;
      stream.list = list;
      stream.mirrors = list >= lists_;
      if (p != rank) {
        stream.entries = stream.slots = stream.mirrors ? static_cast<std::uint32_t>(mirrors(p).size())
                                                       : index_.count(list, static_cast<std::uint32_t>(p));
      }
      streams_.push_back(stream);
      first_entries_.push_back(first_entries_.back() + (stream.mirrors ? 0 : stream.entries));
    }
  }
  if (strategy == Strategy::edge) count_slots();
}

void ExchangePlan::mark_covers() {
  mirrored_words_ = (own_.count() + std::size_t{63}) / 64;
  mirrored_.resize(covers_.size() * mirrored_words_);
  for (std::uint32_t p = 0; p < covers_.size(); ++p) {
    for (const auto local : covers_[p].sums) index_.mark(0, {p, local});
    for (const auto i : covers_[p].mirrors) {
      mirrored_[p * mirrored_words_ + i / 64] |= std::uint64_t{1} << (i % 64);
    }
  }
}

std::span<const std::uint32_t> ExchangePlan::mirrors(int peer) const noexcept {
  if (covers_.empty()) return {};
  return covers_[static_cast<std::size_t>(peer)].mirrors;
}

std::uint64_t ExchangePlan::matching() const noexcept {
  return std::accumulate(covers_.begin(), covers_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const PairCover& cover) { return sum + cover.matching; });
}

/// Strategy `edge`: every edge has a slot.
void ExchangePlan::count_slots() {
  std::vector<std::uint64_t> slots(streams_.size());
  slots_of_.resize(first_entries_.back());
  visit_remote_edges(graph_, ownership_, rank_, 0, own_.count(), [&](std::uint32_t, Place place) {
    ++slots_of_[first_entries_[place.owner] + index_.entry(0, place)];
    ++slots[place.owner];
  });
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    if (slots[s] > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(
          fmt::format("strategy edge: {} values for rank {}, more than 2^32", slots[s], streams_[s].peer));
    }
    streams_[s].slots = static_cast<std::uint32_t>(slots[s]);
  }
}

std::vector<std::uint32_t> ExchangePlan::entries(std::size_t stream) const {
  const Stream& s = streams_[stream];
  return s.entries == 0 ? std::vector<std::uint32_t>{}
                        : index_.members(s.list, static_cast<std::uint32_t>(s.peer));
}

std::span<const std::uint32_t> ExchangePlan::slots_of(std::size_t stream) const noexcept {
  if (slots_of_.empty()) return {};
  return {&slots_of_[first_entries_[stream]], streams_[stream].entries};
}

void ExchangePlan::place(std::size_t stream, std::span<const std::uint32_t> positions) {
  const Stream& s = streams_[stream];
  if (s.mirrors) return;
  destination_of_.resize(first_entries_.back());
  std::vector<bool> taken(s.entries);
  for (std::uint32_t e = 0; e < s.entries; ++e) {
    if (positions[e] >= s.entries || taken[positions[e]]) {
      throw Error(fmt::format("rank {} sent a faulty order of slots: position {}", s.peer, positions[e]));
    }
    taken[positions[e]] = true;
    destination_of_[first_entries_[stream] + e] = positions[e];
  }
}

void ExchangePlan::finish(const ForEach& for_each) {
  std::uint64_t next = own_.count();
  for (auto& stream : streams_) {
    if (stream.mirrors) continue;
    stream.first_destination = static_cast<std::uint32_t>(next);
    next += stream.slots;
  }
  if (next > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(fmt::format("{} destinations in one process, more than 2^32: use more processes", next));
  }
  destinations_ = static_cast<std::uint32_t>(next);
  for_each(streams_.size(), [&](int, std::uint64_t s) {
    const Stream& stream = streams_[s];
    if (stream.mirrors) return;
    std::uint32_t* destination = destination_of_.data() + first_entries_[s];
    if (slots_of_.empty()) {
      for (std::uint32_t e = 0; e < stream.entries; ++e) destination[e] += stream.first_destination;
      return;
    }
    const std::uint32_t* slots = slots_of_.data() + first_entries_[s];
    std::vector<std::uint32_t> first(stream.entries + std::size_t{1});
    for (std::uint32_t e = 0; e < stream.entries; ++e) first[destination[e] + 1] = slots[e];
    std::partial_sum(first.begin(), first.end(), first.begin());
    for (std::uint32_t e = 0; e < stream.entries; ++e) {
      destination[e] = stream.first_destination + first[destination[e]];
    }
  });
  if (strategy_ == Strategy::edge) number_edges();
}

/// Strategy `edge`: the edges of a destination take its slots one after the other, in row order. One thread,
/// so that the numbering is the same in every run.
void ExchangePlan::number_edges() {
  auto next = destination_of_;
  const auto offsets = graph_.offsets();
  const auto targets = graph_.targets();
  ownership_.visit([&](const auto& scheme) {
    for (std::uint32_t i = 0; i < own_.count(); ++i) {
      if (i % kRowBlock == 0) edge_starts_.push_back(edge_destinations_.size());
      const std::uint32_t v = own_.ids()[i];
      for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) {
        const Place place = scheme.place(targets[e]);
        if (place.owner == rank_) continue;
        edge_destinations_.push_back(next[first_entries_[place.owner] + index_.entry(0, place)]++);
      }
    }
  });
}

std::vector<std::uint32_t> ExchangePlan::slot_ids(std::size_t stream) const {
  const std::vector<std::uint32_t> locals = entries(stream);
  std::vector<std::uint32_t> ids(streams_[stream].slots);
  for (std::size_t e = 0; e < locals.size(); ++e) {
    const std::uint64_t at = first_entries_[stream] + e;
    const std::uint32_t slot = destination_of_[at] - streams_[stream].first_destination;
    std::fill_n(ids.begin() + slot, slots_of_.empty() ? 1 : slots_of_[at], locals[e]);
  }
  return ids;
}

void ExchangePlan::read(std::uint32_t first, std::uint32_t last, std::vector<std::uint32_t>& destinations,
                        std::vector<std::uint32_t>& ends) const {
  const auto offsets = graph_.offsets();
  const auto targets = graph_.targets();
  const auto ids = own_.ids();
  const auto indexes = own_.indexes();
  // In degree order the rows of a block lie anywhere in the file: fetch their beginnings side by side.
  for (std::uint32_t i = last; i < std::min(last + kRowBlock, own_.count()); ++i)
    __builtin_prefetch(&offsets[ids[i]]);
  for (std::uint32_t i = first; i < last; ++i) __builtin_prefetch(targets.data() + offsets[ids[i]]);
  const std::uint32_t* edge_destination =
      edge_starts_.empty() ? nullptr : edge_destinations_.data() + edge_starts_[first / kRowBlock];
  const std::size_t streams = streams_.size() / static_cast<std::size_t>(ownership_.processes());
  ownership_.visit([&](const auto& scheme) {
    for (std::uint32_t i = first; i < last; ++i) {
      const std::uint32_t v = ids[i];
      const std::uint32_t list = lists_ == 1 ? 0 : scheme.place(v).local % static_cast<std::uint32_t>(lists_);
      const std::uint64_t begin = offsets[v];
      const std::uint64_t count = offsets[v + 1] - begin;
      const std::size_t before = destinations.size();
      destinations.resize(before + count);
      std::uint32_t* next = destinations.data() + before;
      for (std::uint64_t e = begin; e < begin + count; ++e) {
        const Place place = scheme.place(targets[e]);
        if (place.owner == rank_) {
          *next++ = indexes[place.local];
        } else if (edge_destination != nullptr) {
          *next++ = *edge_destination++;
        } else if (mirrored_.empty() || !mirrored(place.owner, i)) {
          const std::size_t stream = place.owner * streams + list;
          *next++ = destination_of_[first_entries_[stream] + index_.entry(static_cast<int>(list), place)];
        }
      }
      destinations.resize(static_cast<std::size_t>(next - destinations.data()));
      ends.push_back(static_cast<std::uint32_t>(destinations.size()));
    }
  });
}

std::vector<std::uint32_t> ExchangePlan::cut_columns(std::uint32_t width, std::uint64_t edges_per_column,
                                                     const ForEach& for_each) const {
  constexpr std::uint32_t kGranule = 64;
  constexpr std::uint32_t kStep = 8;
  const std::uint32_t step = row_blocks(own_.count()) < 1024 ? 1 : kStep;
  std::vector<std::uint32_t> counts(destinations_ / kGranule + 1);
  for_each_block(
      for_each, own_.count(), step, [&](int, std::uint64_t, std::uint32_t first, std::uint32_t last) {
        thread_local std::vector<std::uint32_t> destinations, ends;
        destinations.clear();
        ends.clear();
        read(first, last, destinations, ends);
        for (const auto d : destinations) {
          // An addition that another worker overwrites would change the columns from run to run.
          std::atomic_ref<std::uint32_t>(counts[d / kGranule]).fetch_add(1, std::memory_order_relaxed);
        }
      });
  std::vector<std::uint32_t> bounds{0};
  const auto cut = [&](std::uint32_t begin, std::uint32_t end) {
    std::uint64_t edges = 0;
    for (std::uint32_t d = begin; d < end;) {
      const std::uint32_t next = std::min(end, (d / kGranule + 1) * kGranule);
      const std::uint64_t more = std::uint64_t{counts[d / kGranule]} * step;
      if (d > bounds.back() && (next - bounds.back() > width || edges + more > edges_per_column)) {
        bounds.push_back(d);
        edges = 0;
      }
      edges += more;
      d = next;
    }
    if (end > begin) bounds.push_back(end);
  };
  cut(0, own_.count());
  for (const auto& stream : streams_) {
    if (!stream.mirrors) cut(stream.first_destination, stream.first_destination + stream.slots);
  }
  return bounds;
}

}  // namespace edgewire::plan
