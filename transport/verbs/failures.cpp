#include <fmt/core.h>

#include <algorithm>

#include "transport/verbs/verbs.h"

namespace edgewire::transport::verbs {
namespace {

constexpr std::chrono::milliseconds kExplainLimit{200};

/// Returns what an operator should look at, or an empty string when there is nothing to add.
std::string_view likely_cause(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return "it does not acknowledge any more (is its port up? do GID and MTU fit? does the network lose "
             "packets "
             "where PFC is off?)";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "it has no receive posted";
    case IBV_WC_REM_ACCESS_ERR:
      return "it refuses a write outside this process's part of its region";
    case IBV_WC_REM_INV_REQ_ERR:
      return "it refuses a malformed request";
    case IBV_WC_REM_OP_ERR:
      return "its card cannot complete a request";
    case IBV_WC_LOC_PROT_ERR:
      return "a write comes from memory that is not registered any more";
    case IBV_WC_WR_FLUSH_ERR:
      return "the connection broke";
    default:
      return "";
  }
}

}  // namespace

void Verbs::fail(int peer, const std::string& message) noexcept {
  settings_.health->fail(peer, message);
  wakeup_.announce();
  alarm_.ring();
}

/// Remembers the first connection that broke without saying why. The holder of reaping_ calls it.
void Verbs::lose(const Link& link, const std::string& cause) noexcept {
  if (lost_ != nullptr) return;
  lost_ = &link;
  lost_cause_ = cause;
  lost_at_ = Clock::now();
  has_lost_.store(true, std::memory_order_relaxed);
}

/// Reports which peer was lost, a moment after it happened. If that peer only ended because another one had
/// failed, the bootstrap names the first one in the meantime.
void Verbs::report_lost() noexcept {
  if (lost_ == nullptr || Clock::now() - lost_at_ < kExplainLimit) return;
  look_at_events();
  const std::string label = device_of(*lost_).label();
  if (rails_[lost_->rail].is_down) return fail(-1, label + " went down");
  fail(lost_->peer, fmt::format("rank {} was lost over {}: {}", lost_->peer, label, lost_cause_));
}

/// The TCP in an iWARP card retries for a long time when packets are lost. It does not notice that a peer is
/// gone from which nothing is expected. So if nothing has completed on a link for a while, this reads a word
/// from the peer. The holder of reaping_ calls it, after it has taken all completions.
void Verbs::look_at_silence() noexcept {
  const auto now = Clock::now();
  if (!connected_ || now < next_look_) return;
  const auto step = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(settings_.peer_timeout_s / 8));
  const bool was_away = next_look_ != Clock::time_point{} && now > next_look_ + step;
  next_look_ = now + step;
  for (const auto& link : links_) {
    if (link == nullptr || link->ended.load(std::memory_order_relaxed)) continue;
    if (was_away || link->heard == Clock::time_point{}) link->heard = now;
    if (link->looks) {
      if (now - std::max(link->heard, link->looked) > 4 * step)
        lose(*link, "it does not answer any more (is its port up? does the network pass packets?)");
    } else if (now - link->heard > 2 * step) {
      link->looks = true;
      link->looked = now;
      post_look(*link);
    }
  }
}

void Verbs::take_error(const ibv_wc& completion) noexcept {
  const Link& from = *links_[Ticket(completion.wr_id).link];
  // Bytes that are written to a process that has ended are lost.
  if (from.ended.load(std::memory_order_relaxed)) return;
  const std::string_view cause = likely_cause(completion.status);
  lose(from, cause.empty() ? library().wc_status_str(completion.status) : std::string(cause));
}

/// Reads the events of the devices. The holder of reaping_ calls it.
void Verbs::look_at_events() noexcept {
  for (Rail& rail : rails_) look_at_events(rail);
  if (connector_ != nullptr && connector_->is_removed()) fail(-1, "an iWARP device was removed");
}

void Verbs::look_at_events(Rail& rail) noexcept {
  const Device& device = rail.device;
  ibv_async_event event{};
  while (library().get_async_event(device.context.get(), &event) == 0) {
    switch (event.event_type) {
      case IBV_EVENT_DEVICE_FATAL:
        fail(-1, fmt::format("{} was removed or has failed", device.name));
        break;
      case IBV_EVENT_CQ_ERR:
        fail(-1, fmt::format("the completion queue of {} has failed", device.name));
        break;
      case IBV_EVENT_PORT_ERR:
      case IBV_EVENT_PORT_ACTIVE:
        if (event.element.port_num != device.port) break;
        rail.is_down = event.event_type == IBV_EVENT_PORT_ERR;
        rail.down_since = Clock::now();
        break;
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_REQ_ERR:
      case IBV_EVENT_QP_ACCESS_ERR:
        for (const auto& link : links_) {
          if (link == nullptr || link->qp.get() != event.element.qp) continue;
          refused_frames_.fetch_add(1, std::memory_order_relaxed);
          lose(*link, event.event_type == IBV_EVENT_QP_ACCESS_ERR
                          ? "it wrote outside its part of the region"
                          : library().event_type_str(event.event_type));
        }
        break;
      default:
        break;
    }
    library().ack_async_event(&event);
  }
  // Connections survive a short break, and report one that was too long, unless nothing is in flight.
  if (rail.is_down &&
      Clock::now() - rail.down_since > std::chrono::duration<double>(settings_.peer_timeout_s))
    fail(-1, fmt::format("{} has been down for {} s", device.label(), settings_.peer_timeout_s));
}

}  // namespace edgewire::transport::verbs
