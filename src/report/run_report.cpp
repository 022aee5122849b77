#include "report/run_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/median.h"
#include "report/json_text.h"

namespace edgewire::report {

namespace {

constexpr int kSchemaVersion = 1;  // src/report/schema

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
  return fmt::format(
      "iteration {} took {:.3g} s, the median one {:.3g} s: a link, a process or a disk stood still\n",
      before + static_cast<std::uint64_t>(longest) + 1, most, usual);
}

RunReport::Work sum_of(const std::vector<RunReport::Superstep>& supersteps) {
  RunReport::Work sum;
  for (const auto& one : supersteps) sum.add(one);
  return sum;
}

double ratio(std::uint64_t bytes, std::uint64_t least) {
  return static_cast<double>(bytes) / static_cast<double>(least);
}

/// Says what a superstep or a run sent.
std::string describe_sent(const RunReport::Work& one) {
  return fmt::format(
      "{}, sent {} of records, payload {}",
      one.least_record_bytes ? fmt::format(", had to send {}", readable_bytes(*one.least_record_bytes)) : "",
      readable_bytes(one.record_bytes), readable_bytes(one.payload_bytes_sent));
}

}  // namespace

EDGEWIRE_JSON_OF(RunReport::Iteration, seconds, payload_bytes_sent, wire_bytes_sent)
EDGEWIRE_JSON_OF(RunReport::Superstep, phase, frontier, edges, record_bytes, payload_bytes_sent,
                 wire_bytes_sent, seconds, least_record_bytes)
EDGEWIRE_JSON_OF(RunReport::Verification, max_relative_error, sum_error, limit, vertex_limit, limit_share,
                 vertex, rules, passed, conclusive, unchecked)

static void to_json(Json& json, const RunReport::Run& run) {
  EDGEWIRE_ADD_FIELDS(json, run, source, supersteps, frontier, edges, record_bytes, payload_bytes_sent,
                      seconds, least_record_bytes);
  if (!run.answer.empty()) json["answer"] = run.answer;
}

static void to_json(Json& json, const RunReport::Bound& bound) {
  json["values"] = bound.values;
  if (bound.matching > 0) json["matching"] = bound.matching;
  EDGEWIRE_ADD_FIELDS(json, bound, payload_bytes, wire_bytes);
  auto& at = json["seconds_at"] = Json::object();
  for (const auto& [rate, seconds] : bound.seconds_at) at[rate] = seconds;
}

static void to_json(Json& json, const RunReport::Disk& disk) {
  json["edges"] = disk.bytes_written > 0 ? "written" : "found";
  json["bytes_written"] = disk.bytes_written;
  json["devices"] = disk.bytes_read_of_devices.size();
  EDGEWIRE_ADD_FIELDS(json, disk, direct, stored_bytes, bytes_read, bytes_read_of_devices, seconds,
                      seconds_busy, limit_bytes_per_second, block_bytes, depth);
  json["limited_by"] = disk.limited_by();
  if (!disk.balance_json.empty()) json["balance"] = Json::parse(disk.balance_json);
}

void RunReport::Work::add(const Work& superstep) {
  frontier += superstep.frontier;
  edges += superstep.edges;
  record_bytes += superstep.record_bytes;
  payload_bytes_sent += superstep.payload_bytes_sent;
}

bool RunReport::is_right() const { return std::ranges::all_of(verification, &Verification::passed); }

double RunReport::seconds_per_iteration() const {
  const std::size_t counted = std::min<std::size_t>(iterations.size(), 10);
  double seconds = 0;
  for (std::size_t i = iterations.size() - counted; i < iterations.size(); ++i)
    seconds += iterations[i].seconds;
  return counted == 0 ? 0 : seconds / static_cast<double>(counted);
}

double RunReport::edges_per_second() const {
  const double seconds = seconds_per_iteration();
  return seconds > 0 ? static_cast<double>(edges) / seconds : 0;
}

