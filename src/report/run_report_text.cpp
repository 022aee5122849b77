// This file makes the lines of a run report. Each part says whether it is on the first screen.
#include <fmt/core.h>

#include <algorithm>

#include "base/median.h"
#include "base/units.h"
#include "options/jobs.h"
#include "report/run_report.h"

namespace edgewire::report {

namespace {

/// Returns a line about the longest iteration, where it is far from the usual one; the mean of the last ten
/// may hide it. `before`: the iterations that a checkpoint held.
std::string describe_pause(const std::vector<RunReport::Iteration>& iterations, std::uint64_t before) {
  constexpr double kTimes = 10, kSeconds = 0.2;
  std::vector<double> seconds;
  for (const auto& one : iterations) seconds.push_back(one.seconds);
  if (seconds.empty()) return "";
  const auto longest = std::ranges::max_element(seconds) - seconds.begin();
  const double most = seconds[static_cast<std::size_t>(longest)];
  const double usual = median(std::move(seconds));
  if (most < kTimes * usual || most < kSeconds) return "";
  return fmt::format("iteration {} took {}, the median one {}: a link, a process or a disk stood still\n",
                     before + static_cast<std::uint64_t>(longest) + 1, readable_seconds(most),
                     readable_seconds(usual));
}

const char* plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

/// Returns a text such as "7.01 kB (7008 B)".
std::string exact_bytes(std::uint64_t bytes) {
  return bytes < 1000 ? readable_bytes(bytes) : fmt::format("{} ({} B)", readable_bytes(bytes), bytes);
}

/// Returns the text of the bytes that a superstep or a run sent.
std::string sent_by(const RunReport::Work& one) {
  return fmt::format(
      "{}, sent {} of records, payload {}",
      one.least_record_bytes ? fmt::format(", had to send {}", readable_bytes(*one.least_record_bytes)) : "",
      readable_bytes(one.record_bytes), readable_bytes(one.payload_bytes_sent));
}

}  // namespace

std::string RunReport::describe_answer(bool verbose) const {
  std::string text = answer.text.empty() ? "" : answer.text + "\n";
  text += describe_runs(verbose) + answer.lists(verbose);
  for (const auto& one : runs) text += one.answer.lists(verbose, " from " + one.source);
  return text;
}

std::string RunReport::describe_runs(bool verbose) const {
  const std::size_t shown = std::min<std::size_t>(verbose ? 20 : 10, runs.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& one = runs[i];
    text += fmt::format("source {}: {}", one.source, one.answer.text);
    if (verbose)
      text += fmt::format("{}{} supersteps, {} vertices, {} edges{}, {}", one.answer.text.empty() ? "" : "; ",
                          one.supersteps, one.frontier, one.edges, processes > 1 ? sent_by(one) : "",
                          readable_seconds(one.seconds));
    text += '\n';
  }
  if (runs.size() > shown)
    text += fmt::format("and {} more; {} has them all\n", runs.size() - shown, opt::json);
  return text;
}

std::string RunReport::describe_time() const {
  std::string text = fmt::format("{}: {} vertices, {} edges, {}{}\n", kernel, vertices, edges, describe(),
                                 has_supersteps ? "" : ", " + strategy);
  const std::string after = resumed_from == 0 ? ""
                                              : fmt::format(" after the {}{} of the checkpoint", resumed_from,
                                                            has_supersteps ? " " + resumed_unit : "");
  const std::string total = readable_seconds(seconds_total);
  if (!has_supersteps)
    return text +
           fmt::format("{} iteration{}{}, {} each (mean of the last ten), {} edges/s; total {}\n",
                       iterations.size(), plural(iterations.size()), after,
                       readable_seconds(seconds_per_iteration()), readable_count(edges_per_second()), total) +
           describe_pause(iterations, resumed_from);
  const Work sum = work();
  text += fmt::format("{} superstep{}{} in {}, {} edges followed ({:.2f} of the graph's); total {}\n",
                      supersteps.size(), plural(supersteps.size()), after, readable_seconds(seconds_kernel),
                      sum.edges, edges == 0 ? 0 : static_cast<double>(sum.edges) / static_cast<double>(edges),
                      total);
  if (runs.empty()) return text;
  std::vector<double> seconds;
  for (const auto& one : runs) seconds.push_back(one.seconds);
  std::sort(seconds.begin(), seconds.end());
  return text + fmt::format("{} run{}: median {}, {} to {}\n", runs.size(), plural(runs.size()),
                            readable_seconds(median_of_sorted(seconds)), readable_seconds(seconds.front()),
                            readable_seconds(seconds.back()));
}

std::string RunReport::describe_sent() const {
  if (processes == 1 || (!has_supersteps && iterations.empty())) return describe_least();
  if (has_supersteps) {
    const Work sum = work();
    std::uint64_t wire_bytes = 0;
    for (const auto& one : supersteps) wire_bytes += one.wire_bytes_sent;
    return fmt::format("sent: records {}, payload {}, on the wire {}\n", exact_bytes(sum.record_bytes),
                       exact_bytes(sum.payload_bytes_sent), readable_bytes(wire_bytes)) +
           describe_least();
  }
  const auto line = [](const char* name, std::uint64_t payload, std::uint64_t sent) {
    return fmt::format("{} payload {}, on the wire {}\n", name, exact_bytes(payload), readable_bytes(sent));
  };
  const auto& last = iterations.back();
  std::string text = line("sent each iteration:", last.payload_bytes_sent, last.wire_bytes_sent) +
                     line("bound of this plan: ", bound.payload_bytes, bound.wire_bytes) +
                     "time on the wire at least (share of an iteration):\n ";
  for (const char* comma = ""; const auto& [rate, seconds] : bound.seconds_at)
    text += fmt::format("{} {} {} ({:.0f} %)", std::exchange(comma, ","), rate, readable_seconds(seconds),
                        100 * seconds / seconds_per_iteration());
  return text + "\n";
}

/// Returns the text of the least that had to be sent, which stands behind what was sent.
std::string RunReport::describe_least() const {
  if (!least) return "";
  if (least->count.empty())
    return "had to be sent: this is not counted for searches that are tasks, nor after a checkpoint\n";
  std::string text = fmt::format("had to be sent: {}{}", least->count == "exact" ? "" : least->count + " ",
                                 exact_bytes(least->record_bytes));
  const bool in_one = !supersteps.empty() && !supersteps.front().least_record_bytes;
  if (least->record_bytes > 0)
    text += fmt::format(": records are {:.2f} times that, payload is {:.2f} times that", record_ratio(),
                        payload_ratio());
  return text + (in_one ? "; counted in one for all supersteps" : "") + "\n";
}

std::string RunReport::describe_disk() const {
  if (!disk) return "";
  std::string text = fmt::format("edges from disk: {} in {}", readable_bytes(disk->bytes_read),
                                 readable_seconds(disk->seconds));
  if (disk->limit_bytes_per_second > 0)
    text += fmt::format(", {:.0f} % of the {}/s that {} device{} gave", 100 * disk->share_of_limit(),
                        readable_bytes(static_cast<std::uint64_t>(disk->limit_bytes_per_second)),
                        disk->bytes_read_of_devices.size(), plural(disk->bytes_read_of_devices.size()));
  return text + fmt::format("; limited by {}\n", disk->limited_by());
}

std::string RunReport::describe_checks() const {
  std::string text;
  for (const auto& one : convergence) text += one.text;
  if (wire_error_bound > 0)
    text += fmt::format("values travelled as {}: in sum the result is within {:.2g} of that of f32\n", wire,
                        wire_error_bound);
  if (!checks.empty()) text += "check of the result: passed\n";
  for (const auto& one : verification) {
    text += fmt::format("check against a sequential reference: {}; in sum {:.2g}, limit {:.2g}\n",
                        one.passed                                ? "passed"
                        : one.limit_share <= 1 && !one.conclusive ? "says NOTHING, since the limit is above "
                                                                    "the values"
                                                                  : "FAILED",
                        one.sum_error, one.limit);
    if (one.unchecked > 0)
      text += fmt::format("  the limits of {} vertices are above their values: it says nothing of these\n",
                          one.unchecked);
  }
  return text;
}

std::string RunReport::describe_limits() const {
  std::string text;
  for (const auto& one : convergence) text += one.outlook;
  for (const auto& one : checks) text += fmt::format("check: {}\n", one);
  for (const auto& one : verification)
    text += fmt::format(
        "largest relative error {:.2g}; vertex {} comes nearest to its limit, with {:.2g} of it\n"
        "  limits: most that rounding can do ({})\n",
        one.max_relative_error, one.vertex, one.limit_share, one.rules);
  return text;
}

std::string RunReport::describe_places() const {
  constexpr std::size_t kShown = 16;
  std::string text;
  for (std::size_t p = 0; processes > 1 && p < std::min(placement.size(), kShown); ++p)
    text += fmt::format("rank {} on {}\n", p, placement[p]);
  if (placement.size() > kShown) text += fmt::format("and {} more\n", placement.size() - kShown);
  return text + fmt::format("load {}, plan {}, peak memory {}\n", readable_seconds(seconds_load),
                            readable_seconds(seconds_plan), readable_bytes(peak_rss_bytes));
}

std::string RunReport::describe_supersteps() const {
  constexpr std::size_t kShown = 20;
  if (!runs.empty()) return "";
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, supersteps.size()); ++i) {
    const auto& one = supersteps[i];
    text += fmt::format("{:>5}  {}: {} vertices, {} edges{}, {}\n", i + 1, one.phase, one.frontier, one.edges,
                        processes > 1 ? sent_by(one) : "", readable_seconds(one.seconds));
  }
  if (supersteps.size() > kShown)
    text += fmt::format("and {} more; {} has them all\n", supersteps.size() - kShown, opt::json);
  return text;
}

