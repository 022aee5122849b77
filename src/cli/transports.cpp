// This file has edgewire transports, which shows the backends and whether they are usable here.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/job_options.h"
#include "report/json_text.h"
#include "transport/transport.h"

namespace edgewire::cli {
namespace {

std::string as_table() {
  std::string text = fmt::format("{:<8}{:<8}{}\n", "name", "usable", "description");
  for (const transport::Backend& backend : transport::backends())
    text += fmt::format("{:<8}{:<8}{}{}\n", backend.name, backend.usable ? "yes" : "no", backend.description,
                        backend.usable ? "" : ": " + backend.reason);
  return text;
}

std::string as_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const transport::Backend& backend : transport::backends())
    all.push_back({{"name", backend.name},
                   {"usable", backend.usable},
                   {"description", backend.description},
                   {"reason", backend.reason}});
  return report::json_text(all, 2) + "\n";
}

}  // namespace

void add_transports(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("transports", "list the transport backends and whether they are usable here");
  const auto json = std::make_shared<std::string>();
  add_report_options(*command, *json, "list");
  command->callback([json] {
    if (!json->empty()) write_whole(*json, as_json());
    if (*json != "-") show(as_table());
  });
}

}  // namespace edgewire::cli