std::string RunReport::to_json() const {
  Json json{{"schema_version", kSchemaVersion}};
  EDGEWIRE_ADD_FIELDS(json, *this, kernel, graph, vertices, edges);
  add_head(json);
  EDGEWIRE_ADD_FIELDS(json, *this, strategy, wire, ownership, layout);
  if (!answer.empty()) json["answer"] = answer;
  auto& asked = json["options"] = Json::object();
  for (const auto& [name, value] : options) add_field(asked, name, value);
  json["iterations"] = iterations;
  if (has_supersteps) EDGEWIRE_ADD_FIELDS(json, *this, supersteps, seconds_kernel);
  if (!runs.empty()) json["runs"] = runs;
  if (!ownership_table.empty()) json["ownership_table"] = ownership_table;
  if (!strategy_reason.empty()) json["strategy_reason"] = strategy_reason;
  if (!layout_reason.empty()) json["layout_reason"] = layout_reason;
  if (!order.empty()) json["order"] = order;
  if (!order_reason.empty()) json["order_reason"] = order_reason;
  json["plan_cache"] = plan_cache;
  if (!plan_cache_note.empty()) json["plan_cache_note"] = plan_cache_note;
  EDGEWIRE_ADD_FIELDS(json, *this, seconds_convert, seconds_load, seconds_plan, seconds_total);
  json["seconds_per_iteration"] = seconds_per_iteration();
  json["edges_per_second"] = edges_per_second();
  add_place(json);
  EDGEWIRE_ADD_FIELDS(json, *this, tile_bytes, setup_messages, disk);
  if (!memory.empty()) json["memory"] = memory_json();
  json["bound"] = bound;
  if (least && !least->count.empty()) {
    auto& sent = json["least"];
    EDGEWIRE_ADD_FIELDS(sent, *least, record_bytes, count);
    if (least->record_bytes > 0) {
      const Work sum = sum_of(supersteps);
      sent["record_ratio"] = ratio(sum.record_bytes, least->record_bytes);
      sent["payload_ratio"] = ratio(sum.payload_bytes_sent, least->record_bytes);
    }
  }
  for (const auto& one : convergence) EDGEWIRE_ADD_FIELDS(json, one, change, converged);
  EDGEWIRE_ADD_FIELDS(json, *this, rounding_bound, wire_error_bound, triangles);
  if (resumed_from > 0) json["resumed_from"] = resumed_from;
  if (answer.top && answer.listed) json["top"] = *answer.top;
  json["checksum"] = fmt::format("{:016x}", checksum);
  if (!verification.empty()) json["verify"] = verification[0];
  if (!checks.empty()) json["rules_kept"] = checks;
  add_end(json);
  return json_text(json, 2) + "\n";
}

/// Says what had to be sent. It stands after the figures of all supersteps.
std::string RunReport::describe_least() const {
  if (!least) return "";
  if (least->count.empty())
    return "had to be sent: nobody counts that for searches that are tasks, nor after a checkpoint\n";
  std::string text =
      fmt::format("had to be sent: {}{} ({} B)", least->count == "exact" ? "" : least->count + " ",
                  readable_bytes(least->record_bytes), least->record_bytes);
  const Work sum = sum_of(supersteps);
  const bool in_one = !supersteps.empty() && !supersteps.front().least_record_bytes;
  if (least->record_bytes > 0)
    text += fmt::format(": records are {:.2f} times that, payload is {:.2f} times that",
                        ratio(sum.record_bytes, least->record_bytes),
                        ratio(sum.payload_bytes_sent, least->record_bytes));
  return text + (in_one ? "; counted in one for all supersteps" : "") + "\n";
}

std::string RunReport::describe_supersteps() const {
  constexpr std::size_t kShown = 20;
  const Work sum = sum_of(supersteps);
  const std::string after =
      resumed_from == 0 ? "" : fmt::format(" after the {} {} of the checkpoint", resumed_from, resumed_unit);
  std::string text = fmt::format("{} supersteps{} in {:.6f} s, {} edges followed ({:.2f} of the graph's)\n",
                                 supersteps.size(), after, seconds_kernel, sum.edges,
                                 edges == 0 ? 0 : ratio(sum.edges, edges));
  if (processes > 1)
    text += fmt::format("sent: records {} ({} B), with all around them payload {} ({} B)\n",
                        readable_bytes(sum.record_bytes), sum.record_bytes,
                        readable_bytes(sum.payload_bytes_sent), sum.payload_bytes_sent);
  text += describe_least();
  if (!runs.empty()) return text + describe_runs();
  for (std::size_t i = 0; i < std::min(kShown, supersteps.size()); ++i) {
    const auto& one = supersteps[i];
    text += fmt::format("{:>5}  {}: {} vertices, {} edges", i + 1, one.phase, one.frontier, one.edges);
    if (processes > 1) text += describe_sent(one);
    text += fmt::format(", {:.6f} s\n", one.seconds);
  }
  if (supersteps.size() > kShown)
    text += fmt::format("and {} more; --json has them all\n", supersteps.size() - kShown);
  return text;
}

