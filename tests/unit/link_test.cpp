// What a link of the dpdk backend sends, and when, over ports that are joined in memory.
#include <doctest/doctest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <mutex>

#include "transport/dpdk/dpdk.h"
#include "transport_fixture.h"

namespace edgewire::transport::dpdk {
namespace {

constexpr std::uint64_t kBurstBytes = 32 * 1538;  ///< that leave at any rate

/// Two ports and what is between them.
class Wire {
 public:
  class Port final : public FramePort {
   public:
    Port(std::shared_ptr<Wire> wire, int end) : wire_(std::move(wire)), end_(end) {
      facts_.mac = {2, 0, 0, 0, 0, static_cast<std::uint8_t>(end)};
      facts_.buffers = kWindow;
      facts_.queues = "one queue";
    }
    const PortFacts& facts() const noexcept override { return facts_; }
    void remember(std::span<std::byte>) override {}
    void forget(std::span<std::byte>) noexcept override {}
    std::size_t receive(std::span<Incoming> frames) noexcept override { return wire_->take(end_, frames); }
    void release(void* handle) noexcept override { delete static_cast<std::vector<std::byte>*>(handle); }
    std::size_t send(std::span<const Outgoing> frames) noexcept override {
      for (const Outgoing& frame : frames) wire_->put(end_, frame);
      return frames.size();
    }
    std::uint64_t received_by(std::size_t) const noexcept override { return 0; }
    std::uint64_t missed() const noexcept override { return 0; }

   private:
    std::shared_ptr<Wire> wire_;
    int end_;
    PortFacts facts_;
  };

  ~Wire() {
    for (const auto& way : under_way_)
      for (const auto* frame : way) delete frame;
  }

  void put(int from, const Outgoing& frame) {
    const std::scoped_lock lock(mutex_);
    auto made = std::make_unique<std::vector<std::byte>>(frame.head.bytes.begin(),
                                                         frame.head.bytes.begin() + frame.head.size);
    made->insert(made->end(), frame.payload.begin(), frame.payload.end());
    const Header header = header_of(std::span(*made).subspan(kEthernetBytes));
    wire_bytes_[from] += std::max<std::uint64_t>(made->size() + 24, 84);
    if (header.type == FrameType::Ack && header.bytes > 0) ++told_missing_[from];
    if (header.type == FrameType::Data && header.place == lost_place_) return;
    under_way_[1 - from].push_back(made.release());
  }
  std::size_t take(int end, std::span<Incoming> frames) {
    const std::scoped_lock lock(mutex_);
    std::size_t count = 0;
    for (; count < frames.size() && !under_way_[end].empty(); ++count, under_way_[end].pop_front()) {
      auto* const frame = under_way_[end].front();
      frames[count] = {frame->data(), static_cast<std::uint32_t>(frame->size()), frame, false};
    }
    return count;
  }

  /// From now on, frames of this place of a region get lost.
  void lose(std::uint64_t place) {
    const std::scoped_lock lock(mutex_);
    lost_place_ = place;
  }
  /// By one end, with preambles and gaps.
  std::uint64_t wire_bytes(int end) {
    const std::scoped_lock lock(mutex_);
    return wire_bytes_[end];
  }
  /// Acknowledgements by one end that say what has arrived behind a gap.
  int told_missing(int end) {
    const std::scoped_lock lock(mutex_);
    return told_missing_[end];
  }

 private:
  std::mutex mutex_;
  std::deque<std::vector<std::byte>*> under_way_[2];  ///< to an end
  std::uint64_t wire_bytes_[2] = {}, lost_place_ = ~std::uint64_t{0};
  int told_missing_[2] = {};
};

TEST_CASE("what is missing is told at once, however much waits for the line rate") {
  constexpr std::size_t kPart = 4 * kBurstBytes;
  const auto wire = std::make_shared<Wire>();
  Job job;
  std::vector<std::string> blobs;
  for (int rank = 0; rank < 2; ++rank) {
    auto made = std::make_unique<Endpoint>();
    made->settings = {rank, 2, 1, 1, std::string(32, 's'), "", 60, &made->health, {}, {}, {}};
    made->part_bytes = kPart;
    // After its first burst rank 0 may send nothing for hours.
    const std::uint64_t bits_per_s = rank == 0 ? 1 : 0;
    made->transport = std::make_unique<Dpdk>(
        made->settings,
        std::make_shared<Station>(std::make_unique<Wire::Port>(wire, rank), false, bits_per_s, -1));
    const std::vector<Transport::Part> parts{{0, kPart}, {kPart, kPart}};
    made->region = made->transport->expose(2 * kPart, parts);
    blobs.push_back(made->transport->blob());
    job.push_back(std::move(made));
  }
  parallel(2, [&](int rank) { job[static_cast<std::size_t>(rank)]->transport->connect(blobs); });
  const auto both_until = [&](const std::function<bool()>& done) {
    job[0]->until([&] {
      job[1]->progress();
      return done();
    });
  };

  job[0]->write(0, 1, 0, job[0]->transport->send_memory(kPart));
  both_until([&] { return wire->wire_bytes(0) >= kBurstBytes; });
  CHECK(wire->told_missing(0) == 0);
  wire->lose(kPart);  // the first frame of what comes now, each time that it is sent
  job[1]->write(0, 0, kPart, job[1]->transport->send_memory(20'000));
  both_until([&] { return wire->told_missing(0) > 0; });
  for (const auto& endpoint : job) endpoint->health.fail(0, "the end");  // no goodbye can get through
}

}  // namespace
}  // namespace edgewire::transport::dpdk
