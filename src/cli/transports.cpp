// edgewire transports: which backends there are and whether they are usable here.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/files.h"
#include "transport/transport.h"

namespace edgewire::cli {
namespace {

void print_table() {
  fmt::print("{:<8}{:<8}{}\n", "name", "usable", "description");
  for (const transport::Backend& backend : transport::backends())
    fmt::print("{:<8}{:<8}{}{}\n", backend.name, backend.usable ? "yes" : "no", backend.description,
               backend.usable ? "" : ": " + backend.reason);
}

std::string as_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const transport::Backend& backend : transport::backends())
    all.push_back({{"name", backend.name},
                   {"usable", backend.usable},
                   {"description", backend.description},
                   {"reason", backend.reason}});
  return all.dump(2) + "\n";
}

}  // namespace

void add_transports(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("transports", "List the transport backends and whether they are usable here");
  const auto json = std::make_shared<std::string>();
  writes(command->add_option("--json", *json, "write the list as JSON to this file, - for stdout"),
         Form::text);
  command->callback([json] {
    if (json->empty())
      print_table();
    else
      write_whole(*json, as_json());
  });
}

}  // namespace edgewire::cli