double RunReport::Disk::share_of_limit() const {
  const double limit = limit_bytes_per_second * seconds;
  return limit > 0 ? static_cast<double>(bytes_read) / limit : 0;
}

const char* RunReport::Disk::limited_by() const {
  constexpr double kNearLimit = 0.8, kBeyondLimit = 1.1, kAlways = 0.95;
  if (seconds_busy > kAlways * seconds && seconds_cores < kNearLimit * seconds) return "disk";
  if (limit_bytes_per_second == 0 || share_of_limit() > kBeyondLimit) return "unknown";
  if (share_of_limit() >= kNearLimit) return "disk";
  return seconds_wire >= kNearLimit * seconds && seconds_wire > 0 ? "sending" : "computing";
}

std::string RunReport::describe_disk() const {
  const double bytes = static_cast<double>(disk->bytes_read),
               stored = static_cast<double>(disk->stored_bytes);
  std::string text = disk->bytes_written > 0 ? fmt::format("edges on disk: this run wrote {}\n",
                                                           readable_bytes(disk->bytes_written))
                                             : "edges on disk: found, an earlier run wrote them\n";
  text += fmt::format(
      "edges from disk: {} in {:.3f} s, {:.0f} % of the {:.3f} GB/s that {} device{} gave to reads of {} "
      "KiB, {} "
      "under way; limited by {}\n",
      readable_bytes(disk->bytes_read), disk->seconds, 100 * disk->share_of_limit(),
      disk->limit_bytes_per_second * 1e-9, disk->bytes_read_of_devices.size(),
      disk->bytes_read_of_devices.size() == 1 ? "" : "s", disk->block_bytes >> 10, disk->depth,
      disk->limited_by());
  if (disk->limit_bytes_per_second > 0)
    text += fmt::format(
        "time on the disk at that rate: {:.6f} s; all edges ({:.3f} bytes each) were read {:.2f} times\n",
        bytes / disk->limit_bytes_per_second, edges == 0 ? 0 : stored / static_cast<double>(edges),
        stored > 0 ? bytes / stored : 0);
  return text + disk->balance_text;
}

std::string RunReport::describe_runs() const {
  constexpr std::size_t kShown = 20;
  std::vector<double> seconds;
  for (const auto& one : runs) seconds.push_back(one.seconds);
  std::sort(seconds.begin(), seconds.end());
  std::string text =
      fmt::format("{} run{}: median {:.6f} s, {:.6f} to {:.6f}\n", runs.size(), runs.size() == 1 ? "" : "s",
                  median_of_sorted(seconds), seconds.front(), seconds.back());
  for (std::size_t i = 0; i < std::min(kShown, runs.size()); ++i) {
    const auto& one = runs[i];
    text += fmt::format("{:>5}  source {}: {}{}{} supersteps, {} vertices, {} edges", i + 1, one.source,
                        one.answer.text, one.answer.text.empty() ? "" : "; ", one.supersteps, one.frontier,
                        one.edges);
    if (processes > 1) text += describe_sent(one);
    text += fmt::format(", {:.6f} s\n", one.seconds);
  }
  if (runs.size() > kShown) text += fmt::format("and {} more; --json has them all\n", runs.size() - kShown);
  return text;
}

double RunReport::Memory::elsewhere_share() const {
  std::uint64_t all = 0;
  for (const auto& [node, count] : pages) all += count;
  return all == 0 ? 0 : static_cast<double>(elsewhere) / static_cast<double>(all);
}

