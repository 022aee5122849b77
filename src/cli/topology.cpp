// This file has edgewire topology and transports, which show the machine and what can be used on it.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/control_group.h"
#include "base/rooms.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/job_options.h"
#include "cli/option.h"
#include "edgewire/detail/cpu_level.h"
#include "options/jobs.h"
#include "options/measures.h"
#include "report/json_text.h"
#include "topology/core_claim.h"
#include "topology/machine.h"
#include "topology/page_nodes.h"
#include "topology/placement.h"
#include "transport/transport.h"

namespace edgewire::cli {
namespace {

using nlohmann::json;
using topology::Machine;
using topology::Placement;

struct Options {
  int processes = 1;
  int workers = 0;
  std::string xml;
  std::string json_path;
};

std::vector<int> cores_of(const Machine& machine, int node) {
  std::vector<int> cpus;
  for (const auto& core : machine.cores)
    if (core.node == node) cpus.push_back(core.cpu);
  return cpus;
}

/// Returns the network card nearest to a process with memory on `node`; empty when there is none.
std::string nearest_nic(const Machine& machine, int node) {
  const auto near = std::ranges::find(machine.nics, node, &topology::Nic::node);
  if (near != machine.nics.end()) return near->name;
  return machine.nics.empty() ? "" : machine.nics.front().name;
}

json pages_json(const topology::NodePages& found) {
  json huge = json::array();
  for (const auto& one : found.huge)
    huge.push_back({{"bytes", one.bytes}, {"total", one.total}, {"free", one.free}});
  return {{"page_bytes", topology::page_bytes()},
          {"total", found.total},
          {"free", found.free},
          {"huge_pages", huge}};
}

/// Returns a text such as "pages of 4 KiB: 3075480, 2911000 free; of 2 MiB: none".
std::string pages_text(const topology::NodePages& found) {
  std::string text = fmt::format("pages of {}: {}, {} free", readable_memory(topology::page_bytes()),
                                 found.total, found.free);
  for (const auto& one : found.huge)
    text += fmt::format("; of {}: {}", readable_memory(one.bytes),
                        one.total == 0 ? "none" : fmt::format("{}, {} free", one.total, one.free));
  return text;
}

/// Returns the cores that jobs of this user have pinned now.
std::vector<int> pinned_cores(const Machine& machine) {
  std::vector<int> cpus;
  for (const auto& core : machine.cores) cpus.push_back(core.cpu);
  return topology::claimed_cpus(topology::lock_folder(), cpus);
}

/// The memory of the machine, and that of all its nodes.
struct Memory {
  std::uint64_t installed = 0, of_nodes = 0;

