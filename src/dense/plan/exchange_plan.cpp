#include "dense/plan/exchange_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/release.h"
#include "partition/column_addresses.h"

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kBlocksAtATime = 64;  // number of row blocks that a worker takes at a time

std::uint64_t row_blocks(std::uint32_t sources) {
  return (sources + std::uint64_t{kRowBlock} - 1) / kRowBlock;
}

/// Calls work(worker, first row, last row) for every block of rows, or every `step`-th.
void for_each_block(const ForEach& for_each, std::uint32_t sources, std::uint32_t step,
                    const std::function<void(int, std::uint32_t, std::uint32_t)>& work) {
  const std::uint64_t blocks = row_blocks(sources);
  const std::uint64_t taken = std::uint64_t{kBlocksAtATime} * step;
  for_each((blocks + taken - 1) / taken, [&](int worker, std::uint64_t group) {
    for (std::uint64_t b = group * taken; b < std::min(blocks, (group + 1) * taken); b += step) {
      const auto first = static_cast<std::uint32_t>(b * kRowBlock);
      work(worker, first, std::min(sources, first + kRowBlock));
    }
  });
}

}  // namespace

Arrivals order_arrivals(const OwnedVertices& owned, std::span<const LocalNumber> entries,
                        std::span<const std::uint32_t> slots_of, int peer) {
  NumberedBy<OwnedIndex, std::vector<std::uint32_t>> entry_at(owned.count(), partition::kNoDestination);
  for (std::uint32_t e = 0; e < entries.size(); ++e) {
    if (entries[e] >= owned.count() || entry_at[owned.indexes()[entries[e]]] != partition::kNoDestination)
      throw Error(fmt::format("rank {} sent a faulty exchange plan: vertex {} of {}", peer,
                              std::uint32_t{entries[e]}, owned.count()));
    entry_at[owned.indexes()[entries[e]]] = e;
  }
  Arrivals arrivals;
  arrivals.positions.resize(entries.size());
  arrivals.targets.reserve(entries.size());
  std::uint32_t position = 0;
  for (OwnedIndex i{}; i < owned.count(); ++i) {
    if (entry_at[i] == partition::kNoDestination) continue;
    arrivals.positions[entry_at[i]] = position++;
    arrivals.targets.insert(arrivals.targets.end(), slots_of.empty() ? 1 : slots_of[entry_at[i]], i);
  }
  return arrivals;
}

ExchangePlan::ExchangePlan(const partition::OwnedRows& rows, const partition::Ownership& ownership, int rank,
                           OwnedVertices owned, Strategy strategy, int workers, const ForEach& for_each,
                           bool weighted, const FreeEdges& free_edges)
    : rows_(rows),
      ownership_(ownership),
      filter_(ownership),
      owned_(std::move(owned)),
      rank_(static_cast<std::uint32_t>(rank)),
      strategy_(strategy),
      weighted_(weighted),
      workers_(static_cast<std::size_t>(workers)),
      lists_(strategy == Strategy::worker ? static_cast<std::uint32_t>(workers) : 1),
      first_remote_(owned_.count()) {
  if (strategy == Strategy::cover && ownership.processes() > 1) {
    covers_ = PairCovers(rows, ownership, rank, owned_, workers, for_each, weighted);
    whole_.assign(covers_.size() + 1, Bits(owned_.count()));
  }
  for (int p = 0; p < ownership.processes(); ++p) {
    for (int list = 0; list < streams_per_peer(strategy, workers); ++list) {
      Stream stream;
      stream.peer = p;
      stream.list = list;
      stream.mirrors = static_cast<std::uint32_t>(list) >= lists_;
      if (stream.mirrors) stream.entries = stream.slots = static_cast<std::uint32_t>(mirrors(p).size());
      streams_.push_back(stream);
    }
  }
  entries_.resize(streams_.size());
  if (ownership.processes() == 1) return;
  find_entries(for_each);
  if (strategy == Strategy::edge) count_slots();
  if (!covers_.empty()) move_edges(free_edges, for_each);
}

/// Calls take() for the vertices that have destinations, as far as they are known before the peers are asked:
/// the owned ones, and of the others those whose sums are sent.
template <class Take>
void ExchangePlan::reach(std::size_t list, const ForEach& for_each, const Take& take) const {
  for_each_block(for_each, owned_.count(), 1, [&](int, std::uint32_t first, std::uint32_t last) {
    ownership_.visit([&](const auto& scheme) {
      for (LocalNumber local(first); local < last; ++local) {
        const VertexId v = scheme.vertex(rank_, local);
        take(v);
        if (!covers_.empty() || local % lists_ != list) continue;
        for (const VertexId target : rows_.row(v)) take(target);
      }
    });
  });
  for_each(covers_.size(), [&](int, std::uint64_t p) {
    ownership_.visit([&](const auto& scheme) {
      for (const LocalNumber local : covers_[p].sums)
        take(scheme.vertex(static_cast<std::uint32_t>(p), local));
    });
  });
}

