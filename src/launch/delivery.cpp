#include "launch/delivery.h"

#include <fmt/core.h>

#include "transport/sockets.h"

namespace edgewire::launch {

using transport::FileDescriptor;

Delivery::Delivery(const FileDescriptor& stream, Clock::time_point now)
    : address_(transport::peer_address(stream)), arrived_at_(now) {}

std::chrono::duration<double> Delivery::stuck(const FileDescriptor& stream, Clock::time_point now) {
  const auto sent = transport::sending(stream);
  const std::uint64_t arrived = written_ - sent.waiting;
  if (sent.waiting == 0 || arrived != arrived_ || transport::mtu_advice(stream, address_).empty())
    arrived_at_ = now;
  arrived_ = arrived;
  return now - arrived_at_;
}

std::string Delivery::why_stuck(const FileDescriptor& stream) const {
  return fmt::format(
      "does not get what is sent to it, though its small messages arrive: the way there drops "
      "large packets ({})",
      transport::mtu_advice(stream, address_));
}

std::string Delivery::why_silent(const FileDescriptor& stream, std::chrono::duration<double> silence) const {
  const auto sent = transport::sending(stream);
  if (!sent.known) return " (stopped, or its link down?)";
  const bool answers = sent.answered_s_ago <= silence.count() / 2;
  const std::string advice = transport::mtu_advice(stream, address_);
  return fmt::format(", {} ({}{})", answers ? "though its host answers" : "and its host does not answer",
                     answers ? "stopped?" : "is it or its link down?",
                     advice.empty() ? "" : fmt::format(" Or the way drops large packets: {}", advice));
}

}  // namespace edgewire::launch
