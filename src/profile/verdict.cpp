#include "profile/verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/units.h"
#include "bounds/model.h"

namespace edgewire::profile {

namespace {

constexpr double kUneven = 0.15;      // part of the slowest one's time from which it is called imbalance
constexpr double kSlower = 1.25;      // factor of the others' time for an edge
constexpr double kMemoryBound = 0.8;  // part of the work above which the cores mostly wait for memory
constexpr double kWithoutCore = 0.1;  // part of the busy time above which other programs run on the core
constexpr double kNoWait = 0.03;      // part of the iteration below which the process was not kept waiting
constexpr double kUnexplained = 0.5;  // part of the iteration

std::string with_article(const std::string& word) {
  return (word.find_first_of("aeiou") == 0 ? "an " : "a ") + word;
}

struct Facts {
  double wire_s = 0, memory_s = 0, work_mean_s = 0, work_max_s = 0;  ///< times; work is busy_s()
  std::size_t wire_rank = 0, memory_rank = 0, slowest = 0;
};

std::uint64_t wire_bytes(const ProcessLoad& one) {
  return std::max(one.wire_bytes_sent, one.wire_bytes_received);
}

/// Returns the time in which a worker could not wait for others.
double busy_s(const ProcessLoad& one) { return one.work_s + one.lost_s; }

double cost_of_item(const ProcessLoad& one) {
  return one.items > 0 ? busy_s(one) * one.workers / one.items : 0;
}

/// Returns the time of the bytes on the link, as it was measured before the run. The run itself has shown
/// that it takes no longer than an iteration, nor than the work of a process that never waited.
double wire_seconds(const RunLoad& load, const Facts& facts) {
  if (load.line_bits_per_s <= 0) return 0;
  double seconds =
      static_cast<double>(wire_bytes(load.processes[facts.wire_rank])) * 8 / load.line_bits_per_s;
  seconds = std::min(seconds, load.seconds);
  for (const auto& one : load.processes)
    if (one.waited_s < kNoWait * load.seconds) seconds = std::min(seconds, busy_s(one));
  return seconds;
}

/// Returns the process with the largest figure(process), the first of these.
template <class Figure>
std::size_t rank_of_most(const RunLoad& load, const Figure& figure) {
  return static_cast<std::size_t>(std::ranges::max_element(load.processes, {}, figure) -
                                  load.processes.begin());
}

Facts find(const RunLoad& load) {
  Facts facts;
  double workers = 0, work = 0;
  for (const auto& one : load.processes) {
    workers += one.workers;
    work += busy_s(one) * one.workers;
  }
  facts.wire_rank = rank_of_most(load, wire_bytes);
  facts.memory_rank = rank_of_most(load, &ProcessLoad::memory_bytes);
  facts.slowest = rank_of_most(load, busy_s);
  facts.work_mean_s = work / workers;
  facts.work_max_s = busy_s(load.processes[facts.slowest]);
  facts.wire_s = wire_seconds(load, facts);
  if (load.memory_bytes_per_s > 0)
    facts.memory_s =
        static_cast<double>(load.processes[facts.memory_rank].memory_bytes) / load.memory_bytes_per_s;
  return facts;
}

/// Returns why work takes longer than necessary: there are too few cores, or other programs run on them.
std::string why_slow(const ProcessLoad& one, const Words& words) {
  if (one.cores < one.workers)
    return fmt::format("; its {} workers share {} core{}", one.workers, one.cores, one.cores == 1 ? "" : "s");
  if (one.core_wait_s > kWithoutCore * busy_s(one))
    return fmt::format("; its workers had no core for {} of {}", readable_seconds(one.core_wait_s),
                       words.a_step());
  return "";
}

/// Returns the process that lost its core and held up the others, when none did nearly as much.
std::vector<Limiter> lost_core(const RunLoad& load, const Facts& facts) {
  // The time that the others waited because the process had no core; sending keeps them waiting anyway.
  const auto held_up_s = [&](const ProcessLoad& one) {
    return std::min({one.core_wait_s, one.awaited_s, std::max(0.0, load.seconds - facts.wire_s)});
  };
  const std::size_t worst = rank_of_most(load, held_up_s);
  const auto& one = load.processes[worst];
  const double worst_s = held_up_s(one);
  double next_s = 0, others_s = 0;
  for (const auto& other : load.processes) {
    if (&other == &one) continue;
    next_s = std::max(next_s, held_up_s(other));
    others_s = std::max(others_s, busy_s(other));
  }
  if (worst_s - next_s <= kUneven * load.seconds) return {};
  const double seconds = std::min(load.seconds, std::max(busy_s(one), others_s + worst_s));
  return {{Cause::slow_peer, seconds, 0, static_cast<int>(worst),
           fmt::format("rank {} keeps the others waiting for {}{}", worst, readable_seconds(worst_s),
                       why_slow(one, load.words))}};
}

/// Returns the slowest process, or else its slowest worker, when that is much slower than the mean.
std::vector<Limiter> unevenness(const RunLoad& load, const Facts& facts) {
  if (auto lost = lost_core(load, facts); !lost.empty()) return lost;
  const auto& slowest = load.processes[facts.slowest];
  const int rank = static_cast<int>(facts.slowest);
  if (facts.work_max_s - facts.work_mean_s > kUneven * facts.work_max_s) {
    double items = 0, work = 0, workers = 0;  // sums of the others
    for (const auto& one : load.processes) {
      if (&one == &slowest) continue;
      items += one.items;
      work += busy_s(one) * one.workers;
      workers += one.workers;
    }
    const double others = items > 0 ? work / items : 0;
    const double cost = cost_of_item(slowest);
    if (cost > kSlower * others && others > 0)
      return {{Cause::slow_peer, facts.work_max_s, 0, rank,
               fmt::format("rank {} is busy for {}, {} of a worker for {}, the others {}{}", rank,
                           readable_seconds(facts.work_max_s), readable_seconds(cost),
                           with_article(load.words.item()), readable_seconds(others),
                           why_slow(slowest, load.words))}};
    return {{Cause::imbalance, facts.work_max_s, 0, rank,
             fmt::format(
                 "rank {} works for {}, the mean is {}; it has {:.2f} times the {} a worker of the others",
                 rank, readable_seconds(facts.work_max_s), readable_seconds(facts.work_mean_s),
                 items > 0 ? slowest.items / slowest.workers / (items / workers) : 1, load.words.items)}};
  }
  for (std::size_t p = 0; p < load.processes.size(); ++p) {
    const auto& one = load.processes[p];
    if (one.slowest_worker_s - one.work_s <= kUneven * one.slowest_worker_s ||
        one.slowest_worker_s <= (1 + kUneven) * facts.work_max_s)
      continue;
    return {{Cause::imbalance, one.slowest_worker_s, 0, static_cast<int>(p),
             fmt::format("one worker of rank {} works for {}, its workers' mean is {}{}", p,
                         readable_seconds(one.slowest_worker_s), readable_seconds(one.work_s),
                         why_slow(one, load.words))}};
  }
  return {};
}

Limiter wire(const RunLoad& load, const Facts& facts) {
  const auto& one = load.processes[facts.wire_rank];
  const double bits = 8 * static_cast<double>(wire_bytes(one));
  const bool seen = facts.wire_s < bits / load.line_bits_per_s;
  std::string source =
      seen ? fmt::format("the run was that fast; {:.2f} measured before it", load.line_bits_per_s / 1e9)
           : "measured before the run";
  if (load.given_bits_per_s > 0) source += fmt::format(", {:.4g} given", load.given_bits_per_s / 1e9);
  return {Cause::wire, facts.wire_s, 0, static_cast<int>(facts.wire_rank),
          fmt::format("rank {} {} {} {}, at {:.2f} Gbit/s ({}) {}", facts.wire_rank,
                      one.wire_bytes_sent >= one.wire_bytes_received ? "sends" : "receives",
                      readable_bytes(wire_bytes(one)), load.words.a_step(), bits / facts.wire_s / 1e9, source,
                      readable_seconds(facts.wire_s))};
}

/// Returns the busiest disk of all, if disks were read or written.
std::vector<Limiter> disk(const RunLoad& load) {
  const std::size_t rank = rank_of_most(load, &ProcessLoad::disk_s);
  const auto& one = load.processes[rank];
  if (one.disk_s <= 0) return {};
  return {{Cause::disk, one.disk_s, 0, static_cast<int>(rank),
           fmt::format("a disk of rank {} is busy for {} {}, for {}", rank, readable_seconds(one.disk_s),
                       load.words.a_step(), readable_bytes(one.disk_bytes))}};
}

/// Returns the work that remains when it is spread evenly: of the cores, or of the memory that they wait for.
Limiter even_work(const RunLoad& load, const Facts& facts) {
  if (facts.memory_s > kMemoryBound * facts.work_mean_s) {
    const auto& one = load.processes[facts.memory_rank];
    return {Cause::memory, std::max(facts.memory_s, facts.work_mean_s), 0,
            static_cast<int>(facts.memory_rank),
            fmt::format("rank {} moves {} through memory {}, at {:.1f} GB/s (measured) {}", facts.memory_rank,
                        readable_bytes(one.memory_bytes), load.words.a_step(), load.memory_bytes_per_s / 1e9,
                        readable_seconds(facts.memory_s))};
  }
  double items = 0, workers = 0, core_wait_s = 0;
  for (const auto& one : load.processes) {
    items += one.items;
    workers += one.workers;
    core_wait_s += one.core_wait_s / static_cast<double>(load.processes.size());
  }
  return {Cause::cores, facts.work_mean_s, 0, -1,
          fmt::format("a worker computes {} {}/s, for {} {}{}",
                      readable_count(facts.work_mean_s > 0 ? items / workers / facts.work_mean_s : 0),
                      load.words.items, readable_seconds(facts.work_mean_s), load.words.a_step(),
                      core_wait_s > kWithoutCore * facts.work_mean_s
                          ? fmt::format("; they had no core for {} of it", readable_seconds(core_wait_s))
                          : "")};
}

/// Returns the time with another line rate: the measured time, minus the change that the model predicts.
double with_rate(const RunLoad& load, const Facts& facts, double work_s, double times) {
  const auto& slowest = load.processes[facts.slowest];
  if (facts.wire_s <= 0 || work_s <= 0 || slowest.items <= 0) return load.seconds;
  const bounds::Demand demand{.processes = static_cast<int>(load.processes.size()),
                              .edges = slowest.items,
                              .wire_bytes = wire_bytes(load.processes[facts.wire_rank])};
  bounds::Rates rates{.edges_per_core_s = slowest.items / slowest.workers / work_s,
                      .cores = slowest.workers,
                      .line_bits_per_s = static_cast<double>(demand.wire_bytes) * 8 / facts.wire_s};
  const double now = bounds::predict(demand, rates).seconds;
  rates.line_bits_per_s *= times;
  return load.seconds - (now - bounds::predict(demand, rates).seconds);
}

}  // namespace

std::string Words::a_step() const { return with_article(step); }

std::string_view to_name(Cause cause) noexcept {
  constexpr std::array<std::string_view, 7> kNames{"wire",        "memory",  "cores", "imbalance",
                                                   "a slow peer", "latency", "disk"};
  return kNames[static_cast<std::size_t>(cause)];
}

Verdict judge(const RunLoad& measured) {
  RunLoad load = measured;
  // Otherwise no process could have been faster.
  const double beside_wire_s = load.seconds - find(load).wire_s;
  for (auto& one : load.processes) one.lost_s = std::clamp(one.lost_s, 0.0, std::max(0.0, beside_wire_s));
  const Facts facts = find(load);
  Verdict verdict;
  verdict.words = load.words;
  verdict.seconds = verdict.seconds_10x = load.seconds;
  verdict.limiters = unevenness(load, facts);
  verdict.limiters.push_back(even_work(load, facts));
  if (facts.wire_s > 0) verdict.limiters.push_back(wire(load, facts));
  for (auto& one : disk(load)) verdict.limiters.push_back(std::move(one));
  std::ranges::stable_sort(verdict.limiters, std::greater<>(), &Limiter::seconds);
  const double work_s = std::max({facts.work_max_s, facts.work_mean_s, facts.memory_s});
  verdict.seconds_10x = with_rate(load, facts, work_s, 10);
  const double rest = load.seconds - verdict.limiters.front().seconds;
  if (rest > kUnexplained * load.seconds)
    verdict.limiters.insert(
        verdict.limiters.begin(),
        {Cause::latency, rest, 0, -1,
         fmt::format("for {} of {} neither work nor bytes explain the time: starting, waiting for each "
                     "other, messages under way",
                     readable_seconds(rest), load.words.a_step())});
  for (auto& one : verdict.limiters) one.share = load.seconds > 0 ? one.seconds / load.seconds : 0;
  return verdict;
}

std::string Verdict::to_text() const {
  std::string text;
  const char* what = "limit:";
  for (const auto& one : limiters) {
    text += fmt::format("{:<6} {} {:.0f} %: {}\n", what, to_name(one.cause), 100 * one.share, one.why);
    what = text.find("next:") == std::string::npos ? "next:" : "then:";
  }
  if (std::ranges::find(limiters, Cause::wire, &Limiter::cause) != limiters.end())
    text += fmt::format("with a link ten times as fast: {} {} instead of {} ({:.2f} times as fast)\n",
                        readable_seconds(seconds_10x), words.a_step(), readable_seconds(seconds),
                        seconds_10x > 0 ? seconds / seconds_10x : 1);
  return text;
}

}  // namespace edgewire::profile
