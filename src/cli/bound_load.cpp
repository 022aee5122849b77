#include "cli/bound_load.h"

#include <fmt/core.h>

#include "base/error.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/job_options.h"
#include "cli/option.h"
#include "graph/file/format.h"
#include "options/files.h"
#include "options/measures.h"

namespace edgewire::cli {

void LoadArguments::add_to(CLI::App& command) {
  command.option_defaults()->group("Loads");
  add(command, opt::load, load);
  add(command, opt::load_bytes, task.input_bytes);
  add(command, opt::load_edges, edges);
  add(command, opt::load_vertices, vertices);
  add(command, opt::load_weighted, task.weighted);
  add(command, opt::load_undirected, task.undirected);
  add(command, opt::load_parts, task.parts);
  add(command, opt::largest_share, task.largest_share);
  add(command, opt::record, task.shape.bytes, "sort: bytes of a record");
  add(command, opt::partitions, task.partitions, "sort: parts; by default one for each worker");
  add(command, opt::disk_read_rate, disk_read_rate);
  add(command, opt::disk_write_rate, disk_write_rate);
  add(command, opt::core_rate, core_rate);
  writes(add(command, opt::temp, temp, "folder whose disk is measured"), Form::folder, no_names);
}

void LoadArguments::check(const CLI::App& command) const {
  const auto refuse = [&](bool where, std::initializer_list<const char*> options, const char* why) {
    for (const char* const option : options)
      if (where && command.count(option) > 0) throw UsageError(fmt::format("{} {}", option, why));
  };
  for (const CLI::Option* const option : command.get_options())
    refuse(load.empty() && option->get_group() == "Loads", {option->get_name().c_str()}, "needs --load");
  refuse(!load.empty(),
         {"--kernel", "--source", "--iterations", "--ownership", "--strategy", "--precision", "--threads",
          "--csv", "--latency", "--as-published-2015", "--compute-rate", "--memory-rate", "--format",
          "--labels", "--columns"},
         "does not belong to --load");
  refuse(load == "sort", {"--edges", "--vertices", "--weighted", "--undirected", "--parts"},
         "belongs to --load convert");
  refuse(load == "convert", {"--record", "--partitions"}, "belongs to --load sort");
  refuse(load == "convert" && !task.parts, {"--rate", "--framing", "--largest-share"},
         "needs a machine for each process: --load sort, or --load convert --parts");
}

void LoadArguments::run(const std::string& json_path) {
  if (task.inputs.empty() == (task.input_bytes == 0))
    throw UsageError("--load: name input files, or give their size (--bytes)");
  check_writable(json_path);
  task.sorts = load == "sort";
  task.edges = count_from(edges, graph::kMaxEdges, "--edges");
  task.vertices = count_from(vertices, graph::kMaxVertices, "--vertices");
  task.disk_read_bytes_per_second = amount_from(disk_read_rate, "--disk-read-rate", "500M or 1G");
  task.disk_write_bytes_per_second = amount_from(disk_write_rate, "--disk-write-rate", "500M or 1G");
  task.core_bytes_per_second = amount_from(core_rate, "--core-rate", "500M or 1G");
  bounds::complete(task);
  bounds::measure(task, temp);
  if (!json_path.empty()) write_whole(json_path, bounds::to_json(task));
  if (json_path != "-") show(bounds::to_text(task));
}

}  // namespace edgewire::cli