std::string RunReport::describe_choices() const {
  std::string text = plan_cache == "none" ? "" : fmt::format("plan cache: {}\n", plan_cache);
  text += ownership_table + link.to_text();
  if (!strategy_reason.empty()) text += fmt::format("strategy {}\n", strategy_reason);
  if (!layout_reason.empty()) text += fmt::format("layout {}\n", layout_reason);
  if (!order_reason.empty()) text += fmt::format("order {}\n", order_reason);
  if (bound.matching > 0)
    text += fmt::format(
        "cover: {} values each iteration; no plan sends fewer than {} (gap {:.2f} %)\n", bound.values,
        bound.matching,
        100.0 * static_cast<double>(bound.values - bound.matching) / static_cast<double>(bound.matching));
  return text;
}

std::string RunReport::describe_disk_reads() const {
  if (!disk) return "";
  const double bytes = static_cast<double>(disk->bytes_read),
               stored = static_cast<double>(disk->stored_bytes);
  std::string text = disk->bytes_written > 0 ? fmt::format("edges on disk: this run wrote {}\n",
                                                           readable_bytes(disk->bytes_written))
                                             : "edges on disk: found, an earlier run wrote them\n";
  if (disk->limit_bytes_per_second > 0)
    text += fmt::format(
        "time on the disk at that rate: {}, by reads of {} KiB, {} under way; all edges ({:.3f} bytes each) "
        "were read {:.2f} times\n",
        readable_seconds(bytes / disk->limit_bytes_per_second), disk->block_bytes >> 10, disk->depth,
        edges == 0 ? 0 : stored / static_cast<double>(edges), stored > 0 ? bytes / stored : 0);
  return text + (disk->balance ? disk->balance->to_text() : "");
}

