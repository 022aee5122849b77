#include "bounds/load_simulation.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <random>

namespace edgewire::bounds {

namespace {

constexpr int kRounds = 256;
constexpr int kAhead = 2;   // rounds that are read and not parsed
constexpr int kWindow = 8;  // rounds that are sent and not taken, or parsed and not sent

/// Serves one request after the other.
struct Server {
  double free_s = 0, busy_s = 0;
  /// Returns when a request that comes now is done.
  double serve(double now_s, double takes_s) {
    busy_s += takes_s;
    return free_s = std::max(now_s, free_s) + takes_s;
  }
};

struct Servers {
  Server disk, sends, receives, cores;
};

enum class What : std::uint8_t { read, parsed, sent, received, sorted, spilled, fetched, merged, written };

struct Event {
  double at_s;
  std::uint64_t number;  ///< order of events that come at the same time
  int machine;
  What what;
  bool operator>(const Event& other) const {
    return at_s != other.at_s ? at_s > other.at_s : number > other.number;
  }
};

class Events {
 public:
  void add(double at_s, int machine, What what) { queue_.push({at_s, count_++, machine, what}); }
  bool empty() const { return queue_.empty(); }
  Event next() {
    const Event event = queue_.top();
    queue_.pop();
    return event;
  }

 private:
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::uint64_t count_ = 0;
};

/// The first part, which lasts until all machines have received, sorted and spilled all.
class Sending {
 public:
  Sending(const SimulatedMachine& machine, std::span<const double> shares, std::vector<Servers>& servers)
      : work_(machine),
        shares_(shares),
        servers_(servers),
        states_(shares.size()),
        sent_by_(kRounds),
        taken_by_(kRounds) {}

  /// Returns when the last machine is through.
  double run() {
    for (int m = 0; m < size(); ++m) read(m, 0);
    double now = 0;
    while (!events_.empty()) {
      const Event event = events_.next();
      now = event.at_s;
      handle(event);
    }
    return now;
  }

 private:
  struct State {
    int asked = 0, read = 0, parsed = 0, sent = 0, sorted = 0, taken = 0;  ///< rounds
    bool parsing = false, sending = false;
    int spilled = 0;  ///< pieces of runs that were asked to be written: one for each round
    int pieces = 0, under_way = 0;
  };

  int size() const { return static_cast<int>(shares_.size()); }
  State& state(int m) { return states_[static_cast<std::size_t>(m)]; }
  Servers& servers(int m) { return servers_[static_cast<std::size_t>(m)]; }
  double share(int m) const { return shares_[static_cast<std::size_t>(m)]; }

  void handle(const Event& event) {
    State& own = state(event.machine);
    const double now = event.at_s;
    switch (event.what) {
      case What::read:
        ++own.read;
        break;
      case What::parsed:
        own.parsing = false;
        ++own.parsed;
        read(event.machine, now);
        break;
      case What::sent:
        end_send(event.machine, now);
        break;
      case What::received:
        events_.add(
            servers(event.machine)
                .cores.serve(now, work_.runs > 0 ? work_.cores_sort_s * share(event.machine) / kRounds : 0),
            event.machine, What::sorted);
        return;
      case What::sorted:
        ++own.sorted;
        spill(event.machine, now);
        take(event.machine, now);
        return;
      default:  // spilled
        --own.under_way;
        write_piece(event.machine, now);
        take(event.machine, now);
        return;
    }
    parse(event.machine, now);
    send(event.machine, now);
  }

  void read(int m, double now) {
    State& own = state(m);
    for (; own.asked < kRounds && own.asked - own.parsed < kAhead; ++own.asked)
      events_.add(servers(m).disk.serve(now, work_.disk_read_s / kRounds), m, What::read);
  }

  void parse(int m, double now) {
    State& own = state(m);
    if (own.parsing || own.parsed == own.read || own.parsed - own.sent >= kWindow) return;
    own.parsing = true;
    events_.add(servers(m).cores.serve(now, work_.cores_parse_s / kRounds), m, What::parsed);
  }

  void send(int m, double now) {
    State& own = state(m);
    if (own.sending || own.sent == own.parsed || own.sent >= taken_by_all_ + kWindow) return;
    own.sending = true;
    const double machines = size();
    const double leaves = machines > 1 ? (machines - share(m)) / (machines - 1) : 0;
    events_.add(servers(m).sends.serve(now, work_.wire_s * leaves / kRounds), m, What::sent);
  }

  /// Ends the sending of a round. A round has come when all have sent it.
  void end_send(int m, double now) {
    State& own = state(m);
    own.sending = false;
    if (++sent_by_[static_cast<std::size_t>(own.sent++)] < size()) return;
    for (int to = 0; to < size(); ++to)
      events_.add(servers(to).receives.serve(now, work_.wire_s * share(to) / kRounds), to, What::received);
  }

  /// Runs become full one after the other. They are written in pieces, so that reads come between.
  void spill(int m, double now) {
    if (work_.runs <= 0) return;
    State& own = state(m);
    const double runs = std::max(1.0, work_.runs);
    const double full = static_cast<double>(static_cast<int>(own.sorted * runs / kRounds + 1e-9)) / runs;
    own.pieces = own.sorted == kRounds ? kRounds : static_cast<int>(full * kRounds);
    while (own.under_way < work_.buffers && own.spilled < own.pieces) write_piece(m, now);
  }