/// Finds the distinct destinations of each stream of sums.
void ExchangePlan::find_entries(const ForEach& for_each) {
  for (std::size_t list = 0; list < lists_; ++list)
    destination_of_.emplace_back(partition::VertexSet(ownership_.vertices(), owned_.count(),
                                                      [&](const auto& take) { reach(list, for_each, take); }),
                                 ownership_.vertices(), owned_.count());
  for_each(streams_.size(), [&](int, std::uint64_t s) {
    Stream& stream = streams_[s];
    if (stream.mirrors) return;
    const auto peer = static_cast<std::uint32_t>(stream.peer);
    auto& numbers = destination_of_[stream.list];
    auto& entries = entries_[s];
    ownership_.visit([&](const auto& scheme) {
      if (peer == rank_) {
        for (LocalNumber local{}; local < owned_.count(); ++local)
          numbers[scheme.vertex(peer, local)] = owned_.indexes()[local];
        return;
      }
      if (covers_.empty()) {
        for (LocalNumber local{}; local < scheme.count(peer); ++local)
          if (numbers.has(scheme.vertex(peer, local))) entries.push_back(local);
      } else {
        entries = covers_[peer].sums;
      }
      stream.entries = stream.slots = static_cast<std::uint32_t>(entries.size());
      for (std::uint32_t e = 0; e < entries.size(); ++e) numbers[scheme.vertex(peer, entries[e])] = e;
    });
  });
}

void ExchangePlan::move_edges(const FreeEdges& free_edges, const ForEach& for_each) {
  std::vector<std::vector<OwnedIndex>> whole;
  const auto free = free_edges ? free_edges(covers_, edges()) : std::vector<std::uint64_t>(covers_.size());
  moved_ = covers_.take_moved(owned_, free, whole, for_each);
  for (std::uint32_t p = 0; p < covers_.size(); ++p) {
    for (const auto i : whole[p]) {
      whole_[p].add(i);
      whole_.back().add(i);
    }
  }
}

std::uint64_t ExchangePlan::matching() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t p = 0; p < covers_.size(); ++p) sum += covers_[p].matching;
  return sum;
}

/// Sets the numbers of destinations. numbers(entry) is where the destination of an entry of a stream of sums
/// is kept.
template <class Number>
void ExchangePlan::for_each_entry(std::size_t stream, const Number& number) {
  const Stream& s = streams_[stream];
  if (s.entries == 0) return;
  auto& numbers = destination_of_[s.list];
  ownership_.visit([&](const auto& scheme) {
    for (std::uint32_t e = 0; e < s.entries; ++e)
      number(e, numbers[scheme.vertex(static_cast<std::uint32_t>(s.peer), entries_[stream][e])]);
  });
}

void ExchangePlan::place(std::size_t stream, std::span<const std::uint32_t> positions) {
  const Stream& s = streams_[stream];
  std::vector<bool> taken(s.entries);
  for_each_entry(stream, [&](std::uint32_t e, std::uint32_t& number) {
    if (positions[e] >= s.entries || taken[positions[e]])
      throw Error(fmt::format("rank {} sent a faulty order of slots: position {}", s.peer, positions[e]));
    taken[positions[e]] = true;
    number = positions[e];
  });
}

/// Gives the streams their destinations, when the positions are known.
void ExchangePlan::number_slots(const ForEach& for_each) {
  std::uint64_t next = owned_.count();
  for (auto& stream : streams_) {
    if (stream.mirrors) continue;
    stream.first_destination = static_cast<std::uint32_t>(next);
    next += stream.slots;
  }
  if (next > std::numeric_limits<std::uint32_t>::max())
    throw Error(fmt::format("{} destinations in one process, more than 2^32: use more processes", next));
  destinations_ = static_cast<std::uint32_t>(next);
  for_each(streams_.size(), [&](int, std::uint64_t s) {
    const Stream& stream = streams_[s];
    if (stream.mirrors) return;
    if (slots_of_.empty()) {
      for_each_entry(s, [&](std::uint32_t, std::uint32_t& number) { number += stream.first_destination; });
      return;
    }
    std::vector<std::uint32_t> first(stream.entries + std::size_t{1});
    for_each_entry(s,
                   [&](std::uint32_t e, std::uint32_t position) { first[position + 1] = slots_of_[s][e]; });
    std::partial_sum(first.begin(), first.end(), first.begin());
    for_each_entry(
        s, [&](std::uint32_t, std::uint32_t& number) { number = stream.first_destination + first[number]; });
  });
  if (strategy_ == Strategy::edge) find_slot_sources();
}

