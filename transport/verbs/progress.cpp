// Takes completions, of what was sent and of peers' signals, for threads that poll or wait, or by a thread.
// Puts what went wrong into words.
#include <arpa/inet.h>
#include <fmt/core.h>
#include <poll.h>

#include <algorithm>

#include "options/jobs.h"
#include "topology/placement.h"
#include "transport/verbs/verbs.h"

namespace edgewire::transport::verbs {
namespace {

constexpr int kCompletions = 32;              ///< completions that one call takes
constexpr std::uint32_t kLooksAnEvent = 256;  ///< number of polls between looks at the devices' own events
constexpr std::chrono::microseconds kLostPause{10'000};
constexpr std::chrono::milliseconds kExplainLimit{200};
constexpr std::chrono::microseconds kThreadPause{20'000};  ///< longest wait for the thread's end

/// Returns what an operator should look at, or an empty string when there is nothing to add.
std::string_view likely_cause(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return "it does not acknowledge any more (is its port up? do GID and MTU fit? does the network lose "
             "packets where PFC is off?)";
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

/// Takes all completions that are there. While another thread is at it, returns, or waits if it insists.
void Verbs::reap(bool insist) noexcept {
  while (reaping_.test_and_set(std::memory_order_acquire))
    if (!insist) return;
  std::array<ibv_wc, kCompletions> completions;
  bool news = false;
  for (const Rail& rail : rails_) {
    int count = kCompletions;
    while (count == kCompletions) {
      count = ibv_poll_cq(rail.queue.get(), kCompletions, completions.data());
      for (int i = 0; i < count; ++i) take(completions[i]);
      news = news || count > 0;
    }
    if (count < 0) fail(-1, rail.device.name + " gives no completions");
  }
  if (++looks_ % kLooksAnEvent == 0) look_at_events();
  if (connector_ != nullptr) look_at_silence();
  report_lost();
  if (news) wakeup_.announce();
  reaping_.clear(std::memory_order_release);
}

void Verbs::take(const ibv_wc& completion) noexcept {
  if (completion.status != IBV_WC_SUCCESS) return take_error(completion);
  const Ticket ticket(completion.wr_id);
  Link& from = *links_[ticket.link];
  if (connector_ != nullptr) from.heard = Clock::now();
  switch (ticket.request) {
    case Request::Lane:
      from.completed.store(Ticket::extend(from.completed.load(std::memory_order_relaxed), ticket.writes),
                           std::memory_order_release);
      from.reaped.store(Ticket::extend(from.reaped.load(std::memory_order_relaxed), ticket.queued),
                        std::memory_order_release);
      break;
    case Request::Message:
      from.messages.fetch_sub(1, std::memory_order_relaxed);
      give_credits(from);
      break;
    case Request::Receive:
      take_arrival(from, completion, ticket.queued);
      break;
    case Request::Look:
      from.looks = false;
      break;
  }
}

void Verbs::take_arrival(Link& link, const ibv_wc& completion, std::size_t place) noexcept {
  // Volatile: the card has written them.
  if (completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
    const std::uint64_t count =
        *static_cast<const volatile std::uint64_t*>(&link.arrivals->counts[link.received % kCredits]);
    post_receive(link, place);
    const std::uint32_t immediate = ntohl(completion.imm_data);
    if (static_cast<Message>(immediate >> kKindBits) == Message::Hello &&
        *static_cast<const volatile std::uint64_t*>(&link.arrivals->greeting) != kGreeting)
      return fail(-1, fmt::format("{} puts what it receives in the wrong place{}", device_of(link).label(),
                                  rails_[link.rail].arrivals.way == Registration::pinned
                                      ? ""
                                      : fmt::format(" of memory that it pages on demand (use {})",
                                                    opt::verbs_memory("pinned"))));
    return take_message(link, immediate, count);
  }
  const volatile SentMessage& sent = link.arrivals->messages[place];
  const std::uint32_t immediate = sent.immediate;
  const std::uint64_t count = sent.count;
  post_receive(link, place);
  take_message(link, ntohl(immediate), count);
}

void Verbs::take_message(Link& link, std::uint32_t immediate, std::uint64_t count) noexcept {
  const std::uint32_t kind = immediate & ((1U << kKindBits) - 1);
  switch (static_cast<Message>(immediate >> kKindBits)) {
    case Message::Signal: {
      if (kind >= static_cast<std::uint32_t>(settings_.kinds)) {
        refused_frames_.fetch_add(1, std::memory_order_relaxed);
        return fail(link.peer,
                    "rank " + std::to_string(link.peer) + " sent a signal of kind " + std::to_string(kind));
      }
      ++link.received;
      ++link.owed;
      raise(signal_count(link.peer, static_cast<int>(kind)), count);
      give_credits(link);
      return;
    }
    case Message::Credit:
      link.credits.fetch_add(kReturned, std::memory_order_release);
      return;
    case Message::Hello:
      if (greets_second(link) && !link.greeted.load(std::memory_order_relaxed))
        post_message(link, Message::Hello);
      link.greeted.store(true, std::memory_order_release);
      return;
    case Message::Goodbye:
      link.ended.store(true, std::memory_order_release);
      return;
  }
}

bool Verbs::poll() noexcept {
  if (!has_thread_.load(std::memory_order_relaxed)) reap(false);
  last_look_.remember(wakeup_.generation());
  return !settings_.health->failed();
}

bool Verbs::wait(std::chrono::microseconds timeout) noexcept {
  std::uint32_t seen = 0;
  if (!last_look_.recall(seen) || settings_.health->failed()) return poll();
  const bool has_thread = has_thread_.load(std::memory_order_relaxed);
  if (has_thread || !alarm_.begin()) {
    wakeup_.sleep_if(seen, timeout, [&] { return has_thread || alarm_.is_watched(); });
    return poll();
  }
  watch(seen, timeout);
  alarm_.end();
  wakeup_.wake_sleepers();  // one of them may watch now
  return poll();
}

/// Sleeps until the devices have news. Returns at once if there was news after `seen`.
void Verbs::watch(std::uint32_t seen, std::chrono::microseconds timeout) noexcept {
  if (has_lost_.load(std::memory_order_relaxed)) timeout = std::min(timeout, kLostPause);
  // After asking for an event, completions that came before must be looked for. The loop insists on this,
  // since a thread that took them without having announced them would go unnoticed.
  for (const Rail& rail : rails_) ibv_req_notify_cq(rail.queue.get(), 0);
  reap(true);
  if (wakeup_.generation() != seen) return;
  std::array<pollfd, 2 * kMaxRails + 2> events{};
  std::size_t count = 0;
  for (const Rail& rail : rails_) {
    events[count++] = {rail.channel->fd, POLLIN, 0};
    events[count++] = {rail.device.context->async_fd, POLLIN, 0};
  }
  if (connector_ != nullptr) events[count++] = {connector_->event_fd(), POLLIN, 0};
  events[count] = {alarm_.fd(), POLLIN, 0};
  const timespec limit{timeout.count() / 1'000'000, timeout.count() % 1'000'000 * 1000};
  if (ppoll(events.data(), count + 1, &limit, nullptr) <= 0) return;
  if (events[count].revents != 0) alarm_.silence();
  bool told = connector_ != nullptr && events[count - 1].revents != 0;
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    while (library().get_cq_event(rails_[r].channel.get(), &queue, &context) == 0)
      library().ack_cq_events(queue, 1);
    told = told || events[2 * r + 1].revents != 0;
  }
  if (!told) return;
  hold();
  look_at_events();
  reaping_.clear(std::memory_order_release);
}

/// Runs the progress thread: it polls with a core for itself; otherwise it sleeps until there is something.
void Verbs::run(const std::stop_token& stop) noexcept {
  const bool alone =
      settings_.verbs.poll_cpu >= 0 && topology::pin_this_thread({settings_.verbs.poll_cpu, 0});
  while (!stop.stop_requested()) {
    if (alone)
      reap(false);
    else
      watch(wakeup_.generation(), kThreadPause);
  }
}

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