  void write_piece(int m, double now) {
    State& own = state(m);
    if (own.spilled >= own.pieces) return;
    ++own.spilled;
    ++own.under_way;
    events_.add(servers(m).disk.serve(now, work_.disk_spill_s * share(m) / kRounds), m, What::spilled);
  }

  /// Takes the rounds that were sorted out of the rings. While all buffers are full, it takes none, and
  /// senders wait.
  void take(int m, double now) {
    State& own = state(m);
    const int waiting = own.pieces - own.spilled + own.under_way;
    if (work_.runs > 0 && own.sorted < kRounds &&
        waiting >= std::max(2.0, work_.buffers * kRounds / work_.runs))
      return;
    for (; own.taken < own.sorted; ++own.taken) ++taken_by_[static_cast<std::size_t>(own.taken)];
    const int before = taken_by_all_;
    while (taken_by_all_ < kRounds && taken_by_[static_cast<std::size_t>(taken_by_all_)] == size())
      ++taken_by_all_;
    for (int p = 0; taken_by_all_ > before && p < size(); ++p) send(p, now);
  }

  const SimulatedMachine& work_;
  std::span<const double> shares_;
  std::vector<Servers>& servers_;
  std::vector<State> states_;
  std::vector<int> sent_by_, taken_by_;  ///< [round]: machines
  int taken_by_all_ = 0;                 ///< rounds
  Events events_;
};

/// Simulates the second part, for one machine: it reads runs, merges them and writes the output. Returns its
/// seconds.
double merge(const SimulatedMachine& work, double share, Servers& servers) {
  Events events;
  const double begin = std::max({servers.disk.free_s, servers.cores.free_s, servers.receives.free_s});
  double now = begin;
  if (work.runs <= 0) now = servers.cores.serve(now, work.cores_sort_s * share);
  now = servers.disk.serve(now, work.disk_again_s * share);
  int asked = 0, fetched = 0, merged = 0, written = 0;
  bool merging = false;
  const auto go_on = [&] {
    for (; asked < kRounds && asked - merged < kAhead; ++asked)
      events.add(servers.disk.serve(now, work.disk_fetch_s * share / kRounds), 0, What::fetched);
    if (merging || merged == fetched || merged - written >= kWindow) return;
    merging = true;
    events.add(servers.cores.serve(now, work.cores_merge_s * share / kRounds), 0, What::merged);
  };
  go_on();
  while (!events.empty()) {
    const Event event = events.next();
    now = event.at_s;
    if (event.what == What::fetched) ++fetched;
    if (event.what == What::written) ++written;
    if (event.what == What::merged) {
      merging = false;
      ++merged;
      events.add(servers.disk.serve(now, work.disk_write_s * share / kRounds), 0, What::written);
    }
    go_on();
  }
  return now - begin;
}

}  // namespace

SimulatedRun simulate(const SimulatedMachine& machine, std::span<const double> shares) {
  std::vector<Servers> servers(shares.size());
  SimulatedRun run;
  run.sending_s = Sending(machine, shares, servers).run();
  double merging_s = 0;
  for (std::size_t m = 0; m < shares.size(); ++m)
    merging_s = std::max(merging_s, merge(machine, shares[m], servers[m]));
  run.seconds = run.sending_s + machine.wire_ids_s + merging_s;
  for (const Servers& one : servers) {
    run.disk = std::max(run.disk, one.disk.busy_s / run.seconds);
    run.cores = std::max(run.cores, one.cores.busy_s / run.seconds);
    run.wire = std::max(run.wire,
                        (std::max(one.sends.busy_s, one.receives.busy_s) + machine.wire_ids_s) / run.seconds);
  }
  run.limit = run.disk >= std::max(run.wire, run.cores) ? LoadLimit::disk
              : run.wire >= run.cores                   ? LoadLimit::wire
                                                        : LoadLimit::cores;
  return run;
}

std::vector<double> shares_of_sources(std::span<const std::vector<std::uint64_t>> places, int machines) {
  const auto count = static_cast<std::size_t>(machines);
  std::vector<double> shares(count, 1.0);
  std::vector<std::uint64_t> all, drawn;
  for (const auto& place : places) all.insert(all.end(), place.begin(), place.end());
  if (machines < 2 || all.empty()) return shares;
  std::mt19937_64 random;  // NOLINT(cert-msc51-cpp): always the same
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& place = places[random() % places.size()];
    drawn.insert(drawn.end(), place.begin(), place.end());
  }
  if (drawn.empty()) drawn = all;
  std::ranges::sort(drawn);
  std::ranges::sort(all);
  std::size_t begin = 0;
  for (std::size_t m = 0; m < count; ++m) {
    const auto end =
        m + 1 == count ? all.end() : std::ranges::lower_bound(all, drawn[drawn.size() * (m + 1) / count]);
    const auto place = static_cast<std::size_t>(end - all.begin());
    shares[m] =
        static_cast<double>(place - begin) * static_cast<double>(count) / static_cast<double>(all.size());
    begin = place;
  }
  return shares;
}

std::vector<double> shares_with_largest(double largest, int machines) {
  const double count = machines;
  std::vector<double> shares(static_cast<std::size_t>(machines),
                             count > 1 ? (count - largest) / (count - 1) : 1);
  shares[0] = machines > 1 ? largest : 1;
  return shares;
}

}  // namespace edgewire::bounds
