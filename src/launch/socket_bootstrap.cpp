#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/seconds.h"
#include "launch/bootstrap.h"
#include "launch/delivery.h"
#include "launch/frames.h"
#include "transport/crc32c.h"
#include "transport/handshake.h"

namespace edgewire::launch {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;
using transport::FileDescriptor;

constexpr milliseconds kLinger{1000};  ///< time for the last messages when the bootstrap ends

/// One stream and what is under way on it.
struct Peer {
  int rank = -1;
  FileDescriptor stream;
  std::deque<Message> outgoing;
  std::size_t sent_bytes = 0;  ///< bytes of outgoing.front() that were sent
  MessageReader reader;
  std::deque<Arrival> arrived;  ///< messages that nobody has received
  Clock::time_point heard;
  Delivery delivery;
};

class SocketBootstrap final : public Bootstrap {
 public:
  SocketBootstrap(Member member, std::vector<FileDescriptor> streams)
      : Bootstrap(std::move(member)),
        reporter_(self_.rank),
        timeout_(self_.peer_timeout_s),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        told_losses_(self_.size) {
    if (!wake_) throw Error(fmt::format("cannot make an eventfd: {}", reason(errno)));
    require_message_calls();
    last_beat_ = last_round_ = Clock::now();
    for (std::size_t p = 0; p < streams.size(); ++p) {
      if (!streams[p]) continue;
      fcntl(streams[p].get(), F_SETFL, O_NONBLOCK);
      Peer& added = peers_.emplace_back();
      added.rank = static_cast<int>(p);
      added.stream = std::move(streams[p]);
      added.heard = last_round_;
      added.delivery = Delivery(added.stream, last_round_);
    }
    if (self_.proven) messages_sent_ = transport::Handshake::kMessages * peers_.size();
    watcher_ = std::thread([this] {
      try {
        watch();
      } catch (const std::exception& error) {  // out of memory: the callers would not hear of it otherwise
        health_->fail(-1, line_of(error));
        changed_.notify_all();
      }
    });
  }
  ~SocketBootstrap() override {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    wake();
    watcher_.join();
  }

  std::vector<std::string> allgather(const std::string& mine) override {
    std::vector<std::string> all = gather(mine);
    if (self_.rank != 0) return unpack(receive(0, FrameKind::Data), self_.size);
    send(-1, FrameKind::Data, pack(all));
    return all;
  }

  std::vector<std::string> alltoall(std::span<const std::string> to) override {
    if (to.size() != static_cast<std::size_t>(self_.size))
      throw Error("alltoall needs one message for each process");
    std::vector<std::string> rows = gather(pack(to));
    if (self_.rank != 0) return unpack(receive(0, FrameKind::Data), self_.size);
    std::vector<std::vector<std::string>> columns(to.size());
    for (const std::string& row : rows) {
      std::vector<std::string> items = unpack(row, self_.size);
      for (std::size_t p = 0; p < items.size(); ++p) columns[p].push_back(std::move(items[p]));
    }
    for (int p = 1; p < self_.size; ++p) send(p, FrameKind::Data, pack(columns[p]));
    return std::move(columns[0]);
  }

  std::vector<std::string> gather(const std::string& mine) override {
    if (health_->failed()) throw Error(health_->message());
    ++step_;
    if (self_.rank != 0) {
      send(0, FrameKind::Data, mine);
      return {};
    }
    std::vector<std::string> all{mine};
    for (int p = 1; p < self_.size; ++p) all.push_back(receive(p, FrameKind::Data));
    return all;
  }

  void abort(const std::string& message) noexcept override {
    health_->fail(-1, message);
    wake();
  }
  void finish() override {
    {
      const std::scoped_lock lock(mutex_);
      if (finished_) return;
    }
    if (health_->failed()) throw Error(health_->message());
    ++step_;
    if (self_.rank != 0) {
      send(0, FrameKind::Finish);
      receive(0, FrameKind::Finish);
      return;
    }
    for (int p = 1; p < self_.size; ++p) receive(p, FrameKind::Finish);
    {
      const std::scoped_lock lock(mutex_);
      finished_ = true;  // set before any process may go
    }
    send(-1, FrameKind::Finish);
  }

 private:
  // Callers of the collective steps.
  void send(int to, FrameKind kind, std::string_view payload = {}) {
    if (payload.size() > kMaxMessageBytes)
      throw Error(fmt::format("a message of {} bytes is too large", payload.size()));
    Message message = frame(kind, step_, payload);
    {
      const std::scoped_lock lock(mutex_);
      tell_losses();  // a receiver that reads of a lost peer in this message knows of the loss
      for (Peer& p : peers_)
        if (to < 0 || p.rank == to) p.outgoing.push_back(message);
      messages_sent_ += to < 0 ? peers_.size() : 1;
    }
    wake();
  }

