// This file has the messages between a worker and other processes, and what it does while it has no task.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "tasks/worker.h"

namespace edgewire::tasks {

namespace {

constexpr std::uint64_t kMailPause = 2'000;         // nanoseconds between looks at the mail while tasks run
constexpr std::uint64_t kShortestAskPause = 5'000;  // nanoseconds; doubled with each refusal
constexpr std::uint64_t kLongestAskPause = 1'000'000;
constexpr std::uint64_t kRoundPause = 50'000'000;  // nanoseconds between looks whether anything can run

}  // namespace

// ---- messages that go --------------------------------------------------------------------------------

void Worker::post(int peer, const Header& header, std::span<const Ref> refs, std::string_view body) {
  if (header.kind <= MailKind::subscribe) WorkerCounts::add(counts_.sent, std::uint64_t{1});
  job_.mail_->post(lane_, peer, header, refs, body);
}

void Worker::send_task(int peer, const Spawn& spawn, const Ref& result, bool asked_for) {
  const Header header{.kind = MailKind::spawn,
                      .asked_for = asked_for,
                      .movable = spawn.process == kAnywhere,
                      .function = spawn.function,
                      .ref = WireRef::of(result),
                      .sent_ns = now_if_measured()};
  post(peer, header, spawn.refs.all(),
       job_.retry_ ? spawn.arguments + to_bytes(spawn.name) : spawn.arguments);
  if (result.process() == rank()) return;
  for (const Future* const answer : job_.guests_.end(result)) subscribe_at_owner(result, *answer, false);
}

void Worker::send_result(const Ref& ref, const Result& value) {
  ++figures_.results_sent;
  post(ref.process(), {.kind = MailKind::put, .ref = WireRef::of(ref), .sent_ns = now_if_measured()},
       value.refs, value.bytes);
}

// ---- messages that come ------------------------------------------------------------------------------

/// Looks at the mail after a task: what the task has posted leaves at once.
void Worker::look_at_mail() {
  topology::Asides asides(observer_, lane_, -1);
  job_.mail_->flush(lane_);
  asides.was(topology::Phase::send);
  const std::uint64_t now = now_ns();
  if (now - mail_ns_ < kMailPause) return;
  exchange_mail();
  mail_ns_ = now;
}

std::size_t Worker::exchange_mail() {
  Mail& mail = *job_.mail_;
  topology::Asides asides(observer_, lane_, -1);
  const std::size_t taken = mail.drain(lane_, [&](int peer, const Message& message) { take(peer, message); });
  if (taken > 0) asides.was(topology::Phase::apply);
  mail.flush(lane_);
  return taken;
}

void Worker::take(int peer, const Message& message) {
  const Header& header = message.header;
  if (header.kind <= MailKind::subscribe) {
    become(true);  // set before the count, see end_round()
    WorkerCounts::add(counts_.received, std::uint64_t{1});
  }
  switch (header.kind) {
    case MailKind::spawn:
      return take_task(peer, message);
    case MailKind::put:
      return take_result(peer, message);
    case MailKind::subscribe:
      return subscribe(peer, header);
    case MailKind::ask:
      return give_task(peer);
    case MailKind::refuse:
      asked_ = false;
      ask_pause_ns_ = std::clamp(2 * ask_pause_ns_, kShortestAskPause, kLongestAskPause);
      next_ask_ns_ = now_ns() + ask_pause_ns_;
      return;
    case MailKind::stop:
      job_.stop_.store(true, std::memory_order_release);  // pairs with run()
      return;
    case MailKind::look: {
      Activity state = job_.activity();
      state.round = header.reply;
      return post(peer, {.kind = MailKind::state}, {}, to_bytes(state));
    }
    case MailKind::state:
      return count_in(from_bytes<Activity>(message.body));
    case MailKind::read:  // Mail takes it
      break;
  }
  throw Error(fmt::format("rank {} sent a message of an unknown kind", peer));
}

void Worker::take_task(int peer, const Message& message) {
  const Header& header = message.header;
  if (header.function >= job_.registry_.size() || header.ref.ref().process() >= size())
    throw Error(fmt::format("rank {} sent a task that cannot run", peer));
  if (header.asked_for) {
    asked_ = false;
    ask_pause_ns_ = next_ask_ns_ = 0;
  }
  if (header.sent_ns > 0) figures_.send_ns += now_ns() - header.sent_ns;
  Spawn spawn{header.function, std::string(message.body),
              std::vector<Ref>(message.refs.begin(), message.refs.end()),
              header.movable ? kAnywhere : rank()};
  if (job_.retry_) {
    if (message.body.size() < sizeof(Name))
      throw Error(fmt::format("rank {} sent a task without a name", peer));
    spawn.name = from_bytes<Name>(message.body.substr(message.body.size() - sizeof(Name)));
    spawn.arguments.resize(spawn.arguments.size() - sizeof(Name));
  }
  const Ref result = header.ref.ref();
  if (result.process() != rank()) job_.guests_.add(result);
  make_ready(*new Context(std::move(spawn), result));
}

void Worker::take_result(int peer, const Message& message) {
  const Ref ref = message.header.ref.ref();
  Future* const future = ref.process() == rank() ? job_.futures_.find(ref) : nullptr;
  if (future == nullptr || future->is_done())
    throw Error(fmt::format("rank {} sent a result that nobody waits for", peer));
  if (message.header.sent_ns > 0) figures_.return_ns += now_ns() - message.header.sent_ns;
  fulfil(*future, {std::string(message.body), {message.refs.begin(), message.refs.end()}});
}

void Worker::subscribe(int peer, const Header& header) {
  const Ref ref = header.ref.ref(), reply = WireRef{header.reply}.ref();
  Future* const future = ref.process() == rank() ? job_.futures_.find(ref) : nullptr;
  if (future == nullptr || reply.process() != peer)
    throw Error(
        fmt::format("a task in process {} waits for a result that was taken before, or never spawned", peer));
  auto waiter = std::make_unique<Waiter>(Waiter{nullptr, nullptr, reply, header.last, false});
  if (future->add(*waiter)) {
    [[maybe_unused]] Waiter* const owned = waiter.release();  // the future owns it
    return;
  }
  send_result(reply, future->value);
  if (header.last) release(*future);
}

// ---- tasks for those who have none -------------------------------------------------------------------

/// Gives the peer the oldest task that has not started and may run anywhere, from a worker that has more.
void Worker::give_task(int peer) {
  const auto may_go = [](const Context& task) { return task.may_move(); };
  for (std::size_t i = 0; i < job_.workers_.size(); ++i) {
    auto& deque = job_.workers_[(static_cast<std::size_t>(lane_) + i) % job_.workers_.size()]->deque_;
    if (deque.size() < 2) continue;
    become(true);  // set before the task leaves its deque
    const std::unique_ptr<Context> task(deque.steal(2, may_go));
    if (!task) continue;
    ++figures_.tasks_moved;
    ++figures_.tasks_sent;
    return send_task(peer, task->spawn_, task->result_, true);
  }
  post(peer, {.kind = MailKind::refuse});
}

void Worker::ask_for_task() {
  if (asked_ || job_.peers_.empty() || now_ns() < next_ask_ns_) return;
  random_ ^= random_ << 13;  // xorshift64
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const int peer = job_.peers_[random_ % job_.peers_.size()];
  post(peer, {.kind = MailKind::ask});
  job_.mail_->flush(lane_);
  asked_ = true;
}

void Worker::idle() {
  const std::uint32_t seen = job_.wakeup_.generation();
  if (job_.mail_ && exchange_mail() > 0) {
    idle_turns_ = 0;
    return;
  }
  become(false);
  for (const auto& worker : job_.workers_)
    if (worker->deque_.size() > 0) return;
  if (job_.mail_) ask_for_task();
  if (rank() == 0 && lane_ == 0) detect_termination();
  if (++idle_turns_ <= (job_.process_.oversubscribed() ? 10 : 20'000)) return;  // then it blocks
  if (job_.mail_)
    job_.mail_->wait();
  else
    job_.wakeup_.sleep(seen, std::chrono::milliseconds(1));
}

void Worker::tell_stop() {
  for (const int peer : job_.peers_) post(peer, {.kind = MailKind::stop});
  Mail& mail = *job_.mail_;
  for (mail.flush(lane_); !mail.all_sent(lane_); mail.flush(lane_))
    mail.drain(lane_, [](int, const Message&) {});
}

// ---- termination detection: whether anything can still run ----------------------------------------------
// Mattern, "Algorithms for distributed termination detection", Distributed Computing 1987: four counters.

void Worker::detect_termination() {
  if (round_.missing > 0 || now_ns() < round_.next_ns) return;
  round_.missing = static_cast<int>(job_.peers_.size());
  round_.sum = job_.activity();
  round_.sum.round = ++round_.number;
  for (const int peer : job_.peers_) post(peer, {.kind = MailKind::look, .reply = round_.number});
  if (job_.peers_.empty())
    end_round();
  else
    job_.mail_->flush(lane_);
}

void Worker::count_in(const Activity& state) {
  if (state.round != round_.number || round_.missing == 0) return;
  round_.sum += state;
  if (--round_.missing == 0) end_round();
}

/// Ends a round. If two rounds have counted the same, nothing has happened between them. If then nobody was
/// busy and all messages had arrived, nothing will happen.
void Worker::end_round() {
  const Activity sum = round_.sum, last = std::exchange(round_.last, sum);
  round_.next_ns = now_ns() + kRoundPause;
  const bool quiet = sum.busy == 0 && last.busy == 0 && sum.sent == sum.received;
  const bool same = sum.steps == last.steps && sum.sent == last.sent && sum.received == last.received;
  if (!quiet || !same || last.round == 0 || job_.stop_.load()) return;
  throw Error(fmt::format(
      "no task can run: {} wait{} for results that never come{}; see whether one waits for itself",
      sum.suspended, sum.suspended == 1 ? "s" : "", job_.waiting()));
}

}  // namespace edgewire::tasks
