#include "launch/rendezvous.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>

#include "error.h"
#include "transport/connector.h"

namespace edgewire::launch {
namespace {

using Clock = std::chrono::steady_clock;
using transport::Connector;
using transport::FileDescriptor;
using transport::Introduction;
using transport::Purpose;

constexpr char kGo = 'G';  ///< else comes the line with which rank 0 gives up
constexpr std::size_t kLongestLine = 1000;
constexpr std::chrono::seconds kTryEach{5};  ///< of several addresses

Clock::time_point deadline_of(const Rendezvous& job) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(job.start_timeout_s));
}

/// The connection to rank 0 at one address; none when `until` has come, or, unless this is the `only`
/// address, when another party answers there. `trouble` says why.
FileDescriptor call_hub(const Rendezvous& job, const std::string& address, int port, Clock::time_point until,
                        bool only, std::string& trouble) {
  const FileDescriptor no_listener;
  Connector connector(no_listener, job.secret, Purpose::Launch, job.rank);
  connector.call(address, port, {Purpose::Launch, job.rank, 0, job.size()});
  try {
    while (Clock::now() < until)
      for (Connector::Connection& made : connector.step(std::chrono::milliseconds(100)))
        return std::move(made.socket);
    trouble = connector.trouble(0);
  } catch (const Error& error) {
    if (only) throw;
    trouble = error.what();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

/// From now on the system finds out when the host at the other end is gone.
void watch_host(const FileDescriptor& stream, double timeout_s) {
  const int on = 1, seconds = std::max(1, static_cast<int>(timeout_s / 4));
  const int tries = 3;
  setsockopt(stream.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(stream.get(), IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
  setsockopt(stream.get(), IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
  setsockopt(stream.get(), IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
}

/// Nobody says anything before rank 0 does.
bool is_gone(const FileDescriptor& stream) {
  char byte = 0;
  return stream &&
         (recv(stream.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR));
}

[[noreturn]] void give_up(const std::vector<FileDescriptor>& streams, const std::string& line) {
  for (const FileDescriptor& stream : streams)
    if (stream)
      ::send(stream.get(), line.data(), std::min(line.size(), kLongestLine), MSG_NOSIGNAL | MSG_DONTWAIT);
  throw Error(line);
}

}  // namespace

std::vector<FileDescriptor> receive_others(const Rendezvous& job, const FileDescriptor& listener) {
  const auto deadline = deadline_of(job);
  std::vector<FileDescriptor> streams(job.hosts.size());
  Connector connector(listener, job.secret, Purpose::Launch, 0);
  connector.welcome = [&](const Introduction& who) {
    return who.from > 0 && who.from < job.size() && who.lane == job.size() &&
           !streams[static_cast<std::size_t>(who.from)];
  };
  connector.on_refused = [](const std::string& from, const std::string& reason) {
    std::fprintf(stderr, "edgewire: rank 0: refused %s: %s\n", from.c_str(), reason.c_str());
  };
  const auto missing = [&] {
    return std::find_if(streams.begin() + 1, streams.end(), [](auto& s) { return !s; });
  };
  const auto name_of = [&](std::ptrdiff_t rank) {
    return fmt::format("rank {} ({})", rank, job.hosts[static_cast<std::size_t>(rank)]);
  };
  const auto step = [&] {
    try {
      return connector.step(std::chrono::milliseconds(100));
    } catch (const Error& error) {
      give_up(streams, error.what());
    }
  };
  while (missing() != streams.end()) {
    for (Connector::Connection& made : step()) {
      watch_host(made.socket, job.peer_timeout_s);
      streams[static_cast<std::size_t>(made.introduction.from)] = std::move(made.socket);
    }
    if (const auto gone = std::ranges::find_if(streams, is_gone); gone != streams.end())
      give_up(streams,
              fmt::format("{} was lost before all processes had connected", name_of(gone - streams.begin())));
    if (Clock::now() < deadline || missing() == streams.end()) continue;
    give_up(streams, fmt::format("{} has not connected within {} s", name_of(missing() - streams.begin()),
                                 job.start_timeout_s));
  }
  for (const FileDescriptor& stream : streams)
    if (stream && ::send(stream.get(), &kGo, 1, MSG_NOSIGNAL) != 1)
      throw Error(fmt::format("rank {} left at the start", &stream - streams.data()));
  return streams;
}

std::vector<FileDescriptor> come_to_hub(const Rendezvous& job, const std::vector<std::string>& addresses,
                                        int port) {
  const auto deadline = deadline_of(job);
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
  // Rank 0 gives up first, at its own deadline.
  watch_host(streams[0], job.peer_timeout_s);
  pollfd event{streams[0].get(), POLLIN, 0};
  poll(&event, 1, static_cast<int>((job.start_timeout_s + 5) * 1000));
  std::string line(1, '\0');
  const bool said = recv(streams[0].get(), line.data(), 1, MSG_DONTWAIT) == 1;
  if (said && line[0] == kGo) return streams;
  if (!said) throw Error(fmt::format("rank 0 ({}) was lost before all processes had connected", hub));
  line.resize(kLongestLine);
  const ssize_t more = recv(streams[0].get(), line.data() + 1, line.size() - 1, MSG_DONTWAIT);
  line.resize(1 + static_cast<std::size_t>(std::max<ssize_t>(more, 0)));
  throw Error(fmt::format("rank 0 ({}) gave up: {}", hub, line));
}

}  // namespace edgewire::launch
