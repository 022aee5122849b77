#include "report/run_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "report/json_text.h"

namespace edgewire::report {

namespace {

constexpr int kSchemaVersion = 1;  // version of src/report/schema

double ratio(std::uint64_t bytes, std::uint64_t least) {
  return static_cast<double>(bytes) / static_cast<double>(least);
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
  if (disk.balance) json["balance"] = disk.balance->to_json();
}

void RunReport::Work::add(const Work& superstep) {
  frontier += superstep.frontier;
  edges += superstep.edges;
  record_bytes += superstep.record_bytes;
  payload_bytes_sent += superstep.payload_bytes_sent;
}

RunReport::Work RunReport::work() const {
  Work sum;
  for (const auto& one : supersteps) sum.add(one);
  return sum;
}

double RunReport::record_ratio() const { return ratio(work().record_bytes, least->record_bytes); }
double RunReport::payload_ratio() const { return ratio(work().payload_bytes_sent, least->record_bytes); }

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
      sent["record_ratio"] = record_ratio();
      sent["payload_ratio"] = payload_ratio();
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

}  // namespace edgewire::report