  /// Receives a message. The result is empty if the peer was lost and the job goes on without it.
  std::string receive(int from, FrameKind kind) {
    std::unique_lock lock(mutex_);
    Peer& source = peer(from);
    // The timeout is for failures that the transport notices: they do not notify this thread.
    while (source.arrived.empty() && !health_->failed() && !health_->lost(from))
      changed_.wait_for(lock, milliseconds(50));
    if (health_->failed()) throw Error(health_->message());
    if (health_->lost(from)) return {};
    Arrival arrival = std::move(source.arrived.front());
    source.arrived.pop_front();
    if (arrival.header.kind != kind || arrival.header.tag != step_)
      throw Error(fmt::format("{} is at another step of the job than rank {}", name_of(from), self_.rank));
    return std::move(arrival.payload);
  }

  void wake() noexcept {
    eventfd_write(wake_.get(), 1);  // a full counter wakes the thread, too
  }
  Peer& peer(int rank) { return *std::ranges::find(peers_, rank, &Peer::rank); }

  // The watching thread; all with mutex_ held.
  void watch() {
    std::unique_lock lock(mutex_);
    Clock::time_point linger_until = Clock::time_point::max();
    while (true) {
      wait_for_events(lock);
      const auto now = Clock::now();
      keep_alive(now);
      tell_losses();
      if (health_->failed()) tell_failure();
      for (Peer& p : peers_) {
        // Perhaps only another one has lost it: now it is lost for all, and ends.
        if (health_->lost(p.rank)) p.stream.close();
        flush(p);
      }
      changed_.notify_all();
      if (!stopping_) continue;
      linger_until = std::min(linger_until, now + kLinger);
      const bool idle = std::ranges::all_of(peers_, [](const Peer& p) { return p.outgoing.empty(); });
      if (idle || now > linger_until) return;
    }
  }

