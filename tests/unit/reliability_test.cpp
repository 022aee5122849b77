// The reliability of the dpdk backend over a wire that loses, repeats, overtakes, cuts and changes frames,
// with a clock of its own; every case follows from its seed.
#include "transport/dpdk/reliability.h"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "transport/dpdk/frame.h"

namespace edgewire::transport::dpdk {
namespace {

constexpr MacAddress kOne{2, 0, 0, 0, 0, 1}, kOther{2, 0, 0, 0, 0, 2};
constexpr std::uint64_t kKeyOfRun = 0x1234567890ABCDEF;

std::span<const std::byte> body_of(const std::vector<std::byte>& frame) {
  return std::span(frame).subspan(kEthernetBytes);
}

/// What a wire does to a frame, as probabilities.
struct Faults {
  double drop = 0, duplicate = 0, reorder = 0, corrupt = 0, truncate = 0;
};

/// One direction: frames arrive after a delay.
class FaultyWire {
 public:
  FaultyWire(const Faults& faults, std::uint64_t seed) : faults_(faults), chance_(seed) {}

  void put(std::vector<std::byte> frame, Nanoseconds now) {
    if (happens(faults_.drop)) return;
    if (happens(faults_.duplicate)) under_way_.emplace(now + delay(), frame);
    if (happens(faults_.corrupt))
      frame[chance_() % frame.size()] ^= static_cast<std::byte>(1U << chance_() % 8);
    if (happens(faults_.truncate)) frame.resize(chance_() % frame.size());
    under_way_.emplace(now + delay(), std::move(frame));
  }
  /// The next frame that has arrived; empty when there is none.
  std::vector<std::byte> take(Nanoseconds now) {
    if (under_way_.empty() || under_way_.begin()->first > now) return {};
    auto frame = std::move(under_way_.begin()->second);
    under_way_.erase(under_way_.begin());
    return frame;
  }

 private:
  bool happens(double probability) { return static_cast<double>(chance_() >> 11) * 0x1p-53 < probability; }
  Nanoseconds delay() {
    return 50'000 + (happens(faults_.reorder) ? static_cast<Nanoseconds>(chance_() % 200'000) : 0);
  }

  Faults faults_;
  std::mt19937_64 chance_;
  std::multimap<Nanoseconds, std::vector<std::byte>> under_way_;
};

/// Sends `frames` numbered frames from one end to the other; acknowledgements come back over a wire as bad.
class Transfer {
 public:
  Transfer(const Faults& faults, std::uint64_t seed, std::uint32_t frames, std::uint32_t first = 0)
      : sender_(first), receiver_(first), there_(faults, seed), back_(faults, seed + 1), numbers_(frames) {
    for (std::uint32_t i = 0; i < frames; ++i) numbers_[i] = i * 2654435761U;
  }

  /// Virtual seconds that it took; -1 when it never ended.
  double run() {
    constexpr Nanoseconds kStep = 5'000, kEnd = 60'000'000'000;
    for (now_ = 1; now_ < kEnd; now_ += kStep) {
      receive();
      send();
      if (done_ == numbers_.size()) return static_cast<double>(now_) * 1e-9;
    }
    return -1;
  }

  std::uint64_t overtaken() const { return sender_.overtaken(); }

  std::vector<std::uint32_t> got;  ///< in the order in which they were given
  std::uint64_t sent = 0, corrupt = 0, duplicates = 0, held = 0;
  std::uint32_t most_under_way = 0;
  std::uint64_t done_ = 0;
  std::uint32_t last_done_ = 0;