  Memory(const Machine& machine, bool this_machine)
      : installed(this_machine ? installed_memory() : machine.memory_bytes) {
    for (const auto& node : machine.nodes) of_nodes += node.memory_bytes;
    installed = std::max(installed, machine.memory_bytes);
  }
};

json as_json(const Machine& machine, const std::vector<Placement>& placements, bool this_machine) {
  json nodes = json::array();
  for (int n = 0; const auto& node : machine.nodes) {
    nodes.push_back({{"os_index", node.os_index},
                     {"memory_bytes", node.memory_bytes},
                     {"cores", cores_of(machine, n++)}});
    if (this_machine) nodes.back()["pages"] = pages_json(topology::node_pages(node.os_index));
  }
  json nics = json::array();
  for (const auto& nic : machine.nics) nics.push_back({{"name", nic.name}, {"node", nic.node}});
  json processes = json::array();
  for (int rank = 0; const auto& placement : placements) {
    json workers = json::array();
    for (const auto& place : placement.workers) workers.push_back({{"cpu", place.cpu}, {"node", place.node}});
    processes.push_back(
        {{"rank", rank++}, {"workers", workers}, {"nic", nearest_nic(machine, placement.workers[0].node)}});
  }
  return {{"model", machine.model},
          {"cpu_level", this_machine ? json(name_of(topology::cpu_level())) : json()},
          {"cpu_quota", machine.cpu_quota > 0 ? json(machine.cpu_quota) : json()},
          {"cores_pinned", this_machine ? json(pinned_cores(machine)) : json()},
          {"memory_bytes", machine.memory_bytes},
          {"installed_bytes", Memory(machine, this_machine).installed},
          {"huge_pages", machine.huge_pages},
          {"caches",
           {{"l1_bytes", machine.l1_bytes}, {"l2_bytes", machine.l2_bytes}, {"l3_bytes", machine.l3_bytes}}},
          {"nodes", nodes},
          {"nics", nics},
          {"oversubscribed", placements.front().oversubscribed},
          {"processes", processes},
          {"version", EDGEWIRE_VERSION}};
}

/// Adds the memory of the machine, the part that may be used, and why the nodes below may have less.
void add_memory(std::string& text, const Machine& machine, bool this_machine) {
  constexpr std::uint64_t kRoughly = 50;  // inverse of the part that the kernel keeps for itself
  const Memory memory(machine, this_machine);
  text += fmt::format(
      "memory      {}{}\n", readable_memory(memory.installed),
      machine.memory_bytes < memory.installed
          ? fmt::format(", of which control groups allow {}", readable_memory(machine.memory_bytes))
          : "");
  if (memory.of_nodes + memory.installed / kRoughly < memory.installed)
    text +=
        fmt::format("            nodes account for {}: the system does not say on which node the rest is\n",
                    readable_memory(memory.of_nodes));
}

void add_machine(std::string& text, const Machine& machine, bool this_machine) {
  text += fmt::format("processor   {}\n", machine.model.empty() ? "unknown" : machine.model);
  text += fmt::format("cores       {} on {} NUMA node{}{}\n", machine.cores.size(), machine.nodes.size(),
                      machine.nodes.size() == 1 ? "" : "s",
                      machine.cpu_quota > 0 ? fmt::format("; CPU quota {:.4g}", machine.cpu_quota) : "");
  if (const auto pinned = this_machine ? pinned_cores(machine) : std::vector<int>(); !pinned.empty())
    text += fmt::format("            jobs have pinned {}\n", topology::to_ranges(pinned));
  text += fmt::format("caches      L1 {}, L2 {}, L3 {}\n", readable_memory(machine.l1_bytes),
                      readable_memory(machine.l2_bytes),
                      machine.l3_bytes == 0 ? "none" : readable_memory(machine.l3_bytes));
  add_memory(text, machine, this_machine);
  if (this_machine) text += fmt::format("loops       for {}\n", name_of(topology::cpu_level()));
  if (this_machine)
    text += fmt::format("huge pages  {}\n", machine.huge_pages ? "yes" : "no (the system does not give any)");
  for (int n = 0; const auto& node : machine.nodes) {
    std::string nics;
    for (const auto& nic : machine.nics)
      if (nic.node == n) nics += " " + nic.name;
    text += fmt::format("node {:<6} cores {}; memory {}; network{}\n", node.os_index,
                        topology::to_ranges(cores_of(machine, n)), readable_memory(node.memory_bytes),
                        nics.empty() ? " none" : nics);
    if (this_machine)
      text += fmt::format("            {}\n", pages_text(topology::node_pages(node.os_index)));
    ++n;
  }
  for (const auto& nic : machine.nics)
    if (nic.node < 0) text += fmt::format("network     {}, its node unknown\n", nic.name);
}

void add_placements(std::string& text, const Machine& machine, const std::vector<Placement>& placements) {
  for (int rank = 0; const auto& placement : placements) {
    const std::string nic = nearest_nic(machine, placement.workers[0].node);
    text += fmt::format("process {:<3} {}; network {}\n", rank++, topology::describe(placement, machine),
                        nic.empty() ? "none" : nic);
  }
  if (placements.front().oversubscribed)
    text += fmt::format(
        "more workers ({}) than cores ({}{}): workers are not pinned and wait by blocking\n",
        placements.size() * placements.front().workers.size(), topology::usable_cores(machine),
        machine.cpu_quota > 0 ? fmt::format(" by the CPU quota of {:.4g}", machine.cpu_quota) : "");
}

void show_topology(const Options& options) {
  check_writable(options.json_path);
  const Machine machine =
      options.xml.empty() ? topology::discover(topology::Cards::found) : topology::from_xml(options.xml);
  const int cores = topology::usable_cores(machine);
  const int workers = options.workers > 0 ? options.workers : std::max(1, cores / options.processes);
  std::vector<Placement> placements;
  for (int rank = 0; rank < options.processes; ++rank)
    placements.push_back(topology::place(machine, rank, options.processes, workers));
  if (!options.json_path.empty())
    write_whole(options.json_path,
                report::json_text(as_json(machine, placements, options.xml.empty()), 2) + "\n");
  if (options.json_path == "-") return;
  std::string text;
  add_machine(text, machine, options.xml.empty());
  text += "\n";
  add_placements(text, machine, placements);
  write_whole("-", text);
}

std::string transports_text() {
  std::string text = fmt::format("{:<8}{:<8}{}\n", "name", "usable", "description");
  for (const transport::Backend& backend : transport::backends())
    text += fmt::format("{:<8}{:<8}{}{}\n", backend.name, backend.usable ? "yes" : "no", backend.description,
                        backend.usable ? "" : ": " + backend.reason);
  return text;
}

std::string transports_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const transport::Backend& backend : transport::backends())
    all.push_back({{"name", backend.name},
                   {"usable", backend.usable},
                   {"description", backend.description},
                   {"reason", backend.reason}});
  return report::json_text(all, 2) + "\n";
}

}  // namespace

void add_topology(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "topology", "show the machine, and where workers, their memory and network cards would go");
  add(*command, opt::placed_processes, options->processes);
  add(*command, opt::workers, options->workers);
  reads(add(*command, opt::xml, options->xml));
  writes(add(*command, opt::json, options->json_path, "write all of it to this file as JSON; - is stdout")
             ->type_name("FILE"),
         Form::text);
  command->callback([options] { show_topology(*options); });
}

void add_transports(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("transports", "list the transport backends and whether they are usable here");
  const auto json = std::make_shared<std::string>();
  add_report_options(*command, *json, "list");
  command->callback([json] {
    if (!json->empty()) write_whole(*json, transports_json());
    if (*json != "-") show(transports_text());
  });
}

}  // namespace edgewire::cli
