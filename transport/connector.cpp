#include "transport/connector.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/needed_calls.h"
#include "transport/sockets.h"

namespace edgewire::transport {
namespace {

using namespace std::chrono_literals;

constexpr auto kHandshakeLimit = 5s;  ///< time for one try of either side
constexpr auto kRetryAfter = 50ms;
/// Number of unproven callers at a time; more wait in the kernel's queue.
constexpr std::size_t kMaxCallers = 256;

}  // namespace

Connector::Connector(const FileDescriptor& listener, const std::string& secret, Purpose purpose, int rank)
    : listener_(listener), secret_(secret), purpose_(purpose), rank_(rank) {
  require_calls({{"accept4", [] { return long{accept4(-1, nullptr, nullptr, 0)}; }},
                 {"connect", [] { return long{connect(-1, nullptr, 0)}; }},
                 {"getsockname", [] { return long{getsockname(-1, nullptr, nullptr)}; }},
                 {"poll", [] { return long{poll(nullptr, 0, 0)}; }}});
}

void Connector::call(const std::string& address, int port, const Introduction& introduction) {
  Call& added = calls_.emplace_back();
  added.address = address;
  added.port = port;
  added.introduction = introduction;
}

const Connector::Call* Connector::open_call(int rank) const {
  const auto found = std::ranges::find_if(
      calls_, [&](const Call& call) { return call.introduction.to == rank && !call.done; });
  return found == calls_.end() ? nullptr : &*found;
}

std::string Connector::trouble(int rank) const {
  const Call* call = open_call(rank);
  if (call == nullptr) return "";
  const std::string way = call->way.empty() ? "" : fmt::format(" ({})", call->way);
  if (const double silent = silence_s(rank); silent > 0)
    return fmt::format("its host takes connections, but nothing was said for {:.1f} s (is it stopped?){}",
                       silent, way);
  const std::chrono::duration<double> waited = Clock::now() - call->begun;
  if (call->begun == Clock::time_point{} || (!call->trouble.empty() && waited < 1s))
    return call->trouble + (call->trouble.empty() ? "" : way);
  return fmt::format(
      "no answer from {} port {} within {:.1f} s (is the host up, and does no firewall drop "
      "packets?){}",
      call->address, call->port, waited.count(), way);
}

double Connector::silence_s(int rank) const {
  const Call* call = open_call(rank);
  if (call == nullptr || call->taken == Clock::time_point{}) return 0;
  return std::chrono::duration<double>(Clock::now() - call->taken).count();
}

std::vector<Connector::Connection> Connector::step(std::chrono::milliseconds timeout) {
  const auto start = Clock::now();
  std::vector<pollfd> events;
  if (listener_ && callers_.size() < kMaxCallers) events.push_back({listener_.get(), POLLIN, 0});
  const auto add = [&](const Handshake& h) {
    events.push_back({h.fd(), static_cast<short>(h.wants_to_read() ? POLLIN : POLLOUT), 0});
  };
  for (const Caller& caller : callers_) add(caller.handshake);
  for (Call& call : calls_) {
    if (call.done) continue;
    if (call.attempt.empty())
      timeout = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(call.next - start), 0ms, timeout);
    for (const Handshake& h : call.attempt) add(h);
  }
  poll(events.data(), events.size(), static_cast<int>(timeout.count()));

  const auto now = Clock::now();
  std::vector<Connection> made;
  accept_callers(now);
  for (Caller& caller : std::exchange(callers_, {}))  // if one throws, the others call again
    if (!drive(caller, now, made)) callers_.push_back(std::move(caller));
  for (Call& call : calls_)
    if (!call.done) drive(call, now, made);
  return made;
}

void Connector::accept_callers(Clock::time_point now) {
  while (listener_ && callers_.size() < kMaxCallers) {
    std::string from;
    FileDescriptor socket = accept_from(listener_, from);
    if (!socket) return;
    callers_.push_back(
        {Handshake::accept(std::move(socket), secret_, purpose_, rank_), from, now + kHandshakeLimit});
  }
}

/// Returns true when this caller is through, in or out.
bool Connector::drive(Caller& caller, Clock::time_point now, std::vector<Connection>& made) {
  Handshake& handshake = caller.handshake;
  std::string reason;
  switch (handshake.step()) {
    case Handshake::State::Going:
      if (now < caller.deadline) return false;
      if (on_refused) on_refused(caller.from, "said nothing");
      return true;  // without a word, so that it may call again
    case Handshake::State::Refused:
      reason = handshake.reason();
      break;
    case Handshake::State::Done:
      if (!welcome || welcome(handshake.introduction())) {
        if (handshake.welcome()) made.push_back({handshake.introduction(), handshake.take_socket()});
        return true;
      }
      reason = fmt::format("rank {} is here already or is not of this job", handshake.introduction().from);
  }
  handshake.refuse();
  if (handshake.is_final())
    throw Error(fmt::format("rank {} at {}: {}", handshake.introduction().from, caller.from, reason));
  if (on_refused) on_refused(caller.from, reason);
  return true;
}

void Connector::start(Call& call, Clock::time_point now) {
  Outgoing made = start_connecting(call.address, call.port);
  call.way = made.way;
  if (made.error != 0) {
    call.trouble = reason(made.error);
    call.begun = call.taken = {};
    call.next = now + kRetryAfter;
    return;
  }
  if (call.begun == Clock::time_point{}) call.begun = now;
  call.attempt.push_back(Handshake::connect(std::move(made.socket), secret_, call.introduction));
  call.next = now + kHandshakeLimit;
}

void Connector::drive(Call& call, Clock::time_point now, std::vector<Connection>& made) {
  if (call.attempt.empty()) {
    if (now < call.next) return;
    start(call, now);
    if (call.attempt.empty()) return;
  }
  Handshake& handshake = call.attempt.front();
  switch (handshake.step()) {
    case Handshake::State::Going:
      if (handshake.wants_to_read() && call.taken == Clock::time_point{}) call.taken = now;
      if (now < call.next) return;
      break;  // what was begun goes on with the next attempt
    case Handshake::State::Done:
      made.push_back({call.introduction, handshake.take_socket()});
      call.done = true;
      break;
    case Handshake::State::Refused:
      call.trouble = handshake.reason();
      call.begun = call.taken = {};
      if (handshake.is_final())
        throw Error(fmt::format("rank {} at {} port {}: {}", call.introduction.to, call.address, call.port,
                                call.trouble));
  }
  call.attempt.clear();
  call.next = now + kRetryAfter;
}

}  // namespace edgewire::transport
