#include "launch/hosts.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/file_calls.h"
#include "launch/bootstrap.h"
#include "launch/interfaces.h"
#include "launch/rendezvous.h"
#include "options/jobs.h"
#include "transport/sockets.h"

namespace edgewire::launch {
namespace {

constexpr std::size_t kMinSecretBytes = 16;

/// A small file, and what the system says of it. A pipe or a device might never end.
struct SmallFile {
  struct stat status {};
  std::string text;

  explicit SmallFile(const std::string& path) {
    constexpr off_t kMostBytes = 1 << 20;
    const transport::FileDescriptor file(
        uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
    if (!file || fstat(file.get(), &status) != 0) throw Error(fmt::format("{}: {}", path, reason(errno)));
    if (S_ISDIR(status.st_mode)) throw Error(fmt::format("{}: is a directory", path));
    if (!S_ISREG(status.st_mode)) throw Error(fmt::format("{}: is not a regular file", path));
    if (status.st_size > kMostBytes)
      throw Error(
          fmt::format("{}: has {} bytes; a list or secret has at most {}", path, status.st_size, kMostBytes));
    text.resize(status.st_size);
    read_at(file.get(), path, text.data(), text.size(), 0);
  }
};

/// Throws Error unless only this user can have written the secret, and read it.
void check_trust(const std::string& path, const struct stat& status) {
  if (status.st_uid != geteuid())
    throw Error(fmt::format("{}: this secret belongs to another user (use a copy of your own)", path));
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw Error(fmt::format("{}: others can read or write this secret (chmod 600 {} helps)", path, path));
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

}  // namespace

std::vector<Host> read_hosts(const std::string& path, int default_port) {
  std::istringstream lines(SmallFile(path).text);
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
        throw Error(fmt::format("{}: {} port {} is listed twice", where, host.address, host.port));
    hosts.push_back(std::move(host));
    if (hosts.size() > kMaxProcesses) throw Error(fmt::format("{}: more than {} hosts", path, kMaxProcesses));
  }
  if (hosts.empty()) throw Error(fmt::format("{}: it lists no hosts", path));
  return hosts;
}

std::string load_secret(const std::string& path) {
  if (sodium_init() < 0) throw Error("libsodium does not start");
  std::string secret(32, '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(secret.data());
  if (!path.empty()) {
    SmallFile file(path);
    check_trust(path, file.status);
    std::string& text = file.text;
    while (!text.empty() && std::strchr(" \t\r\n", text.back()) != nullptr) text.pop_back();
    if (text.size() < kMinSecretBytes)
      throw Error(fmt::format("{}: a secret has at least {} bytes", path, kMinSecretBytes));
    crypto_hash_sha256(bytes, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    return secret;
  }
  const char* hex = std::getenv("EDGEWIRE_SECRET");
  if (hex == nullptr)
    throw UsageError(fmt::format("a host list needs a secret: {}, EDGEWIRE_SECRET_FILE or EDGEWIRE_SECRET",
                                 opt::secret_file));
  std::size_t length = 0;
  if (sodium_hex2bin(bytes, secret.size(), hex, std::strlen(hex), nullptr, &length, nullptr) != 0 ||
      length != secret.size() || std::strlen(hex) != 2 * secret.size())
    throw UsageError("EDGEWIRE_SECRET must be 64 hexadecimal digits");
  return secret;
}

std::unique_ptr<Bootstrap> join_hosts(const LaunchOptions& options) {
  const std::vector<Host> hosts = read_hosts(options.hosts_file, options.port);
  const auto size = static_cast<int>(hosts.size());
  if (options.rank < 0) throw UsageError(fmt::format("a host list needs {} or EDGEWIRE_RANK", opt::rank));
  if (options.rank >= size)
    throw UsageError(fmt::format("{} must be below {}, the number of hosts in {}, not {}", opt::rank, size,
                                 options.hosts_file, options.rank));
  if (options.processes > 1 && options.processes != size)
    throw UsageError(fmt::format("{} contradicts {}, which lists {} hosts", opt::processes(options.processes),
                                 options.hosts_file, size));
  Rendezvous job{
      options.rank, load_secret(options.secret_file), options.start_timeout_s, {}, options.peer_timeout_s};
  for (const Host& host : hosts) job.hosts.push_back(host.address);

  Member self;
  self.rank = job.rank;
  self.size = size;
  self.peer_timeout_s = options.peer_timeout_s;
  self.secret = job.secret;
  self.proven = true;
  self.hosts = job.hosts;
  self.address = job.hosts[job.rank];
  const bool alone_here = std::ranges::all_of(
      job.hosts, [&](const std::string& host) { return host == self.address || host.starts_with("127."); });
  // Debian resolves a host's own name to 127.0.1.1.
  if (!alone_here && transport::is_loopback(self.address))
    throw Error(fmt::format("{}: {} is a loopback address on its own host, so others cannot reach it",
                            options.hosts_file, self.address));
  for (const std::string& host : job.hosts)
    self.nodes.push_back(static_cast<int>(std::ranges::find(job.hosts, host) - job.hosts.begin()));
  const int here = self.nodes[job.rank];
  self.local_size = static_cast<int>(std::ranges::count(self.nodes, here));
  self.local_leader = here;
  self.local_rank = static_cast<int>(std::count(self.nodes.begin(), self.nodes.begin() + job.rank, here));
  if (!options.interface.empty()) {
    self.wanted_interfaces = interfaces(options.interface);
    self.address = self.wanted_interfaces.front().address;
  }
  if (job.rank == 0)
    return connect_bootstrap(std::move(self),
                             receive_others(job, transport::listen_on(hosts[0].address, hosts[0].port)));
  return connect_bootstrap(std::move(self), come_to_hub(job, {hosts[0].address}, hosts[0].port));
}

}  // namespace edgewire::launch
