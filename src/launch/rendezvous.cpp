#include "launch/rendezvous.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/seconds.h"
#include "launch/frames.h"
#include "transport/connector.h"
#include "transport/crc32c.h"
#include "transport/sockets.h"

namespace edgewire::launch {
namespace {

using transport::Connector;
using transport::FileDescriptor;
using transport::Introduction;
using transport::Purpose;

constexpr std::size_t kLongestLine = 1000;
constexpr std::chrono::seconds kTryEach{5};  ///< time for each of several addresses

Clock::time_point deadline_after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Returns the connection to rank 0 at one address; none when `until` has come, or, unless this is the `only`
/// address, when another party answers there. `trouble` says why.
FileDescriptor call_hub(const Rendezvous& job, const std::string& address, int port, Clock::time_point until,
                        bool only, std::string& trouble) {
  const FileDescriptor no_listener;
  Connector connector(no_listener, job.secret, Purpose::Launch, job.rank);
  connector.call(address, port, {Purpose::Launch, job.rank, 0, job.size()});
  try {
    while (Clock::now() < until) {
      for (Connector::Connection& made : connector.step(std::chrono::milliseconds(50)))
        return std::move(made.socket);
      if (only && connector.silence_s(0) > job.peer_timeout_s * 0.9)
        throw Error(
            fmt::format("rank 0 ({} port {}) cannot be reached: {}", address, port, connector.trouble(0)));
    }
    trouble = connector.trouble(0);
  } catch (const Error& error) {
    if (only) throw;
    trouble = error.what();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

/// The streams of processes that wait for others. Both ends send heartbeats until the job begins, so that a
/// stopped one is noticed. It takes no byte that follows Go on a stream: that is for the bootstrap.
class Waiting {
 public:
  explicit Waiting(double timeout_s)
      : timeout_(timeout_s),
        pause_(std::clamp(timeout_ / 20, std::chrono::duration<double>(0.005), kLongestPause)) {}

  /// Adds a stream, which outlives this object.
  void add(int rank, const FileDescriptor& stream) {
    // From now on the system finds out when the host at the other end is gone.
    transport::keep_alive(stream, timeout_.count() / 4, timeout_.count() / 4);
    streams_.push_back({rank, &stream, Clock::now(), ""});
  }

  /// Returns the pause between two looks.
  std::chrono::milliseconds pause() const { return std::chrono::ceil<std::chrono::milliseconds>(pause_); }
  /// Sends heartbeats where they are due, and takes what has come. Call it after each pause.
  void look() {
    const auto now = Clock::now();
    own_pause_ = std::max<std::chrono::duration<double>>(own_pause_, now - last_look_ - pause_);
    last_look_ = now;
    for (Stream& one : streams_)
      while (take_message(one)) continue;
    if (now - last_beat_ < std::min(timeout_ / 4, std::chrono::duration<double>(0.25))) return;
    last_beat_ = now;
    send(frame(FrameKind::Heartbeat, 0));
  }

  void send(const Message& message) const {
    for (const Stream& to : streams_)
      ::send(to.stream->get(), message->data(), message->size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  /// Returns the rank of the first process that is lost, and the cause. The rank is -1 if there is none.
  std::pair<int, std::string> lost() const {
    for (const Stream& one : streams_) {
      const std::chrono::duration<double> silence = last_look_ - one.heard;
      if (!one.trouble.empty() && own_pause_ > timeout_ * 0.8)  // the other one has given up this process
        throw Error(fmt::format("was stopped for {:.1f} s", own_pause_.count()));
      if (!one.trouble.empty()) return {one.rank, one.trouble};
      if (silence > timeout_ * 0.9)  // early enough that all know of it when the timeout ends
        return {one.rank,
                fmt::format("has been silent for {:.1f} s (stopped, or its link down?)", silence.count())};
    }
    return {-1, ""};
  }

  bool may_go() const { return go_; }  ///< Returns whether rank 0 has said so.
  /// The line with which rank 0 gives up; empty: it does not.
  const std::string& line() const { return line_; }

 private:
  struct Stream {
    int rank;
    const FileDescriptor* stream;
    Clock::time_point heard;
    std::string trouble;  ///< fault of the stream; empty: none
  };
  static constexpr std::chrono::duration<double> kLongestPause{0.1};

  /// Takes a message that has arrived whole. Returns false if there is none.
  bool take_message(Stream& from) {
    const int stream = from.stream->get();
    FrameHeader header;
    const ssize_t got = recv(stream, &header, sizeof header, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && errno != EAGAIN && errno != EINTR) from.trouble = "was lost: " + reason(errno);
    if (got == 0) from.trouble = "was lost";
    if (got < static_cast<ssize_t>(sizeof header)) return false;
    if (header.check != header.right_check() || header.length > kLongestLine) {
      from.trouble = fmt::format("sent a message that was changed on its way: {}", transport::kChangedRemedy);
      return false;
    }
    std::string bytes(sizeof header + header.length, '\0');
    if (recv(stream, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT) !=
        static_cast<ssize_t>(bytes.size()))
      return false;
    [[maybe_unused]] const ssize_t same = recv(stream, bytes.data(), bytes.size(), MSG_DONTWAIT);
    from.heard = Clock::now();
    if (header.kind == FrameKind::Go) go_ = true;
    if (header.kind == FrameKind::Abort) line_ = bytes.substr(sizeof header);
    return !go_;
  }

  std::chrono::duration<double> timeout_, pause_;
  std::vector<Stream> streams_;
  Clock::time_point last_beat_ = Clock::now(), last_look_ = last_beat_;
  std::chrono::duration<double> own_pause_{0};  ///< longest time for which this process did not run
  bool go_ = false;
  std::string line_;
};

constexpr const char* kBefore = "before all processes had connected";

/// Tells `missing` processes why the job cannot begin, as far as they come until then. They would else try to
/// reach rank 0 as long as they may.
void tell_late_ones(Connector& connector, std::size_t missing, const Message& why, Clock::time_point until) {
  constexpr std::chrono::milliseconds kPause{50};
  std::vector<FileDescriptor> told;  // sockets that stay open, so that no bytes under way are lost
  while (told.size() < missing && Clock::now() < until) {
    try {
      for (Connector::Connection& made : connector.step(kPause)) {
        ::send(made.socket.get(), why->data(), why->size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        told.push_back(std::move(made.socket));
      }
    } catch (const Error&) {
      --missing;  // a process of another version knows why it cannot take part
    }
  }
}

}  // namespace

std::vector<FileDescriptor> receive_others(const Rendezvous& job, const FileDescriptor& listener) {
  const auto deadline = deadline_after(job.start_timeout_s);
  std::vector<FileDescriptor> streams(job.hosts.size());
  Waiting waiting(job.peer_timeout_s);
  Connector connector(listener, job.secret, Purpose::Launch, 0);
  connector.welcome = [&](const Introduction& who) {
    return who.from > 0 && who.from < job.size() && who.lane == job.size() && !streams[who.from];
  };
  connector.on_refused = [](const std::string& from, const std::string& cause) {
    note(fmt::format("rank 0: refused {}: {}", from, cause));
  };
  const auto missing = [&] {
    return std::find_if(streams.begin() + 1, streams.end(), [](auto& s) { return !s; });
  };
  const auto name_of = [&](std::ptrdiff_t rank) {
    return fmt::format("rank {} ({})", rank, job.hosts[rank]);
  };
  bool lost = false;
  try {
    while (missing() != streams.end()) {
      for (Connector::Connection& made : connector.step(waiting.pause())) {
        auto& stream = streams[made.introduction.from];
        stream = std::move(made.socket);
        waiting.add(made.introduction.from, stream);
      }
      waiting.look();
      if (const auto [rank, cause] = waiting.lost(); rank >= 0) {
        lost = true;
        throw Error(fmt::format("{} {} {}", name_of(rank), cause, kBefore));
      }
      if (Clock::now() >= deadline && missing() != streams.end())
        throw Error(fmt::format("{} has not connected within {} s", name_of(missing() - streams.begin()),
                                job.start_timeout_s));
    }
  } catch (const Error& error) {
    const Message why = frame(FrameKind::Abort, 0, std::string(error.what()).substr(0, kLongestLine));
    waiting.send(why);
    const auto left = std::count_if(streams.begin() + 1, streams.end(), [](auto& s) { return !s; });
    if (lost && !job.launched)
      tell_late_ones(connector, static_cast<std::size_t>(left), why,
                     std::min(deadline, deadline_after(job.peer_timeout_s)));
    throw;
  }
  waiting.send(frame(FrameKind::Go, 0));
  return streams;
}

std::vector<FileDescriptor> come_to_hub(const Rendezvous& job, const std::vector<std::string>& addresses,
                                        int port) {
  const auto deadline = deadline_after(job.start_timeout_s);
  std::string hub;
  for (const std::string& address : addresses) hub += (hub.empty() ? "" : ", ") + address;
  hub += fmt::format(" port {}", port);
  const bool only = addresses.size() == 1;
  std::vector<FileDescriptor> streams(1);
  std::string trouble;
  for (std::size_t turn = 0; !streams[0]; ++turn) {
    const auto until = only ? deadline : std::min(deadline, Clock::now() + kTryEach);
    streams[0] = call_hub(job, addresses[turn % addresses.size()], port, until, only, trouble);
    if (!streams[0] && Clock::now() >= deadline)
      throw Error(
          fmt::format("rank 0 ({}) cannot be reached within {} s: {}", hub, job.start_timeout_s, trouble));
  }
  Waiting waiting(job.peer_timeout_s);
  waiting.add(0, streams[0]);
  while (!waiting.may_go()) {  // rank 0 gives up at its own start timeout
    pollfd event{streams[0].get(), POLLIN, 0};
    poll(&event, 1, static_cast<int>(waiting.pause().count()));
    waiting.look();
    if (waiting.may_go()) break;
    if (!waiting.line().empty()) throw Error(fmt::format("rank 0 ({}) gave up: {}", hub, waiting.line()));
    if (const auto [rank, cause] = waiting.lost(); rank >= 0)
      throw Error(fmt::format("rank 0 ({}) {} {}", hub, cause, kBefore));
  }
  return streams;
}

}  // namespace edgewire::launch