 private:
  std::vector<std::byte> make(const Header& header, std::span<const std::byte> payload) {
    Head head;
    encode(head, ethernet_envelope(kOne, kOther), 0, header, payload, kKeyOfRun);
    std::vector<std::byte> frame(head.bytes.begin(),
                                 head.bytes.begin() + static_cast<std::ptrdiff_t>(head.size));
    frame.insert(frame.end(), payload.begin(), payload.end());
    return frame;
  }
  void put(const Sender::Frame& frame) {
    ++sent;
    const Header header{
        7, 0, frame.sequence, 0, frame.content.place, 0, 0, FrameType::Data, pack_order(frame.order)};
    there_.put(make(header, {frame.content.source, frame.content.bytes}), now_);
  }
  void send() {
    while (true) {
      const auto frame = back_.take(now_);
      if (frame.empty()) break;
      std::span<const std::byte> bits;
      if (!is_ours(frame, false) || body_of(frame).size() < sizeof(Header)) continue;
      const Header header = header_of(body_of(frame));
      if (!is_intact(body_of(frame), header, kKeyOfRun, bits)) continue;
      sender_.acknowledge(header.ack, unpack_order(header.order), bits, now_, [&](const Content& content) {
        CHECK(content.place == done_);  // in order, each once
        ++done_;
      });
    }
    sender_.look_at_timer(now_);
    for (int burst = 0; burst < 8 && sender_.has_lost(); ++burst)
      if (const auto* lost = sender_.send_lost(now_)) put(*lost);
    for (int burst = 0; burst < 8 && next_ < numbers_.size() && sender_.has_room(); ++burst, ++next_) {
      Content content;
      content.source = reinterpret_cast<const std::byte*>(&numbers_[next_]);
      content.bytes = sizeof(std::uint32_t);
      content.place = next_;
      put(sender_.send(content, now_));
    }
    most_under_way = std::max<std::uint32_t>(most_under_way, static_cast<std::uint32_t>(next_ - done_));
  }
  void give(const std::vector<std::byte>& frame) {
    std::uint32_t number = 0;
    std::memcpy(&number, body_of(frame).data() + sizeof(Header), sizeof number);
    got.push_back(number);
  }
  void receive() {
    while (true) {
      auto frame = there_.take(now_);
      if (frame.empty()) break;
      std::span<const std::byte> payload;
      if (!is_ours(frame, false) || body_of(frame).size() < sizeof(Header) ||
          !is_intact(body_of(frame), header_of(body_of(frame)), kKeyOfRun, payload)) {
        ++corrupt;
        continue;
      }
      receiver_.note(unpack_order(header_of(body_of(frame)).order));
      auto* const kept = new std::vector<std::byte>(std::move(frame));
      switch (receiver_.arrive(header_of(body_of(*kept)).sequence,
                               {kept->data(), static_cast<std::uint32_t>(kept->size()), kept})) {
        case Receiver::Verdict::InOrder:
          give(*kept);
          delete kept;
          for (Incoming next = receiver_.next(); next.data != nullptr; next = receiver_.next()) {
            auto* const early = static_cast<std::vector<std::byte>*>(next.handle);
            give(*early);
            delete early;
          }
          break;
        case Receiver::Verdict::Held:
          ++held;
          break;
        default:
          ++duplicates;
          delete kept;
      }
    }
    if (receiver_.unacknowledged() == 0 && !receiver_.urgent()) return;
    std::array<std::byte, kAckBytes> bits;
    const std::size_t bytes = receiver_.describe(bits);
    const Header header{
        7, 0, 0, receiver_.expected(), 0, 0, 0, FrameType::Ack, pack_order(receiver_.newest())};
    back_.put(make(header, std::span(bits).first(bytes)), now_);
    receiver_.acknowledged(true);
  }

  Sender sender_;
  Receiver receiver_;
  FaultyWire there_, back_;
  std::vector<std::uint32_t> numbers_;
  std::size_t next_ = 0;
  Nanoseconds now_ = 0;
};

void check(Transfer& transfer, std::uint32_t frames) {
  REQUIRE(transfer.got.size() == frames);
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < frames; ++i) wrong += transfer.got[i] != i * 2654435761U;
  CHECK(wrong == 0);
  CHECK(transfer.most_under_way <= kWindow);
}

