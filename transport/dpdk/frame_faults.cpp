#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <random>
#include <vector>

#include "base/error.h"
#include "transport/dpdk/frame_port.h"

namespace edgewire::transport::dpdk {
namespace {

struct Faults {
  std::uint64_t seed = 1;
  double drop = 0, duplicate = 0, reorder = 0, corrupt = 0, truncate = 0;
};

Faults parse(const std::string& text) {
  Faults faults;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::size_t equals = std::min(text.find('=', at), end);
    const std::string name = text.substr(at, equals - at);
    double value = -1;
    if (equals < end) std::from_chars(text.data() + equals + 1, text.data() + end, value);
    double* const place = name == "drop"        ? &faults.drop
                          : name == "duplicate" ? &faults.duplicate
                          : name == "reorder"   ? &faults.reorder
                          : name == "corrupt"   ? &faults.corrupt
                          : name == "truncate"  ? &faults.truncate
                                                : nullptr;
    if (name == "seed" && value >= 0)
      faults.seed = static_cast<std::uint64_t>(value);
    else if (place != nullptr && value >= 0 && value <= 1)
      *place = value;
    else
      throw UsageError(
          fmt::format("frame faults are a list such as seed=7,drop=0.01,duplicate=0.01,reorder=0.05,"
                      "corrupt=0.001,truncate=0.001, not '{}'",
                      text));
    at = end + 1;
  }
  return faults;
}

/// A port whose incoming frames suffer faults. It leaves alone what is sent, since every link has two ends.
class FaultyPort final : public FramePort {
 public:
  FaultyPort(std::unique_ptr<FramePort> inner, const Faults& faults)
      : inner_(std::move(inner)), faults_(faults), chance_(faults.seed) {}

  ~FaultyPort() override {
    for (const Held& held : held_) release(held.frame.handle);
  }
  const PortFacts& facts() const noexcept override { return inner_->facts(); }
  void remember(std::span<std::byte> memory) override { inner_->remember(memory); }
  void forget(std::span<std::byte> memory) noexcept override { inner_->forget(memory); }
  std::size_t send(std::span<const Outgoing> frames) noexcept override { return inner_->send(frames); }
  std::uint64_t received_by(std::size_t queue) const noexcept override { return inner_->received_by(queue); }
  std::uint64_t missed() const noexcept override { return inner_->missed(); }

  void release(void* handle) noexcept override {
    if (std::erase_if(copies_, [&](const auto& copy) { return copy.get() == handle; }) == 0)
      inner_->release(handle);
  }

  std::size_t receive(std::span<Incoming> frames) noexcept override {
    std::size_t count = 0;
    // Late frames come first.
    while (count < frames.size() && !held_.empty() && held_.front().due <= received_) {
      frames[count++] = held_.front().frame;
      held_.pop_front();
    }
    std::array<Incoming, 64> fresh;
    const std::size_t most = std::min(fresh.size(), (frames.size() - count) / 2);
    const std::size_t came = inner_->receive(std::span(fresh).first(most));
    if (came == 0) ++received_;  // otherwise held frames would wait for others for ever
    for (std::size_t i = 0; i < came; ++i) {
      ++received_;
      if (happens(faults_.drop)) {
        inner_->release(fresh[i].handle);
        continue;
      }
      if (happens(faults_.duplicate)) frames[count++] = copy(fresh[i]);
      if (happens(faults_.corrupt)) fresh[i] = changed(fresh[i]);
      if (happens(faults_.truncate))
        fresh[i].bytes = static_cast<std::uint32_t>(chance_() % (fresh[i].bytes + 1));
      if (happens(faults_.reorder)) {
        held_.push_back({fresh[i], received_ + 1 + chance_() % 30});
        continue;
      }
      frames[count++] = fresh[i];
    }
    return count;
  }

 private:
  struct Held {
    Incoming frame;
    std::uint64_t due = 0;
  };

  bool happens(double probability) noexcept {
    return static_cast<double>(chance_() >> 11) * 0x1p-53 < probability;
  }
  Incoming copy(const Incoming& frame) {
    auto& made = copies_.emplace_back(std::make_unique<std::byte[]>(frame.bytes));
    std::memcpy(made.get(), frame.data, frame.bytes);
    return {made.get(), frame.bytes, made.get()};
  }
  Incoming changed(const Incoming& frame) {
    Incoming made = copy(frame);
    inner_->release(frame.handle);
    if (made.bytes > 0)
      const_cast<std::byte*>(made.data)[chance_() % made.bytes] ^=
          static_cast<std::byte>(1U << chance_() % 8);
    return made;
  }

  std::unique_ptr<FramePort> inner_;
  Faults faults_;
  std::mt19937_64 chance_;
  std::uint64_t received_ = 0;
  std::deque<Held> held_;
  std::vector<std::unique_ptr<std::byte[]>> copies_;
};

}  // namespace

std::unique_ptr<FramePort> with_frame_faults(std::unique_ptr<FramePort> inner, const std::string& faults) {
  return std::make_unique<FaultyPort>(std::move(inner), parse(faults));
}

}  // namespace edgewire::transport::dpdk
