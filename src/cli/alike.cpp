#include "cli/alike.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace edgewire::cli {
namespace {

constexpr std::array<std::string_view, 5> kGroups{"Kernel", "Transport", "What is sent", "Measurement",
                                                  "Edges on disks"};
/// Each host has its own.
constexpr std::array<std::string_view, 9> kOfHosts{"--devices",      "--memory",    "--verbs-device",
                                                   "--verbs-memory", "--dpdk-port", "--dpdk-udp",
                                                   "--dpdk-args",    "--dpdk-rate", "--json"};

bool must_agree(const CLI::Option& option) {
  return !option.get_positional() && std::ranges::find(kGroups, option.get_group()) != kGroups.end() &&
         std::ranges::find(kOfHosts, option.get_name()) == kOfHosts.end();
}

std::string given_or_default(const CLI::Option& option) {
  if (option.count() == 0) return option.get_default_str();
  std::string text;
  for (const std::string& one : option.results()) text += (text.empty() ? "" : ",") + one;
  return text;
}

}  // namespace

std::vector<launch::Fact> alike(const CLI::App& command) {
  std::string name = command.get_name();
  const CLI::App* parent = command.get_parent();
  if (parent != nullptr && parent->get_parent() != nullptr) name = parent->get_name() + " " + name;
  std::vector<launch::Fact> facts{{"the command", name}, {"the version", EDGEWIRE_VERSION}};
  for (const CLI::Option* option : command.get_options()) {
    if (!must_agree(*option)) continue;
    const std::string value = given_or_default(*option);
    // The same file may have another path on another host.
    if (value.find('/') == value.npos) facts.push_back({option->get_name(), value});
  }
  return facts;
}

}  // namespace edgewire::cli
