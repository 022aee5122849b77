#include "dense/exchange/exchange.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/error.h"
#include "base/seconds.h"
#include "launch/packing.h"
#include "process/barrier.h"

namespace edgewire::exchange {

namespace {

constexpr std::size_t kPiece = 1 << 20;  // bytes of one write during the setup
using launch::pack;
using launch::unpack;
using plan::Strategy;

std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

std::size_t list_bytes(std::span<const StreamCounts> lists) {
  std::size_t words = 0;
  for (const auto& list : lists) words += list.words;
  return words * sizeof(std::uint32_t);
}

/// Returns the bytes of the answer to the lists.
std::size_t position_bytes(std::span<const StreamCounts> lists) {
  std::size_t entries = 0;
  for (const auto& list : lists) entries += list.entries;
  return entries * sizeof(std::uint32_t);
}

/// Writes the description of a stream for a peer: the local numbers of its entries and, where they differ,
/// their numbers of slots; after mirrors, the edges that it computes. Returns the end.
std::uint32_t* describe(const plan::ExchangePlan& plan, std::size_t s,
                        const NumberedBy<OwnedIndex, std::vector<LocalNumber>>& locals, std::uint32_t* out) {
  const plan::Stream& stream = plan.streams()[s];
  if (stream.mirrors) {
    for (const OwnedIndex i : plan.mirrors(stream.peer)) *out++ = locals[i];
    return std::ranges::copy(plan.moved(stream.peer), out).out;
  }
  out = std::ranges::copy(plan.entries(s), out).out;
  return std::ranges::copy(plan.slots_of(s), out).out;
}

}  // namespace

Exchange::Exchange(launch::Bootstrap& bootstrap, transport::Transport& link, Strategy strategy,
                   plan::Encoding encoding, int lanes, std::size_t streams)
    : bootstrap_(bootstrap),
      link_(link),
      strategy_(strategy),
      encoding_(encoding),
      value_(plan::value_size(strategy, encoding)),
      lanes_(lanes),
      lists_(static_cast<int>(streams) / bootstrap.size()),
      writes_(static_cast<std::size_t>(lanes) * static_cast<std::size_t>(bootstrap.size())),
      stalled_ns_(writes_.size()) {}

Exchange Exchange::agree(launch::Bootstrap& bootstrap, transport::Transport& link, plan::ExchangePlan& plan,
                         plan::Encoding encoding, int lanes, const ForEach& for_each) {
  Exchange exchange(bootstrap, link, plan.strategy(), encoding, lanes, plan.streams().size());
  const auto out = exchange.count_lists(plan);
  const auto in = exchange.tell_counts(out);
  exchange.agree_on_regions(out, in);
  exchange.agree_on_order(plan, out, in, for_each);
  exchange.set_streams(plan);
  plan.forget_slots();
  return exchange;
}

Exchange::Exchange(launch::Bootstrap& bootstrap, transport::Transport& link,
                   std::vector<IncomingStream> incoming, std::vector<OutgoingStream> outgoing,
                   Strategy strategy, plan::Encoding encoding, int lanes)
    : Exchange(bootstrap, link, strategy, encoding, lanes, outgoing.size()) {
  incoming_ = std::move(incoming);
  outgoing_ = std::move(outgoing);
  std::vector<StreamCounts> out;
  // There is nothing to agree on.
  for (const auto& stream : outgoing_) out.push_back({.slots = stream.slots});
  const auto in = tell_counts(out);
  for (std::size_t s = 0; s < in.size(); ++s) {
    if (static_cast<int>(s) / lists_ != rank() && in[s].slots != incoming_[s].slots())
      throw Error(fmt::format("rank {} has another exchange plan", s / lists_));
  }
  agree_on_regions(out, in);
  place_streams();
}

std::vector<StreamCounts> Exchange::count_lists(const plan::ExchangePlan& plan) const {
  std::vector<StreamCounts> out;
  for (std::size_t s = 0; s < plan.streams().size(); ++s) {
    const plan::Stream& stream = plan.streams()[s];
    const std::size_t more = stream.mirrors ? plan.moved(stream.peer).size() : plan.slots_of(s).size();
    out.push_back({stream.entries, stream.slots, stream.entries + more});
  }
  return out;
}

std::vector<StreamCounts> Exchange::tell_counts(const std::vector<StreamCounts>& out) {
  std::vector<std::string> counts(size());
  for (std::size_t s = 0; s < out.size(); ++s) counts[s / lists_] += pack(std::vector{out[s]});
  const auto answers = bootstrap_.alltoall(counts);
  std::vector<StreamCounts> in;
  for (int p = 0; p < size(); ++p) {
    const auto lists = unpack<StreamCounts>(answers[p], p, lists_);
    in.insert(in.end(), lists.begin(), lists.end());
  }
  return in;
}

void Exchange::agree_on_regions(const std::vector<StreamCounts>& out, const std::vector<StreamCounts>& in) {
  std::vector<std::size_t> slot_bytes(size());
  std::size_t send_bytes = 2 * kScalarsBytes;
  for (int p = 0; p < size(); ++p) {
    const auto from = std::span(in).subspan(p * lists_, lists_);
    const auto to = std::span(out).subspan(p * lists_, lists_);
    const auto bytes_of = [&](std::span<const StreamCounts> streams) {
      std::size_t bytes = 0;
      for (const StreamCounts& stream : streams) bytes += stream_bytes(stream.slots);
      return round_up(bytes);
    };
    inbox_bytes_from_.push_back(bytes_of(from));
    inbox_bytes_to_.push_back(bytes_of(to));
    slot_bytes[p] = std::max(2 * inbox_bytes_from_[p], list_bytes(from) + position_bytes(to));
    send_bytes += std::max(inbox_bytes_to_[p], round_up(list_bytes(to)));
  }
  channel::RegionPlan plan(size());
  scalars_part_ = plan.add("scalars", std::vector(size(), 2 * kScalarsBytes));
  slots_part_ = plan.add("slots", std::move(slot_bytes));
  region_ = plan.expose(bootstrap_, link_);
  const auto memory = link_.send_memory(send_bytes + static_cast<std::size_t>(lanes_) * kNearBytes);
  send_ = memory.first(send_bytes);
  near_ = memory.subspan(send_bytes);
}

/// The entries of each stream go into the part of the region that will be the inboxes; the receiver
/// overwrites them with their positions and writes these back, behind the entries that it gets itself.
/// (Mirrors keep their order: their entries come back as they are.)
void Exchange::agree_on_order(plan::ExchangePlan& plan, const std::vector<StreamCounts>& out,
                              const std::vector<StreamCounts>& in, const ForEach& for_each) {
  send_entries(plan);
  wait_for_setup(1);
  std::vector<std::size_t> starts(in.size());  // start of each incoming list in the region
  for (std::size_t s = 0; s < in.size(); ++s)
    starts[s] = s % lists_ == 0 ? region_.offset(slots_part_, static_cast<int>(s) / lists_)
                                : starts[s - 1] + list_bytes(std::span(in).subspan(s - 1, 1));
  incoming_.resize(in.size());
  moved_here_.resize(size());
  for_each(in.size(), [&](int, std::uint64_t s) {
    if (static_cast<int>(s) / lists_ != rank() && in[s].entries > 0)
      order_stream(s, plan.streams()[s].mirrors,
                   reinterpret_cast<std::uint32_t*>(region_.bytes().data() + starts[s]), in[s], plan.owned());
  });
  for (int p = 0; p < size(); ++p) {
    if (p == rank()) continue;
    // The peer's part for us begins with our own lists.
    std::size_t remote =
        region_.remote_offset(slots_part_, p) + list_bytes(std::span(out).subspan(p * lists_, lists_));
    for (int l = 0; l < lists_; ++l) {
      const std::size_t bytes = in[p * lists_ + l].entries * sizeof(std::uint32_t);
      write_setup(p, remote, region_.bytes().subspan(starts[p * lists_ + l], bytes));
      remote += bytes;
    }
    if (!signal(0, p, kSetupKind, 2)) throw Error(health().message());
    ++setup_messages_;
  }
  wait_for_setup(2);
  process::barrier(bootstrap_, link_);
  // The answers stand behind the peer's last list.
  plan.put_in_order(
      [&](std::size_t s) {
        const std::size_t first = s / lists_ * lists_;
        std::size_t at = starts[first] + list_bytes(std::span(in).subspan(first, lists_)) +
                         position_bytes(std::span(out).subspan(first, s - first));
        return std::span(reinterpret_cast<const std::uint32_t*>(region_.bytes().data() + at), out[s].entries);
      },
      for_each);
  // The region is still the source of the positions that we sent.
  wait_for_setup_writes();
}

void Exchange::wait_for_setup_writes() {
  link_.ring_doorbell(0);
  wait_until([this] { return all_have_left(0); });
}

void Exchange::write_setup(int peer, std::size_t offset, std::span<const std::byte> source) {
  for (std::size_t at = 0; at < source.size(); at += kPiece) {
    if (!write(0, peer, offset + at, source.subspan(at, std::min(kPiece, source.size() - at))))
      throw Error(health().message());
  }
}

void Exchange::wait_for_setup(std::uint64_t count) {
  wait_until([&] { return all_peers([&](int p) { return link_.signalled(p, kSetupKind) >= count; }); });
}

void Exchange::send_entries(const plan::ExchangePlan& plan) {
  const auto& owned = plan.owned();
  NumberedBy<OwnedIndex, std::vector<LocalNumber>> locals;
  if (strategy_ == Strategy::cover) {
    locals.resize(owned.count());
    for (LocalNumber local{}; local < owned.count(); ++local) locals[owned.indexes()[local]] = local;
  }
  std::size_t send_at = 0;
  for (int p = 0; p < size(); ++p) {
    if (p == rank()) continue;
    auto* const list = reinterpret_cast<std::uint32_t*>(send_.data() + send_at);
    std::uint32_t* end = list;
    for (int l = 0; l < lists_; ++l) end = describe(plan, p * lists_ + l, locals, end);
    const auto source = std::as_bytes(std::span(list, end));
    send_at += std::max(inbox_bytes_to_[p], round_up(source.size()));
    write_setup(p, region_.remote_offset(slots_part_, p), source);
    if (!signal(0, p, kSetupKind, 1)) throw Error(health().message());
    ++setup_messages_;
  }
}

/// Orders a stream. `list` holds the description, and then the entries' positions.
void Exchange::order_stream(std::size_t s, bool mirrors, std::uint32_t* list, const StreamCounts& counts,
                            const plan::OwnedVertices& owned) {
  const int p = static_cast<int>(s) / lists_;
  const std::size_t least = std::size_t{counts.entries} * (strategy_ == Strategy::edge ? 2 : 1);
  if (mirrors ? counts.words < least : counts.words != least)
    throw Error(fmt::format("rank {} sent a faulty exchange plan", p));
  const auto entries = numbered<LocalNumber>({list, counts.entries});
  if (mirrors) {
    incoming_[s].sources.assign(entries.begin(), entries.end());
    moved_here_[p].assign(list + counts.entries, list + counts.words);
    return;
  }
  const std::span slots_of(list + counts.entries, strategy_ == Strategy::edge ? counts.entries : 0);
  const std::size_t slots =
      slots_of.empty() ? counts.entries : std::accumulate(slots_of.begin(), slots_of.end(), std::size_t{0});
  if (slots != counts.slots) throw Error(fmt::format("rank {} sent a faulty exchange plan", p));
  auto arrivals = plan::order_arrivals(owned, entries, slots_of, p);
  incoming_[s].targets = std::move(arrivals.targets);
  std::copy(arrivals.positions.begin(), arrivals.positions.end(), list);
}

void Exchange::set_streams(const plan::ExchangePlan& plan) {
  for (const auto& stream : plan.streams()) {
    const std::size_t s = outgoing_.size();
    OutgoingStream& out = outgoing_.emplace_back();
    out.mirrors = stream.mirrors;
    out.slots = stream.slots;
    out.first_destination = stream.first_destination;
    if (ids_travel()) out.ids = plan.slot_ids(s);
    const auto sources = stream.mirrors ? plan.mirrors(stream.peer) : plan.slot_sources(s);
    out.indexes.assign(sources.begin(), sources.end());
    const auto weights = plan.slot_weights(s);
    out.weights.assign(weights.begin(), weights.end());
  }
  place_streams();
}

std::size_t Exchange::stream_bytes(std::size_t slots) const noexcept {
  // Where values are bits, up to 63 of them stand in front of slot 0.
  return value_.bytes(slots) + (value_.bits % 8 == 0 ? 0 : partition::kColumnGranule / 8);
}

void Exchange::place_streams() {
  std::size_t send_at = 0;
  for (int p = 0; p < size(); ++p) {
    std::size_t in_at = region_.offset(slots_part_, p);
    std::size_t out_at = region_.remote_offset(slots_part_, p);
    const std::size_t send_start = send_at;
    for (int l = 0; l < lists_; ++l) {
      const std::size_t s = p * lists_ + l;
      IncomingStream& in = incoming_[s];
      in.peer = p;
      in.offset = in_at;
      in_at += stream_bytes(in.slots());
      OutgoingStream& out = outgoing_[s];
      out.peer = p;
      in.mirrors = out.mirrors;
      out.remote_offset = out_at;
      out.send_offset = send_at;
      out_at += stream_bytes(out.slots);
      send_at += stream_bytes(out.slots);
    }
    send_at = send_start + round_up(send_at - send_start);
  }
}

void Exchange::wait_until(const std::function<bool()>& done) {
  for (int spins = 0; !done(); ++spins) {
    const bool well = spins < 1000 ? link_.poll() : link_.wait(std::chrono::microseconds(1000));
    if (!well || health().failed()) throw Error(health().message());
  }
}

/// Makes progress until done() holds; false once the job has failed.
template <class Done>
bool Exchange::until(int lane, int peer, const Done& done) noexcept {
  if (done()) return true;
  const auto start = Clock::now();
  do {
    link_.ring_doorbell(lane);
    if (!link_.poll() || health().failed()) return false;
  } while (!done());
  stalled_ns_[lane * size() + peer] +=
      static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count());
  return true;
}

bool Exchange::write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept {
  if (!until(lane, peer, [&] { return link_.write(lane, peer, offset, source); })) return false;
  ++writes_[lane * size() + peer];
  return true;
}

bool Exchange::signal(int lane, int peer, int kind, std::uint64_t count) noexcept {
  if (!until(lane, peer, [&] { return link_.signal(lane, peer, kind, count); })) return false;
  link_.ring_doorbell(lane);
  return true;
}

bool Exchange::wait_completed(int lane, int peer, std::uint64_t done) noexcept {
  return until(lane, peer, [&] { return link_.completed(lane, peer) >= done; });
}

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
