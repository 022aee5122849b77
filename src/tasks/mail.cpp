#include "tasks/mail.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "channel/region_plan.h"

namespace edgewire::tasks {

namespace {

constexpr std::size_t kRecordBytes = 112;  // bytes of a record: with the header of a frame, two cache lines

std::size_t whole_records(std::size_t bytes) {
  return (bytes + kRecordBytes - 1) / kRecordBytes * kRecordBytes;
}

/// Returns the size of a ring: 256 KiB, or less where there are many: all take 256 MiB of a process at most.
std::size_t ring_bytes(std::size_t rings) {
  return std::clamp<std::size_t>((std::size_t{256} << 20) / rings / 64 * 64, 4096, std::size_t{256} << 10);
}

template <class T>
void append(std::vector<std::byte>& bytes, std::span<const T> more) {
  if (more.empty()) return;
  const std::size_t begin = bytes.size();
  bytes.resize(begin + more.size_bytes());
  std::memcpy(bytes.data() + begin, more.data(), more.size_bytes());
}

}  // namespace

Mail::Mail(launch::Bootstrap& bootstrap, transport::Transport& link, int lanes, bool oversubscribed)
    : link_(link),
      health_(bootstrap.health()),
      rank_(bootstrap.rank()),
      size_(bootstrap.size()),
      oversubscribed_(oversubscribed),
      writes_(static_cast<std::size_t>(lanes) * static_cast<std::size_t>(size_)),
      lanes_(static_cast<std::size_t>(lanes)) {
  for (Lane& lane : lanes_) {
    lane.unsent.resize(static_cast<std::size_t>(size_));
    lane.partial.resize(static_cast<std::size_t>(size_));
  }
  const channel::RingSettings settings{.rank = rank_,
                                       .size = size_,
                                       .lanes = lanes,
                                       .record_bytes = kRecordBytes,
                                       .ring_bytes = ring_bytes(writes_.size())};
  channel::RegionPlan plan(size_);
  const auto for_peers = [&](std::size_t bytes) {
    std::vector<std::size_t> all(static_cast<std::size_t>(size_), bytes);
    all[static_cast<std::size_t>(rank_)] = 0;
    return all;
  };
  const std::size_t part = plan.add("task rings", for_peers(settings.part_bytes()));
  const std::size_t read_bytes = ReadArea::ring_bytes(link, lanes, size_) * static_cast<std::size_t>(lanes);
  const std::size_t read_part = plan.add("task bodies", for_peers(read_bytes), 4096);
  region_ = plan.expose(bootstrap, link);
  rings_ = std::make_unique<channel::Rings>(link, health_, settings, region_.bytes(),
                                            channel::ring_places(region_, part, settings), writes_);
  area_.emplace(link, region_, read_part, lanes, size_);
}

void Mail::poll() {
  if (!link_.poll() || health_.failed()) throw Error(health_.message());
  if (health_.losses() > losses_) throw PeerLost();
}

/// Sends records. Returns the number of bytes that found room.
std::size_t Mail::push(int lane, int peer, std::span<const std::byte> records) {
  std::size_t pushed = 0;
  while (pushed < records.size()) {
    const auto room = rings_->reserve(lane, peer);
    if (room.empty()) break;
    const std::size_t some = std::min(room.size(), records.size() - pushed);
    std::memcpy(room.data(), records.data() + pushed, some);
    rings_->publish(lane, peer, some / kRecordBytes);
    pushed += some;
  }
  return pushed;
}

void Mail::post(int lane, int peer, Header header, std::span<const Ref> refs, std::string_view body) {
  const auto placed = area_->place(lane, peer, body);
  if (placed) body = {reinterpret_cast<const char*>(&*placed), sizeof *placed};
  header.placed = placed.has_value();
  const std::size_t bytes = sizeof header + refs.size() * sizeof(WireRef) + body.size();
  if (bytes > UINT32_MAX)
    throw Error(fmt::format("a message between tasks of {} bytes is too long: 4 GiB are the limit", bytes));
  header.bytes = static_cast<std::uint32_t>(bytes);
  header.refs = static_cast<std::uint32_t>(refs.size());
  header.attempt = attempt_;
  Lane& mine = lanes_[static_cast<std::size_t>(lane)];
  mine.scratch.clear();
  append(mine.scratch, std::span<const Header>(&header, 1));
  for (const Ref& ref : refs) {
    const WireRef wire = WireRef::of(ref);
    append(mine.scratch, std::span<const WireRef>(&wire, 1));
  }
  append(mine.scratch, std::span(body));
  mine.scratch.resize(whole_records(bytes));
  mine.posted = true;
  auto& unsent = mine.unsent[static_cast<std::size_t>(peer)];
  const std::size_t pushed = unsent.empty() ? push(lane, peer, mine.scratch) : 0;
  append(unsent.records, std::span<const std::byte>(mine.scratch).subspan(pushed));
  mine.backlog += mine.scratch.size() - pushed;
}

void Mail::flush(int lane) {
  Lane& mine = lanes_[static_cast<std::size_t>(lane)];
  if (!mine.posted) return;
  for (int peer = 0; mine.backlog > 0 && peer < size_; ++peer) {
    auto& unsent = mine.unsent[static_cast<std::size_t>(peer)];
    if (unsent.empty()) continue;
    const std::size_t pushed = push(lane, peer, std::span(unsent.records).subspan(unsent.begin));
    unsent.begin += pushed;
    mine.backlog -= pushed;
    if (unsent.empty()) unsent = {};
  }
  mine.posted = !rings_->flush(lane) || mine.backlog > 0;
}

/// Takes records of a message from the front. Returns nothing where more have to arrive.
std::optional<Message> Mail::next(Lane& lane, int peer, std::span<const std::byte>& records) {
  auto& partial = lane.partial[static_cast<std::size_t>(peer)];
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, partial.empty() ? records.data() : partial.data(), sizeof bytes);
  const std::size_t all = whole_records(std::max<std::size_t>(bytes, 1));
  const auto front = records.first(std::min(all - partial.size(), records.size()));
  records = records.subspan(front.size());
  if (front.size() == all) return parse(lane, peer, front);
  append(partial, front);
  if (partial.size() < all) return {};
  lane.whole.swap(partial);
  partial.clear();
  return parse(lane, peer, lane.whole);
}

