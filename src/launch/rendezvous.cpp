#include "launch/rendezvous.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
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

constexpr char kGo = 'G';
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
  while (missing() != streams.end()) {
    for (Connector::Connection& made : connector.step(std::chrono::milliseconds(100)))
      streams[static_cast<std::size_t>(made.introduction.from)] = std::move(made.socket);
    if (Clock::now() < deadline || missing() == streams.end()) continue;
    const auto rank = missing() - streams.begin();
    throw Error(fmt::format("rank {} ({}) has not connected within {} s", rank,
                            job.hosts[static_cast<std::size_t>(rank)], job.start_timeout_s));
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
  pollfd event{streams[0].get(), POLLIN, 0};
  poll(&event, 1, static_cast<int>((job.start_timeout_s + 5) * 1000));
  char go = 0;
  if (recv(streams[0].get(), &go, 1, MSG_DONTWAIT) != 1 || go != kGo)
    throw Error(fmt::format("rank 0 ({}) gave up before all processes had connected", hub));
  return streams;
}

}  // namespace edgewire::launch
