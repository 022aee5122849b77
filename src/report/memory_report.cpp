// What a run report says of NUMA nodes.
#include <fmt/core.h>

#include "report/memory_report.h"

namespace edgewire::report {

double RunReport::Memory::elsewhere_share() const {
  std::uint64_t all = 0;
  for (const auto& [node, count] : pages) all += count;
  return all == 0 ? 0 : static_cast<double>(elsewhere) / static_cast<double>(all);
}

nlohmann::ordered_json memory_json(const RunReport& report) {
  nlohmann::ordered_json json{{"page_bytes", report.page_bytes}};
  if (!report.policy_refusal.empty()) json["policy_refused"] = report.policy_refusal;
  for (const auto& one : report.memory) {
    auto& kind = json[one.name];
    kind["bytes"] = one.bytes;
    kind["pages"] = nlohmann::ordered_json::array();
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

}  // namespace edgewire::report
