#include "launch/hosts.h"

#include <fmt/core.h>
#include <poll.h>
#include <sodium.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "error.h"
#include "launch/star.h"
#include "transport/meeting.h"
#include "transport/sockets.h"

namespace edgewire::launch {
namespace {

using Clock = std::chrono::steady_clock;
using transport::FileDescriptor;
using transport::Introduction;
using transport::Meeting;
using transport::Purpose;

constexpr std::size_t kMinSecretBytes = 16;
constexpr char kGo = 'G';

std::string read_file(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) throw Error(fmt::format("{}: {}", path, std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) throw Error(fmt::format("{}: is a directory", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(fmt::format("{}: {}", path, std::strerror(errno)));
  return {std::istreambuf_iterator<char>(file), {}};
}

Host parse_host(const std::string& word, const std::string& where) {
  Host host{word, 0};
  const std::size_t bracket = word.front() == '[' ? word.find(']') : std::string::npos;
  if (word.front() == '[' && bracket == std::string::npos)
    throw Error(fmt::format("{}: no closing bracket", where));
  const std::size_t colon = word.find(':', bracket == std::string::npos ? 0 : bracket);
  // An IPv6 address without brackets has several colons and no port.
  const bool has_port = colon != std::string::npos && word.find(':', colon + 1) == std::string::npos;
  if (has_port) {
    host.address = word.substr(0, colon);
    const char* end = word.data() + word.size();
    const auto [at, error] = std::from_chars(word.data() + colon + 1, end, host.port);
    if (error != std::errc{} || at != end || host.port < 1 || host.port > 65535)
      throw Error(fmt::format("{}: not a port: '{}'", where, word.substr(colon + 1)));
  }
  if (bracket != std::string::npos) host.address = word.substr(1, bracket - 1);
  if (host.address.empty()) throw Error(fmt::format("{}: no address in '{}'", where, word));
  return host;
}

std::string label(const Host& host) { return fmt::format("{} port {}", host.address, host.port); }

/// A job of a host list, as this process joins it.
struct Job {
  std::vector<Host> hosts;
  int rank = 0;
  std::string secret;
  Clock::time_point deadline;
  double start_timeout_s = 0;

  int size() const { return static_cast<int>(hosts.size()); }
  const Host& hub() const { return hosts.front(); }
};

/// Rank 0: waits for all others, turns strangers away, then lets all go at once.
std::vector<FileDescriptor> receive_others(const Job& job) {
  std::vector<FileDescriptor> streams(job.hosts.size());
  const FileDescriptor listener = transport::listen_on(job.hub().address, job.hub().port);
  Meeting meeting(listener, job.secret, Purpose::Launch, 0);
  meeting.welcome = [&](const Introduction& who) {
    return who.from > 0 && who.from < job.size() && who.lane == job.size() &&
           !streams[static_cast<std::size_t>(who.from)];
  };
  meeting.on_refused = [](const std::string& from, const std::string& reason) {
    std::fprintf(stderr, "edgewire: rank 0: turned away %s: %s\n", from.c_str(), reason.c_str());
  };
  const auto missing = [&] {
    return std::find_if(streams.begin() + 1, streams.end(), [](auto& s) { return !s; });
  };
  while (missing() != streams.end()) {
    for (Meeting::Connection& made : meeting.step(std::chrono::milliseconds(100)))
      streams[static_cast<std::size_t>(made.introduction.from)] = std::move(made.socket);
    if (Clock::now() < job.deadline || missing() == streams.end()) continue;
    const auto rank = missing() - streams.begin();
    throw Error(fmt::format("rank {} ({}) has not come within {} s", rank,
                            job.hosts[static_cast<std::size_t>(rank)].address, job.start_timeout_s));
  }
  for (const FileDescriptor& stream : streams)
    if (stream && ::send(stream.get(), &kGo, 1, MSG_NOSIGNAL) != 1)
      throw Error(fmt::format("rank {} left at the start", &stream - streams.data()));
  return streams;
}

/// Other ranks: come to rank 0 and wait until all are there.
std::vector<FileDescriptor> come_to_hub(const Job& job) {
  const FileDescriptor no_listener;
  Meeting meeting(no_listener, job.secret, Purpose::Launch, job.rank);
  meeting.call(job.hub().address, job.hub().port, {Purpose::Launch, job.rank, 0, job.size()});
  std::vector<FileDescriptor> streams;
  while (streams.empty()) {
    for (Meeting::Connection& made : meeting.step(std::chrono::milliseconds(100)))
      streams.push_back(std::move(made.socket));
    if (streams.empty() && Clock::now() >= job.deadline)
      throw Error(fmt::format("rank 0 ({}) cannot be reached within {} s: {}", label(job.hub()),
                              job.start_timeout_s, meeting.trouble(0)));
  }
  // Rank 0 gives up first, at its own deadline.
  pollfd event{streams[0].get(), POLLIN, 0};
  poll(&event, 1, static_cast<int>((job.start_timeout_s + 5) * 1000));
  char go = 0;
  if (recv(streams[0].get(), &go, 1, MSG_DONTWAIT) != 1 || go != kGo)
    throw Error(fmt::format("rank 0 ({}) gave up before all processes had come", label(job.hub())));
  return streams;
}

}  // namespace

std::vector<Host> read_hosts(const std::string& path, int default_port) {
  std::istringstream lines(read_file(path));
  std::vector<Host> hosts;
  std::map<std::string, int> seen;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string where = fmt::format("{}: line {}", path, number);
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    std::string rest;
    if (!(words >> word)) continue;
    if (words >> rest) throw Error(fmt::format("{}: '{}' after the address", where, rest));
    Host host = parse_host(word, where);
    const int before = seen[host.address]++;
    if (host.port == 0) host.port = default_port + before;
    for (const Host& other : hosts)
      if (other.address == host.address && other.port == host.port)
        throw Error(fmt::format("{}: {} is listed twice", where, label(host)));
    hosts.push_back(std::move(host));
    if (hosts.size() > kMaxProcesses) throw Error(fmt::format("{}: more than {} hosts", path, kMaxProcesses));
  }
  if (hosts.empty()) throw Error(fmt::format("{}: no hosts in it", path));
  return hosts;
}

std::string load_secret(const std::string& path) {
  if (sodium_init() < 0) throw Error("libsodium does not start");
  std::string secret(32, '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(secret.data());
  if (!path.empty()) {
    std::string text = read_file(path);
    struct stat status {};
    if (stat(path.c_str(), &status) != 0 || (status.st_mode & S_IROTH) != 0)
      throw Error(fmt::format("{}: everybody can read this secret (chmod 600 helps)", path));
    while (!text.empty() && std::strchr(" \t\r\n", text.back()) != nullptr) text.pop_back();
    if (text.size() < kMinSecretBytes)
      throw Error(fmt::format("{}: a secret has at least {} bytes", path, kMinSecretBytes));
    crypto_hash_sha256(bytes, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    return secret;
  }
  const char* hex = std::getenv("EDGEWIRE_SECRET");
  if (hex == nullptr)
    throw UsageError("a host list needs a secret: --secret-file, EDGEWIRE_SECRET_FILE or EDGEWIRE_SECRET");
  std::size_t length = 0;
  if (sodium_hex2bin(bytes, secret.size(), hex, std::strlen(hex), nullptr, &length, nullptr) != 0 ||
      length != secret.size() || std::strlen(hex) != 2 * secret.size())
    throw UsageError("EDGEWIRE_SECRET must be 64 hexadecimal digits");
  return secret;
}

std::unique_ptr<WireUp> join_hosts(const LaunchOptions& options) {
  Job job;
  job.hosts = read_hosts(options.hosts_file, options.port);
  if (options.rank < 0) throw UsageError("a host list needs --rank or EDGEWIRE_RANK");
  if (options.rank >= job.size())
    throw UsageError(fmt::format("--rank must be below {}, the number of hosts in {}, not {}", job.size(),
                                 options.hosts_file, options.rank));
  if (options.processes > 1 && options.processes != job.size())
    throw UsageError(fmt::format("--processes {} contradicts {}, which lists {} hosts", options.processes,
                                 options.hosts_file, job.size()));
  job.rank = options.rank;
  job.secret = load_secret(options.secret_file);
  job.start_timeout_s = options.start_timeout_s;
  job.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(options.start_timeout_s));

  Member self;
  self.rank = job.rank;
  self.size = job.size();
  self.peer_timeout_s = options.peer_timeout_s;
  self.secret = job.secret;
  self.address = job.hosts[static_cast<std::size_t>(job.rank)].address;
  const bool alone_here = std::all_of(job.hosts.begin(), job.hosts.end(), [&](const Host& host) {
    return host.address == self.address || host.address.starts_with("127.");
  });
  // Debian names 127.0.1.1 for a host's own name.
  if (!alone_here && transport::is_loopback(self.address))
    throw Error(fmt::format("{}: {} is a loopback address on its own host, others cannot reach it",
                            options.hosts_file, self.address));
  const auto same_host = [&](const Host& host) { return host.address == self.address; };
  self.local_size = static_cast<int>(std::count_if(job.hosts.begin(), job.hosts.end(), same_host));
  self.local_rank =
      static_cast<int>(std::count_if(job.hosts.begin(), job.hosts.begin() + job.rank, same_host));
  for (const Host& host : job.hosts) self.hosts.push_back(host.address);
  return star(std::move(self), job.rank == 0 ? receive_others(job) : come_to_hub(job));
}

}  // namespace edgewire::launch
