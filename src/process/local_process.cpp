#include "process/local_process.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/seconds.h"
#include "launch/packing.h"
#include "options/jobs.h"
#include "process/barrier.h"
#include "topology/core_claim.h"
#include "topology/placement.h"

namespace edgewire::process {
namespace {

/// Each process sends this message to all others. It says which process claims cores for it. The process that
/// has claimed them adds which cores each process of its host gets.
struct HostMessage {
  enum Field : std::size_t { leader, local_rank, taken, cores, workers, lists };
  std::vector<int> fields;  ///< lists: the nodes, poll cores and workers' cores of the processes

  bool has_claimed() const { return fields.size() > lists; }
  /// Returns the workers' cores of the process with this local rank; nothing where not as many are claimed.
  std::optional<std::span<const int>> cpus(int rank, int local_size, int of_each) const {
    const auto size = static_cast<std::size_t>(local_size), count = static_cast<std::size_t>(of_each);
    if (fields.size() != lists + size * (2 + count)) return std::nullopt;
    return std::span(fields).subspan(lists + 2 * size + rank * count, count);
  }
  int node(int rank) const { return at(lists + rank); }
  int poll_cpu(int rank, int local_size) const { return at(lists + local_size + rank); }

 private:
  int at(std::size_t field) const { return field < fields.size() ? fields[field] : -1; }
};

HostMessage tell(const launch::Bootstrap& bootstrap, const topology::Machine& machine, int workers,
                 const topology::HostPlacement& host) {
  HostMessage told{{bootstrap.local_leader(), bootstrap.local_rank()}};
  if (bootstrap.local_rank() != 0) return told;
  auto& fields = told.fields;
  fields.insert(fields.end(), {host.taken, static_cast<int>(machine.cores.size()), workers});
  for (const auto& process : host.processes) fields.push_back(topology::first_node(process, machine));
  fields.insert(fields.end(), host.poll_cpus.begin(), host.poll_cpus.end());
  for (const auto& process : host.processes)
    for (const auto& worker : process.workers) fields.push_back(worker.cpu);
  return told;
}

std::vector<HostMessage> tell_all(launch::Bootstrap& bootstrap, const HostMessage& mine) {
  std::vector<HostMessage> all;
  const auto messages = bootstrap.allgather(launch::pack(mine.fields));
  for (std::size_t p = 0; p < messages.size(); ++p) {
    all.push_back({launch::unpack<int>(messages[p], p)});
    const auto& fields = all.back().fields;
    if (fields.size() <= HostMessage::local_rank || fields[HostMessage::leader] < 0 ||
        fields[HostMessage::leader] >= bootstrap.size() || fields[HostMessage::local_rank] < 0)
      throw Error(fmt::format("rank {} sent a faulty message of its place", p));
  }
  return all;
}

/// Returns the places of this process's workers, on the cores that its leader has claimed.
topology::HostPlacement follow(const launch::Bootstrap& bootstrap, const topology::Machine& machine,
                               const HostMessage& leader, int workers) {
  const int rank = bootstrap.local_rank(), size = bootstrap.local_size();
  topology::HostPlacement own;
  own.processes.resize(1);
  own.poll_cpus.assign(1, leader.poll_cpu(rank, size));
  auto& placement = own.processes[0];
  const auto cpus = leader.cpus(rank, size, workers);
  if (!cpus || (*cpus)[0] < 0) {
    const bool others = leader.has_claimed() && leader.fields[HostMessage::taken] > 0;
    placement = topology::unpinned(
        machine, rank, size, workers,
        others ? topology::taken_text(leader.fields[HostMessage::taken], leader.fields[HostMessage::cores])
               : "");
    return own;
  }
  for (const int cpu : *cpus) {
    const auto core = std::ranges::find(machine.cores, cpu, &topology::Core::cpu);
    // This process may use other cores than its leader, where each process was started by hand.
    if (core == machine.cores.end()) return topology::claim_places(machine, 1, workers, false);
    placement.workers.push_back({cpu, core->node});
  }
  std::vector<int> claimed(cpus->begin(), cpus->end());
  if (own.poll_cpus[0] >= 0) claimed.push_back(own.poll_cpus[0]);
  own.claim = topology::CoreClaim::shared(topology::lock_folder(), claimed);
  return own;
}

void warn_of_other_jobs(const std::vector<HostMessage>& all, const ProcessOptions& options) {
  for (std::size_t p = 0; p < all.size() && options.warn; ++p) {
    if (!all[p].has_claimed() || all[p].fields[HostMessage::taken] == 0) continue;
    options.warn(fmt::format(
        "{}{}: workers are not pinned, and wait by blocking", p == 0 ? "" : fmt::format("rank {}: ", p),
        topology::taken_text(all[p].fields[HostMessage::taken], all[p].fields[HostMessage::cores])));
    return;
  }
}

/// Makes the workers of this process, on cores that no other job has. Says in `link` what its link must know
/// of their place, and in `text` host, cores and memory. The first one of the processes that share cores
/// claims them for all. A process takes the address of its card from the addresses in the host list.
std::unique_ptr<topology::WorkerPool> find_place(launch::Bootstrap& bootstrap,
                                                 const topology::Machine& machine,
                                                 const ProcessOptions& options, transport::Settings& link,
                                                 std::string& text) {
  topology::HostPlacement own;
  const auto has = [&](const char* name) { return options.transport.find(name) != std::string::npos; };
  const bool polls = has("dpdk") || (has("verbs") && options.verbs.progress_thread);
  if (bootstrap.local_rank() == 0)
    own = topology::claim_places(machine, bootstrap.local_size(), options.workers, polls);
  const auto all = tell_all(bootstrap, tell(bootstrap, machine, options.workers, own));
  const auto leader = static_cast<std::size_t>(bootstrap.local_leader());
  if (bootstrap.local_rank() != 0) own = follow(bootstrap, machine, all[leader], options.workers);
  if (bootstrap.rank() == 0) warn_of_other_jobs(all, options);

  link.verbs.poll_cpu = link.dpdk.poll_cpu = own.poll_cpus[0];
  auto pool = std::make_unique<topology::WorkerPool>(own.processes[0], std::move(own.claim));
  link.memory_nodes = topology::nodes_of(pool->placement(), machine);
  const auto& hosts = bootstrap.nodes();
  const auto rank = static_cast<std::size_t>(bootstrap.rank());
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (!hosts.empty() && hosts[p] != hosts[rank]) continue;
    if (p == rank) link.process_index = static_cast<int>(link.process_nodes.size());
    const auto& its_leader = all[all[p].fields[HostMessage::leader]];
    link.process_nodes.push_back(its_leader.node(all[p].fields[HostMessage::local_rank]));
  }
  const auto& interfaces = bootstrap.wanted_interfaces();
  std::vector<int> card_nodes;
  for (const auto& one : interfaces) card_nodes.push_back(topology::node_of_card(one.name));
  const int card = topology::share_cards(card_nodes, link.process_nodes)[link.process_index];
  link.address = card >= 0 ? interfaces[card].address : bootstrap.address();
  char name[256] = "?";
  gethostname(name, sizeof name - 1);
  text = fmt::format("{}: {}", name, topology::describe(pool->placement(), machine));
  if (!hosts.empty()) text += "; network " + link.address;
  return pool;
}

transport::Settings link_settings(launch::Bootstrap& bootstrap, const ProcessOptions& options, int kinds) {
  transport::Settings settings;
  settings.rank = bootstrap.rank();
  settings.size = bootstrap.size();
  settings.lanes = options.workers;
  settings.kinds = kinds;
  settings.secret = bootstrap.secret();
  settings.peer_timeout_s = options.peer_timeout_s;
  settings.health = &bootstrap.health();
  settings.nodes = bootstrap.nodes();
  settings.integrity = options.integrity;
  settings.verbs = options.verbs;
  settings.dpdk = options.dpdk;
  return settings;
}

constexpr std::size_t kPieceBytes = 1 << 18;
constexpr std::uint64_t kUntimed = 8;  // pieces that are not timed: they open the connection's window
constexpr std::uint64_t kTimed = 16;
// Shorter times measure what shaped links pass at once after a pause, and chance.
constexpr double kLeast_s = 0.05;

/// Sends pieces `first`..`last` to the next rank, and waits for as many from the one before.
void stream(transport::Transport& link, transport::Health& health, int next, int previous,
            std::span<const std::byte> piece, std::uint64_t first, std::uint64_t last) {
  std::uint64_t sent = first;
  bool told = false;
  while (!told || link.signalled(previous, 0) < last || link.completed(0, next) < last) {
    if (sent < last && link.write(0, next, 0, piece)) ++sent;
    if (sent == last && !told) told = link.signal(0, next, 0, last);
    link.ring_doorbell(0);
    if (!link.poll() || health.failed()) throw Error(health.message());
  }
}

}  // namespace

