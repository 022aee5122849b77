#include <memory>
#include <optional>

#include "base/error.h"
#include "base/seconds.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/graph_files.h"
#include "cli/job_options.h"
#include "cli/option.h"
#include "graph/file/format.h"
#include "graph/generator.h"
#include "options/files.h"
#include "options/kernels.h"
#include "report/progress.h"
#include "shuffle/generator.h"

namespace edgewire::cli {

namespace {

struct GenerateSettings {
  std::string output;
  GenerateOptions options;
  std::optional<int> scale;
  std::uint64_t vertices = 0;
  std::uint64_t edge_factor = 16;
  graph::GridShape grid;
};

/// Returns a check for scales that the width of ids allows, with a hint where only the other one does.
CLI::Validator scale_range() {
  constexpr int kMost = kIds64 ? 47 : 31, kMostOfAll = 47;
  const CLI::Validator range = whole(0, kMost), all = whole(0, kMostOfAll);
  const auto check = [range, all](std::string& value) {
    const std::string wrong = range(value);
    return !wrong.empty() && all(value).empty() ? wrong + std::string(graph::kMoreVertices) : wrong;
  };
  return {check, ""};
}

CLI::App* add_kind(CLI::App& generate, const std::shared_ptr<GenerateSettings>& settings, const char* name,
                   const char* description) {
  CLI::App* command = generate.add_subcommand(name, description);
  auto& options = settings->options;
  add_graph_output(*command, settings->output, options.simple, options.undirected, options.workers);
  add(*command, opt::seed, options.seed);
  add(*command, opt::weights, options.weighted);
  add_quiet_option(*command);
  return command;
}

/// Makes a graph by make(options), which writes it, and prints a line.
template <class Make>
void make_graph(const GenerateSettings& settings, const Make& make) {
  const Clock::time_point start = Clock::now();
  GenerateOptions options = settings.options;
  options.progress = report::progress_on_stderr();
  print_summary(settings.output, make(options), start);
}

void add_kronecker(CLI::App& generate) {
  auto settings = std::make_shared<GenerateSettings>();
  CLI::App* command =
      add_kind(generate, settings, "kronecker",
               "scale-free, with the parameters of Graph500 (A, B, C = 0.57, 0.19, 0.19), ids permuted");
  add(*command, opt::scale, settings->scale)->required()->check(scale_range());
  add(*command, opt::edge_factor, settings->edge_factor);
  command->callback([settings] {
    make_graph(*settings, [&](const GenerateOptions& options) {
      return graph::generate_kronecker(settings->output, *settings->scale, settings->edge_factor, options);
    });
  });
}

void add_uniform(CLI::App& generate) {
  auto settings = std::make_shared<GenerateSettings>();
  CLI::App* command = add_kind(generate, settings, "uniform", "sources and targets drawn uniformly");
  CLI::Option* const scale = add(*command, opt::scale, settings->scale)->check(scale_range());
  CLI::Option* const vertices =
      add(*command, opt::vertex_count, settings->vertices)->excludes(scale)->default_str("");
  add(*command, opt::edge_factor, settings->edge_factor);
  command->callback([settings, vertices] {
    if (!settings->scale && vertices->empty())
      throw UsageError("generate uniform: --scale or --vertices is required");
    const std::uint64_t count = settings->scale ? std::uint64_t{1} << *settings->scale : settings->vertices;
    make_graph(*settings, [&](const GenerateOptions& options) {
      return graph::generate_uniform(settings->output, count, settings->edge_factor, options);
    });
  });
}

void add_records(CLI::App& generate) {
  struct Wanted {
    shuffle::RecordsWanted records;
    std::uint64_t bytes = 0;
    std::string folder;
  };
  auto settings = std::make_shared<Wanted>();
  CLI::App* command = generate.add_subcommand(
      "records", "files of records for sort: a key of 8 letters and digits, a number, and filler");
  add(*command, opt::generated_bytes, settings->bytes)->required();
  add(*command, opt::generated_record, settings->records.record_bytes);
  add(*command, opt::keys, settings->records.keys);
  add(*command, opt::files, settings->records.files);
  add_choice(*command, opt::key_order, settings->records.order);
  add(*command, opt::record_seed, settings->records.seed);
  writes(add(*command, opt::output, settings->folder, "write the files to this folder: records-00000, ...")
             ->required(),
         Form::folder, inside({"records-*"}));
  add_quiet_option(*command);
  command->callback([settings] {
    auto& wanted = settings->records;
    wanted.records = settings->bytes / wanted.record_bytes;
    shuffle::generate_records(settings->folder, wanted);
  });
}

void add_grid(CLI::App& generate) {
  auto settings = std::make_shared<GenerateSettings>();
  CLI::App* command = add_kind(generate, settings, "grid",
                               "each cell joined to its four neighbours, both ways, ids permuted");
  add(*command, opt::grid_rows, settings->grid.rows)->required();
  add(*command, opt::grid_columns, settings->grid.columns)->required();
  add(*command, opt::torus, settings->grid.torus);
  add(*command, opt::keep_order, settings->grid.keep_order);
  command->callback([settings] {
    make_graph(*settings, [&](const GenerateOptions& options) {
      return graph::generate_grid(settings->output, settings->grid, options);
    });
  });
}

}  // namespace

void add_generate(CLI::App& app) {
  CLI::App* generate = app.add_subcommand("generate", "make a synthetic graph");
  generate->require_subcommand(1);
  add_kronecker(*generate);
  add_uniform(*generate);
  add_grid(*generate);
  add_records(*generate);
}

}  // namespace edgewire::cli