Message Mail::parse(Lane& lane, int peer, std::span<const std::byte> bytes) {
  Message message;
  std::memcpy(&message.header, bytes.data(), sizeof message.header);
  const Header& header = message.header;
  const std::size_t before = sizeof header + header.refs * sizeof(WireRef);
  if (header.bytes < before)
    throw Error(fmt::format("rank {} sent a message of {} bytes with {} references", peer, header.bytes,
                            header.refs));
  lane.refs.clear();
  for (std::size_t at = sizeof header; at < before; at += sizeof(WireRef)) {
    WireRef wire;
    std::memcpy(&wire, bytes.data() + at, sizeof wire);
    lane.refs.push_back(wire.ref());
  }
  message.refs = lane.refs;
  message.body = {reinterpret_cast<const char*>(bytes.data()) + before, header.bytes - before};
  return message;
}

/// Returns the place of the body, if it was placed.
std::optional<Placed> Mail::place_of_body(int peer, const Message& message) {
  if (!message.header.placed) return {};
  Placed placed;
  if (message.body.size() != sizeof placed)
    throw Error(fmt::format("rank {} sent a message whose body is missing", peer));
  std::memcpy(&placed, message.body.data(), sizeof placed);
  return placed;
}

/// Begins to fetch the first body, and returns whether it is here. Messages that need none may overtake it.
bool Mail::has_fetched(int lane) {
  Lane& mine = lanes_[static_cast<std::size_t>(lane)];
  if (mine.fetches.empty()) return false;
  const Fetch& first = mine.fetches.front();
  if (mine.fetched_with == 0) {
    if (!area_->fetch(lane, first.peer, first.placed)) return false;
    mine.fetched_with = ++writes_[static_cast<std::size_t>(lane) * static_cast<std::size_t>(size_) +
                                  static_cast<std::size_t>(first.peer)];
  }
  return link_.completed(lane, first.peer) >= mine.fetched_with;
}

void Mail::tell_read(int lane, int peer, const Placed& placed) {
  if (const auto position = area_->read(lane, peer, placed))
    post(lane, peer, {.kind = MailKind::read, .reply = *position});
}

void Mail::begin_attempt(std::uint32_t attempt, const std::vector<bool>& lost) {
  attempt_ = attempt;
  losses_ = static_cast<int>(std::ranges::count(lost, true));
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) area_->clear(static_cast<int>(lane));
  for (int peer = 0; peer < size_; ++peer) {
    if (!lost[static_cast<std::size_t>(peer)]) continue;
    rings_->leave_out(peer);
    for (Lane& lane : lanes_) {
      auto& unsent = lane.unsent[static_cast<std::size_t>(peer)];
      lane.backlog -= unsent.records.size() - unsent.begin;
      unsent = {};
    }
  }
}

void Mail::end_run(int lane) {
  Lane& mine = lanes_[static_cast<std::size_t>(lane)];
  std::ranges::fill(mine.unsent, Unsent{});
  mine.backlog = 0;
  while (mine.fetched_with > 0 && !has_fetched(lane)) poll();  // peers then free what has been read
  mine.fetches.clear();
  mine.fetched_with = 0;
  const auto drop = [&] {
    poll();
    return rings_->drain(lane, mine.superstep, [](int, std::span<const std::byte>) {});
  };
  while (!rings_->end(lane, mine.superstep)) drop();
  for (int turns = 0; !rings_->finished(lane, mine.superstep); ++turns) {
    if (drop() > 0) turns = 0;
    if (turns > (oversubscribed_ ? 10 : 20'000)) wait();
  }
  for (auto& partial : mine.partial) partial.clear();
  mine.posted = false;
  area_->clear(lane);
  ++mine.superstep;
}

}  // namespace edgewire::tasks