NumberedBy<Slot, std::vector<LocalNumber>> ExchangePlan::slot_ids(std::size_t stream) const {
  const Stream& s = streams_[stream];
  NumberedBy<Slot, std::vector<LocalNumber>> ids(s.slots);
  for (std::size_t e = 0; e < s.entries; ++e) {
    const LocalNumber local = entries_[stream][e];
    const VertexId v = ownership_.vertex(static_cast<std::uint32_t>(s.peer), local);
    const std::uint32_t slot = destination_of_[s.list][v] - s.first_destination;
    std::fill_n(ids.begin() + slot, slots_of_.empty() ? 1 : slots_of_[stream][e], local);
  }
  return ids;
}

void ExchangePlan::forget_slots() {
  release(entries_);
  release(slots_of_);
  release(slot_sources_);
  release(slot_weights_);
}

/// Prefetches the rows of the vertices behind `last`: in degree order they lie anywhere.
void ExchangePlan::fetch(std::uint32_t last) const noexcept {
  const auto ids = owned_.ids();
  const std::uint32_t ahead = std::min(last + kRowBlock, owned_.count());
  for (OwnedIndex i(ahead); i < std::min(ahead + kRowBlock, owned_.count()); ++i) rows_.fetch_range(ids[i]);
  rows_.fetch(ids.subspan(last, ahead - last));
}

void ExchangePlan::read(std::uint32_t first, std::uint32_t last, EdgeRows& rows) const {
  fetch(last);
  if (weighted_) return read_weighted(first, last, rows);
  auto& ends = rows.ends;
  const PlainId* const targets = plain(rows_.targets()).data();
  const auto ids = owned_.ids();
  const auto room = rows.room_for_ids(owned_.edges(first, last) + OwnerFilter::kSlack);
  ends.clear();
  PlainId* next = room.data();
  std::array<std::uint8_t, partition::kMaxProcesses> kept;
  for (OwnedIndex i(first); i < last; ++i) {
    const partition::EdgeRange range = rows_.range(ids[i]);
    const PlainId* const begin = targets + range.begin;
    const PlainId* const end = targets + range.end;
    if (covers_.empty() || !whole_.back().test(i)) {
      next = std::copy(begin, end, next);
    } else {
      for (std::size_t p = 0; p < covers_.size(); ++p) kept[p] = whole_[p].test(i) ? 0 : 1;
      next = filter_.pick(numbered<VertexId>({begin, end}), std::span(kept).first(covers_.size()), next);
    }
    ends.push_back(static_cast<std::uint32_t>(next - room.data()));
  }
  const std::span found(room.data(), next);
  const auto numbers = std::span(rows.destinations).first(found.size());
  if (!covers_.empty()) {  // an edge without a destination here: its sum is not sent, the peer has a mirror
    partition::look_up_below(partition::kNoDestination, destination_of_[0], found, numbers, ends);
  } else if (has_edge_slots()) {
    partition::look_up_below(first_remote_, destination_of_[0], found, numbers, ends);
  } else {
    number(first, found, numbers, ends);
  }
  rows.destinations.resize(ends.empty() ? 0 : ends.back());
}

/// Does the same as read(), edge by edge.
void ExchangePlan::read_weighted(std::uint32_t first, std::uint32_t last, EdgeRows& rows) const {
  rows.destinations.clear();
  rows.ends.clear();
  rows.weights.clear();
  const auto targets = rows_.targets();
  const graph::Weights weights = rows_.weights();
  // An edge whose destination is not below it is computed by the peer, or has a slot of its own.
  const std::uint64_t limit = !covers_.empty()   ? partition::kNoDestination
                              : has_edge_slots() ? first_remote_
                                                 : std::uint64_t{partition::kNoDestination} + 1;
  for (OwnedIndex i(first); i < last; ++i) {
    const VertexId v = owned_.ids()[i];
    const auto list = lists_ == 1 ? 0 : ownership_.home(v).local % lists_;
    const bool moved = !covers_.empty() && whole_.back().test(i);
    const partition::EdgeRange range = rows_.range(v);
    for (std::uint64_t e = range.begin; e < range.end; ++e) {
      const VertexId target = targets[e];
      const std::uint32_t number =
          destination_of_.empty() ? numbers_alone()[target] : std::as_const(destination_of_[list])[target];
      if (number >= limit || (moved && whole_[ownership_.home(target).owner].test(i))) continue;
      rows.destinations.push_back(number);
      rows.weights.push_back(weights[e]);
    }
    rows.ends.push_back(static_cast<std::uint32_t>(rows.destinations.size()));
  }
}