TEST_CASE("frames arrive in order, each once, whatever the wire does") {
  const Faults all[] = {{},
                        {0.001, 0, 0, 0, 0},
                        {0.01, 0, 0, 0, 0},
                        {0.1, 0, 0, 0, 0},
                        {0.3, 0, 0, 0, 0},
                        {0, 0.3, 0, 0, 0},
                        {0, 0, 0.5, 0, 0},
                        {0, 0, 0, 0.2, 0},
                        {0, 0, 0, 0, 0.2},
                        {0.1, 0.1, 0.3, 0.05, 0.05}};
  constexpr std::uint32_t kFrames = 5000;
  for (const Faults& faults : all)
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(faults.drop);
      CAPTURE(faults.duplicate);
      CAPTURE(faults.reorder);
      CAPTURE(faults.corrupt);
      CAPTURE(faults.truncate);
      CAPTURE(seed);
      Transfer transfer(faults, seed, kFrames);
      CHECK(transfer.run() > 0);
      check(transfer, kFrames);
      if (faults.corrupt + faults.truncate > 0) CHECK(transfer.corrupt > 0);
      if (faults.duplicate > 0) CHECK(transfer.duplicates > 0);
      if (faults.reorder > 0) CHECK(transfer.held > 0);
    }
}

TEST_CASE("nothing is sent twice over a good wire, and little more than is lost over a bad one") {
  constexpr std::uint32_t kFrames = 20'000;
  for (const auto& one : {std::pair{0.0, 1.0}, {0.001, 1.01}, {0.01, 1.05}, {0.1, 1.35}}) {
    const double drop = one.first, most = one.second;
    CAPTURE(drop);
    Transfer transfer({drop, 0, 0, 0, 0}, 3, kFrames);
    CHECK(transfer.run() > 0);
    check(transfer, kFrames);
    CHECK(static_cast<double>(transfer.sent) <= most * kFrames);
  }
}

TEST_CASE("a link that mixes frames teaches how much, and then little is sent twice") {
  constexpr std::uint32_t kFrames = 50'000;
  Transfer mixed({0, 0, 0.2, 0, 0}, 4, kFrames);
  CHECK(mixed.run() > 0);
  check(mixed, kFrames);
  CHECK(static_cast<double>(mixed.sent) <= 1.02 * kFrames);
  CHECK(mixed.overtaken() > Sender().overtaken());
  for (const double drop : {0.01, 0.1}) {  // what is lost is not taken for late
    Transfer lossy({drop, 0.01, 0, 0, 0}, 4, kFrames);
    CHECK(lossy.run() > 0);
    CHECK(lossy.overtaken() == Sender().overtaken());
  }
}

TEST_CASE("losing one frame in a hundred costs little time") {
  constexpr std::uint32_t kFrames = 50'000;
  Transfer good({}, 5, kFrames), bad({0.01, 0, 0, 0, 0}, 5, kFrames);
  const double good_s = good.run();
  CHECK(bad.run() < 1.3 * good_s);
}