Json RunReport::memory_json() const {
  Json json{{"page_bytes", page_bytes}};
  if (!policy_refusal.empty()) json["policy_refused"] = policy_refusal;
  for (const auto& one : memory) {
    auto& kind = json[one.name] = {{"bytes", one.bytes}, {"pages", Json::array()}};
    for (const auto& [node, count] : one.pages) kind["pages"].push_back({{"node", node}, {"pages", count}});
    kind["elsewhere_share"] = one.elsewhere_share();
  }
  return json;
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
    for (const char* comma = ""; const auto& [node, count] : nodes) {
      text += fmt::format("{} {:.0f} % on node {}", comma,
                          100 * static_cast<double>(count) / static_cast<double>(all), node);
      comma = ",";
    }
    text += "; pages elsewhere than wanted:";
    for (const char* comma = ""; const auto& one : memory) {
      if (one.pages.empty()) continue;
      text += fmt::format("{} {} {:.2f} %", comma, one.name, 100 * one.elsewhere_share());
      comma = ",";
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

std::string RunReport::to_text() const {
  std::string text = fmt::format("{}: {} vertices, {} edges, {}, strategy {}\n", kernel, vertices, edges,
                                 describe(), strategy);
  text += answer.first_lines();
  constexpr std::size_t kPlacesShown = 16;
  for (std::size_t p = 0; processes > 1 && p < std::min(placement.size(), kPlacesShown); ++p)
    text += fmt::format("rank {} on {}\n", p, placement[p]);
  if (placement.size() > kPlacesShown) text += fmt::format("and {} more\n", placement.size() - kPlacesShown);
  text += fmt::format("load {:.3f} s, plan {:.3f} s, total {:.3f} s, peak memory {}\n", seconds_load,
                      seconds_plan, seconds_total, readable_bytes(peak_rss_bytes));
  if (has_supersteps) {
    text += describe_supersteps();
  } else {
    text += fmt::format("{} iteration{}{}, {:.6f} s each (mean of the last ten), {:.3f} G edges/s\n",
                        iterations.size(), iterations.size() == 1 ? "" : "s",
                        resumed_from == 0 ? "" : fmt::format(" after the {} of the checkpoint", resumed_from),
                        seconds_per_iteration(), edges_per_second() / 1e9);
    text += describe_pause(iterations, resumed_from);
  }
  if (plan_cache != "none") text += fmt::format("plan cache: {}\n", plan_cache);
  text += ownership_table;
  text += link.to_text();
  if (!strategy_reason.empty()) text += fmt::format("strategy {}\n", strategy_reason);
  if (!layout_reason.empty()) text += fmt::format("layout {}\n", layout_reason);
  if (!order_reason.empty()) text += fmt::format("order {}\n", order_reason);
  if (bound.matching > 0) {
    text += fmt::format(
        "cover: {} values each iteration; no plan sends fewer than {} (gap {:.2f} %)\n", bound.values,
        bound.matching,
        100.0 * static_cast<double>(bound.values - bound.matching) / static_cast<double>(bound.matching));
  }
  if (processes > 1 && !iterations.empty()) {
    const auto& last = iterations.back();
    text += fmt::format("sent each iteration: payload {} ({} B), on the wire {}\n",
                        readable_bytes(last.payload_bytes_sent), last.payload_bytes_sent,
                        readable_bytes(last.wire_bytes_sent));
    text += fmt::format("bound of this plan:  payload {} ({} B), on the wire {}\n",
                        readable_bytes(bound.payload_bytes), bound.payload_bytes,
                        readable_bytes(bound.wire_bytes));
    text += "time on the wire at least (share of an iteration):";
    for (const auto& [rate, seconds] : bound.seconds_at) {
      text += fmt::format("  {} {:.6f} s ({:.0f} %)", rate, seconds, 100 * seconds / seconds_per_iteration());
    }
    text += "\n";
  }
  text += describe_memory();
  if (disk) text += describe_disk();
  for (const auto& one : convergence) text += one.text;
  if (wire_error_bound > 0) {
    text += fmt::format("values travelled as {}: in sum the result is within {:.2g} of that of f32\n", wire,
                        wire_error_bound);
  }
  for (const auto& one : checks) text += fmt::format("check: {}\n", one);
  for (const auto& one : verification) {
    text += fmt::format(
        "check against a sequential reference: {}, in sum {:.2g} (limit {:.2g}), largest relative error "
        "{:.2g}; vertex {} comes nearest to its limit, with {:.2g} of it\n  limits: most that rounding can "
        "do ({})\n",
        one.passed                                ? "passed"
        : one.limit_share <= 1 && !one.conclusive ? "says NOTHING, since the limit is above the values"
                                                  : "FAILED",
        one.sum_error, one.limit, one.max_relative_error, one.vertex, one.limit_share, one.rules);
    if (one.unchecked > 0)
      text += fmt::format("  the limits of {} vertices are above their values: it says nothing of these\n",
                          one.unchecked);
  }
  text += fmt::format("checksum {:016x}\n", checksum);
  text += answer.last_lines();
  for (const auto& one : runs) text += one.answer.last_lines(" from " + one.source);
  return text + profile_text;
}

}  // namespace edgewire::report