std::string RunReport::describe_memory() const {
  std::string text;
  std::map<int, std::uint64_t> nodes;
  std::uint64_t all = 0;
  for (const auto& one : memory) {
    for (const auto& [node, count] : one.pages) nodes[node] += count, all += count;
  }
  if (several_nodes && all > 0) {
    text += "memory";
    for (const char* comma = ""; const auto& [node, count] : nodes)
      text += fmt::format("{} {:.0f} % on node {}", std::exchange(comma, ","),
                          100 * static_cast<double>(count) / static_cast<double>(all), node);
    text += "; pages elsewhere than wanted:";
    for (const char* comma = ""; const auto& one : memory) {
      if (one.pages.empty()) continue;
      text += fmt::format("{} {} {:.2f} %", std::exchange(comma, ","), one.name, 100 * one.elsewhere_share());
    }
    text += "\n";
  }
  if (!policy_refusal.empty())
    text += fmt::format(
        "memory policy refused ({}): pages are on the NUMA nodes that the system gives (containers allow it "
        "with the capability SYS_NICE)\n",
        policy_refusal);
  return text;
}

std::string RunReport::to_text(bool verbose) const {
  constexpr bool kAlways = true, kVerbose = false;
  const std::pair<bool, std::string> parts[] = {
      {kAlways, describe_answer(verbose)}, {kAlways, describe_time()},
      {kAlways, describe_sent()},          {kAlways, describe_disk()},
      {kAlways, describe_checks()},        {kVerbose, describe_limits()},
      {kVerbose, describe_places()},       {kVerbose, describe_choices()},
      {kVerbose, describe_supersteps()},   {kVerbose, describe_memory()},
      {kVerbose, describe_disk_reads()},   {kVerbose, fmt::format("checksum {:016x}\n", checksum)},
      {kAlways, profile_text()},
  };
  std::string text;
  for (const auto& [always, part] : parts)
    if (always || verbose) text += part;
  return text;
}

}  // namespace edgewire::report