TEST_CASE("sequence numbers wrap around") {
  for (const std::uint32_t first : {0xFFFF'FFFFU, 0xFFFF'FF00U, 0x7FFF'FF00U}) {
    Transfer transfer({0.05, 0.05, 0.1, 0, 0}, 9, 3000, first);
    CHECK(transfer.run() > 0);
    check(transfer, 3000);
  }
}

TEST_CASE("frames that came before, or are too far ahead, are told apart") {
  Receiver receiver;
  const std::byte byte{};
  const Incoming frame{&byte, 1, nullptr};
  CHECK(receiver.arrive(0xFFFF'FFFF, frame) == Receiver::Verdict::Duplicate);
  CHECK(receiver.arrive(kWindow, frame) == Receiver::Verdict::Outside);
  CHECK(receiver.arrive(kWindow - 1, frame) == Receiver::Verdict::Held);
  CHECK(receiver.arrive(kWindow - 1, frame) == Receiver::Verdict::Duplicate);
  CHECK(receiver.arrive(0, frame) == Receiver::Verdict::InOrder);
  CHECK(receiver.next().data == nullptr);
  CHECK(receiver.arrive(0, frame) == Receiver::Verdict::Duplicate);
  CHECK(receiver.arrive(1 + kWindow, frame) == Receiver::Verdict::Outside);
  CHECK(receiver.held() == 1);
  CHECK(receiver.drop().data == &byte);
  CHECK(receiver.drop().data == nullptr);
}

TEST_CASE("acknowledgements that make no sense change nothing") {
  Sender sender;
  const auto none = [](const Content&) { FAIL("nothing is done"); };
  for (int i = 0; i < 4; ++i) sender.send({}, 1);
  CHECK_FALSE(sender.acknowledge(5, Sender::kUnknown, {}, 2, none));
  CHECK_FALSE(sender.acknowledge(0xFFFF'FFFF, Sender::kUnknown, {}, 2, none));
  CHECK_FALSE(sender.acknowledge(0x8000'0000, Sender::kUnknown, {}, 2, none));
  int done = 0;
  const auto count = [&](const Content&) { ++done; };
  std::array<std::byte, kAckBytes> bits;
  bits.fill(std::byte{0xFF});  // of frames that were never sent, too
  CHECK(sender.acknowledge(1, Sender::kUnknown, bits, 2, count));
  CHECK(done == 1);
  CHECK(sender.acknowledge(1, Sender::kUnknown, {}, 2, count));
  CHECK_FALSE(sender.acknowledge(0, Sender::kUnknown, {}, 2, count));
  CHECK(sender.acknowledge(4, Sender::kUnknown, {}, 2, count));
  CHECK(done == 4);
  CHECK(sender.idle());
}

TEST_CASE("a peer that does not answer is asked ever more rarely, with one frame at a time") {
  Sender sender;
  for (int i = 0; i < 20; ++i) sender.send({}, 1);
  int again = 0;
  for (Nanoseconds now = 1; now < 1'000'000'000; now += 100'000) {
    sender.look_at_timer(now);
    while (sender.has_lost())
      if (sender.send_lost(now) != nullptr) ++again;
  }
  CHECK(again >= 8);  // 10, 20, 40, 80 ms, then every 100 ms
  CHECK(again <= 16);
}

TEST_CASE("a full queue on the way makes the window smaller") {
  Sender sender;
  Nanoseconds now = 1;
  const std::uint32_t before = sender.window();
  std::uint32_t acknowledged = 0;
  for (int round = 0; round < 6; ++round, now += 1'000'000) {
    std::vector<Sender::Frame> sent;
    while (sender.has_lost())
      if (const auto* frame = sender.send_lost(now)) sent.push_back(*frame);
    while (sender.has_room()) sent.push_back(sender.send({}, now));
    // Every other frame is lost.
    std::array<std::byte, kAckBytes> bits{};
    std::uint64_t newest = 0;
    for (std::size_t i = 0; i < sent.size(); i += 2) {
      const std::uint32_t ahead = sent[i].sequence - acknowledged;
      if (ahead > 0 && ahead <= kWindow)
        bits[(ahead - 1) / 8] |= static_cast<std::byte>(1U << (ahead - 1) % 8);
      newest = std::max(newest, sent[i].order);
    }
    const auto acknowledge = [&](std::span<const std::byte> arrived) {
      const auto order = static_cast<std::uint32_t>(newest) & kOrderMask;
      sender.acknowledge(acknowledged, order, arrived, now + 100'000, [](const Content&) {});
    };
    acknowledge(bits);
    while (sender.has_lost())
      if (const auto* frame = sender.send_lost(now)) newest = std::max(newest, frame->order);
    for (const auto& frame : sent) acknowledged = std::max(acknowledged, frame.sequence + 1);
    acknowledge({});
  }
  CHECK(sender.window() < before);
}

TEST_CASE("the pacer keeps to the rate, and lets a burst pass") {
  Pacer pacer(1'000'000'000);
  std::uint64_t bytes = 0;
  constexpr Nanoseconds kTime = 100'000'000;
  for (Nanoseconds now = 1; now < kTime; now += 10'000)
    while (pacer.ready(now)) {
      pacer.take(1538);
      bytes += 1538;
    }
  CHECK(bytes > 12'500'000);
  CHECK(bytes < 12'500'000 + 60'000);
  Pacer free(0);
  for (int i = 0; i < 1000; ++i) {
    CHECK(free.ready(1));
    free.take(1538);
  }
}

}  // namespace
}  // namespace edgewire::transport::dpdk