void check(const ProcessOptions& options) {
  check_range(opt::workers, options.workers);
  check_range(opt::peer_timeout, options.peer_timeout_s);
}

LocalProcess::LocalProcess(launch::Bootstrap& bootstrap, const ProcessOptions& options, int kinds,
                           const topology::Machine& machine)
    : transport_(options.transport) {
  check(options);
  settings_ = link_settings(bootstrap, options, kinds);
  pool_ = find_place(bootstrap, machine, options, settings_, place_);
  link_ = transport::create(transport_, settings_);
}

LocalProcess::LocalProcess(launch::Bootstrap& bootstrap, const ProcessOptions& options)
    : LocalProcess(bootstrap, options, kinds_for_rings(options.workers)) {}

LocalProcess::LocalProcess(launch::Bootstrap& alone)
    : pool_(std::make_unique<topology::WorkerPool>(
          topology::Placement{.workers = std::vector<topology::WorkerPlace>(1)})) {
  settings_.secret = alone.secret();
  settings_.health = &alone.health();
  settings_.kinds = kinds_for_rings(1);
  link_ = transport::create(transport_, settings_);
}

std::unique_ptr<transport::Transport> LocalProcess::ring_link() const {
  auto settings = settings_;
  settings.kinds = kinds_for_rings(settings.lanes);
  return transport::create(transport_, settings);
}