  /// Waits a moment for arrivals and for room, with the lock released, and reads what came.
  void wait_for_events(std::unique_lock<std::mutex>& lock) {
    std::vector<pollfd> events{{wake_.get(), POLLIN, 0}};
    for (const Peer& p : peers_)
      events.push_back({p.stream.get(), static_cast<short>(POLLIN | (p.outgoing.empty() ? 0 : POLLOUT)), 0});
    const auto pause = std::clamp(timeout_ / 20, duration<double>(0.005), duration<double>(0.25));
    lock.unlock();
    poll(events.data(), events.size(), static_cast<int>(pause.count() * 1000));
    lock.lock();
    notice_own_pause();
    std::uint64_t wakes = 0;
    [[maybe_unused]] const ssize_t ignored = ::read(wake_.get(), &wakes, sizeof wakes);
    for (std::size_t i = 0; i < peers_.size(); ++i)
      if ((events[i + 1].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read(peers_[i]);
  }

  /// Notices a pause of this process, stopped or on a sleeping machine: the peers were not silent then.
  void notice_own_pause() {
    const auto now = Clock::now();
    if (now - last_round_ > timeout_ / 2) {
      pause_ = now - last_round_;
      resumed_ = now;
      for (Peer& p : peers_) {
        p.heard = now;
        p.delivery.begin_anew(now);
      }
    }
    last_round_ = now;
  }

  void read(Peer& peer) {
    // It reads one piece for each peer and round, so that a peer that sends much does not delay the others.
    const ssize_t got = peer.reader.read(peer.stream.get());
    if (got > 0) {
      peer.heard = Clock::now();
      take_messages(peer);
    } else if (got == 0) {
      lose(peer, "was lost: connection closed");
    } else if (errno != EAGAIN && errno != EINTR) {
      lose(peer, fmt::format("was lost: {}", reason(errno)));
    }
  }

  void take_messages(Peer& peer) {
    while (peer.stream) {
      Arrival arrival;
      switch (peer.reader.next(arrival)) {
        case MessageReader::Next::Partial:
          return;
        case MessageReader::Next::Whole:
          take(peer, std::move(arrival));
          break;
        case MessageReader::Next::Changed:
          // The stream stays open, so that the peer hears why the job fails.
          if (!finished_)
            health_->fail(
                peer.rank,
                fmt::format("a control message from {} was changed on its way to rank {} (wrong CRC-32C): {}",
                            name_of(peer.rank), self_.rank, transport::kChangedRemedy));
          return;
        case MessageReader::Next::TooLong:
          return lose(peer, fmt::format("sent a malformed message of {} bytes", arrival.header.length));
      }
    }
  }

  void take(Peer& peer, Arrival arrival) {
    const auto& [header, payload] = arrival;
    switch (header.kind) {
      case FrameKind::Heartbeat:
        break;
      case FrameKind::Finish:
        if (peer.rank == 0) finished_ = true;
        [[fallthrough]];
      case FrameKind::Data:
        peer.arrived.push_back(std::move(arrival));
        break;
      case FrameKind::Abort: {
        const auto culprit = static_cast<int>(header.tag & 0xFFFF);
        if (!health_->failed()) reporter_ = static_cast<int>(header.tag >> 16);
        if (culprit == self_.rank)
          health_->fail(reporter_, fmt::format("{} gave up: {}", name_of(reporter_), payload));
        else
          health_->fail(culprit, payload);
        break;
      }
      case FrameKind::Lost:
        if (static_cast<int>(header.tag) == self_.rank)
          health_->fail(-1, fmt::format("{} goes on without this process: {}", name_of(peer.rank), payload));
        else
          health_->lose(static_cast<int>(header.tag), payload);
        break;
      default:
        lose(peer,
             fmt::format("sent a malformed message of kind {}", static_cast<std::uint32_t>(header.kind)));
    }
  }

  void flush(Peer& peer) {
    if (!peer.stream) peer.outgoing.clear();
    while (!peer.outgoing.empty()) {
      const std::string& bytes = *peer.outgoing.front();
      const ssize_t sent = ::send(peer.stream.get(), bytes.data() + peer.sent_bytes,
                                  bytes.size() - peer.sent_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) return;  // no room yet, or lost: then reading says why
      peer.sent_bytes += sent;
      peer.delivery.add(sent);
      if (peer.sent_bytes < bytes.size()) continue;
      peer.outgoing.pop_front();
      peer.sent_bytes = 0;
    }
  }

  /// Sends heartbeats, and finds peers that send none. It gives a peer up a little before the timeout, so
  /// that all others know of it when the timeout ends.
  void keep_alive(Clock::time_point now) {
    if (now - last_beat_ >= std::min(timeout_ / 4, duration<double>(0.25))) {
      last_beat_ = now;
      const Message beat = frame(FrameKind::Heartbeat, 0);
      for (Peer& p : peers_)
        if (p.outgoing.empty()) p.outgoing.push_back(beat);
    }
    for (Peer& p : peers_) {
      const duration<double> silence = now - p.heard;
      if (!p.stream || finished_) continue;
      if (silence > timeout_ * 0.9)
        lose(p, fmt::format("has been silent for {:.1f} s{}", silence.count(),
                            p.delivery.why_silent(p.stream, silence)));
      else if (p.delivery.stuck(p.stream, now) > timeout_ / 2 && silence < timeout_ * 0.3)
        lose(p, p.delivery.why_stuck(p.stream));
    }
  }

  /// Tells of a failure: rank 0 tells all others, the others tell rank 0.
  void tell_failure() {
    if (std::exchange(told_, true)) return;
    const int culprit = health_->peer() < 0 ? self_.rank : health_->peer();
    const std::string text = health_->peer() < 0
                                 ? fmt::format("{} failed: {}", name_of(self_.rank), health_->message())
                                 : health_->message();
    const Message message =
        frame(FrameKind::Abort, static_cast<std::uint32_t>(culprit | reporter_ << 16), text);
    for (Peer& p : peers_) p.outgoing.push_back(message);
  }

  /// Tells of losses where the job goes on: rank 0 tells all others, the others tell rank 0.
  void tell_losses() {
    for (int rank = 1; rank < self_.size && health_->losses() > 0; ++rank) {
      if (told_losses_[rank] || !health_->lost(rank)) continue;
      told_losses_[rank] = true;
      const Message message =
          frame(FrameKind::Lost, static_cast<std::uint32_t>(rank), health_->why_lost(rank));
      for (Peer& p : peers_) p.outgoing.push_back(message);
    }
  }

  void lose(Peer& peer, const std::string& cause) {
    peer.stream.close();
    peer.outgoing.clear();
    if (finished_) return;
    if (pause_ > timeout_ * 0.8 && Clock::now() - resumed_ < timeout_)  // the peer has given up this process
      health_->fail(-1, fmt::format("was stopped for {:.1f} s", pause_.count()));
    else
      health_->lose(peer.rank, fmt::format("{} {}", name_of(peer.rank), cause));
  }

  std::string name_of(int rank) const {
    const auto index = static_cast<std::size_t>(rank);
    return index < self_.hosts.size() ? fmt::format("rank {} ({})", rank, self_.hosts[index])
                                      : fmt::format("rank {}", rank);
  }

  int reporter_;  ///< rank that noticed the failure first, as far as this process knows
  duration<double> timeout_;
  FileDescriptor wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Peer> peers_;
  std::uint32_t step_ = 0;
  bool told_ = false;              ///< whether the others know of the failure
  std::vector<bool> told_losses_;  ///< whether the others know that a rank was lost, by rank
  bool finished_ = false;          ///< true when a peer that goes away is no failure
  bool stopping_ = false;
  Clock::time_point last_beat_;
  Clock::time_point last_round_;
  duration<double> pause_{0};  ///< the last long time for which this process did not run, up to resumed_
  Clock::time_point resumed_;
  std::thread watcher_;
};

}  // namespace

std::unique_ptr<Bootstrap> connect_bootstrap(Member member, std::vector<FileDescriptor> streams) {
  return std::make_unique<SocketBootstrap>(std::move(member), std::move(streams));
}

}  // namespace edgewire::launch