/// Finds the destinations of the targets of the rows from `first` on.
void ExchangePlan::number(std::uint32_t first, std::span<const PlainId> targets,
                          std::span<std::uint32_t> numbers, std::span<const std::uint32_t> ends) const {
  if (destination_of_.empty()) {
    partition::look_up<PlainId>(numbers_alone(), targets, numbers);  // a vertex has its local number as id
  } else if (destination_of_.size() == 1) {
    partition::look_up(destination_of_[0], targets, numbers);
  } else {
    std::uint32_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const auto list =
          ownership_.home(owned_.ids()[OwnedIndex(static_cast<std::uint32_t>(first + i))]).local % lists_;
      partition::look_up(destination_of_[list], targets.subspan(begin, ends[i] - begin),
                         numbers.subspan(begin, ends[i] - begin));
      begin = ends[i];
    }
  }
}

std::vector<std::uint32_t> ExchangePlan::cut_columns(std::uint32_t width, std::uint64_t edges_per_column,
                                                     const ForEach& for_each,
                                                     std::vector<std::uint64_t>* edges) const {
  constexpr std::uint32_t kStep = 16;
  const std::uint32_t step = row_blocks(owned_.count()) < 1024 ? 1 : kStep;
  struct Sample {
    EdgeRows rows;
    std::vector<std::uint32_t> counts;
  };
  std::vector<Sample> samples(workers_);
  for_each_block(for_each, owned_.count(), step, [&](int worker, std::uint32_t first, std::uint32_t last) {
    Sample& sample = samples[worker];
    sample.counts.resize(destinations_ / partition::kColumnGranule + 1);
    read(first, last, sample.rows);
    for (const auto d : sample.rows.destinations) ++sample.counts[d / partition::kColumnGranule];
  });
  std::vector<std::uint64_t> counts(destinations_ / partition::kColumnGranule + 1);
  for (const auto& sample : samples)
    for (std::size_t g = 0; g < sample.counts.size(); ++g)
      counts[g] += std::uint64_t{sample.counts[g]} * step;
  std::vector<std::uint32_t> bounds{0};
  partition::cut_columns(bounds, 0, owned_.count(), width, edges_per_column, counts);
  for (const auto& stream : streams_) {
    if (stream.mirrors) continue;
    partition::cut_columns(bounds, stream.first_destination, stream.first_destination + stream.slots, width,
                           edges_per_column, counts);
  }
  if (edges != nullptr) *edges = partition::edges_of_columns(bounds, counts);
  return bounds;
}

void ExchangePlan::put_in_order(
    const std::function<std::span<const std::uint32_t>(std::size_t stream)>& positions,
    const ForEach& for_each) {
  for (std::size_t s = 0; s < streams_.size(); ++s)
    if (!streams_[s].mirrors && streams_[s].entries > 0) place(s, positions(s));
  number_slots(for_each);
  moved_ = {};
}

void ExchangePlan::to_addresses(std::span<const std::uint32_t> bounds, const ForEach& for_each) {
  if (destination_of_.empty()) {
    addresses_ = owned_.take_indexes();
    partition::to_addresses(addresses_, bounds, for_each);
  }
  for (auto& destinations : destination_of_) partition::to_addresses(destinations.all(), bounds, for_each);
  const auto owned_columns = std::ranges::upper_bound(bounds, sources()) - bounds.begin() - 1;
  first_remote_ = static_cast<std::uint32_t>(owned_columns) << partition::kOffsetBits;
}

topology::PageVector<std::uint32_t> ExchangePlan::owned_addresses() const {
  topology::PageVector<std::uint32_t> addresses(sources());
  ownership_.visit([&](const auto& scheme) {
    for (LocalNumber local{}; local < addresses.size(); ++local)
      addresses[local] = destination_of_[0][scheme.vertex(rank_, local)];
  });
  return addresses;
}

OwnedVertices ExchangePlan::take_owned(std::span<const std::uint32_t> bounds, const ForEach& for_each) && {
  if (ownership_.processes() == 1) {
    partition::to_destinations(addresses_, bounds, for_each);
    owned_.give_indexes(std::move(addresses_));
  }
  return std::move(owned_);
}

}  // namespace edgewire::plan