double LocalProcess::measure_link(launch::Bootstrap& bootstrap) {
  auto settings = settings_;
  settings.lanes = settings.kinds = 1;
  const auto link = transport::create(transport_, settings);
  const double bytes_per_s = process::measure_link(bootstrap, *link);
  handshake_messages_ += link->counters().handshake_messages;
  return bytes_per_s;
}

double measure_link(launch::Bootstrap& bootstrap, transport::Transport& link) {
  const int next = (bootstrap.rank() + 1) % bootstrap.size();
  const int previous = (bootstrap.rank() + bootstrap.size() - 1) % bootstrap.size();
  std::vector<transport::Transport::Part> parts(bootstrap.size());
  parts[previous] = {0, kPieceBytes};
  link.expose(kPieceBytes, parts);
  link.connect(bootstrap.allgather(link.blob()));
  const auto piece = link.send_memory(kPieceBytes);
  std::uint64_t sent = 0;
  // Returns the seconds of the slowest process for `timed` pieces that follow `untimed` others.
  const auto measure = [&](std::uint64_t untimed, std::uint64_t timed) {
    stream(link, bootstrap.health(), next, previous, piece, sent, sent + untimed);
    // Nobody waits for all here: the next pieces arrive only after the last process has come here, too.
    const auto start = Clock::now();
    stream(link, bootstrap.health(), next, previous, piece, sent + untimed, sent + untimed + timed);
    const double seconds = seconds_since(start);
    sent += untimed + timed;
    const LinkProgress progress(link);
    return launch::allreduce(bootstrap, seconds, std::ranges::max);
  };
  std::uint64_t timed = kTimed;
  double slowest = measure(kUntimed, timed);
  if (slowest < kLeast_s) {
    timed = static_cast<std::uint64_t>(std::ceil(kTimed * kLeast_s / slowest));
    slowest = measure(timed / 8, timed);  // the first pieces use up what a shaped link saved in the pause
  }
  return static_cast<double>(timed * kPieceBytes) / slowest;
}

}  // namespace edgewire::process
