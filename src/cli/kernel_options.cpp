#include "cli/kernel_options.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/output_folder.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/output_parts.h"
#include "cli/profile_files.h"

namespace edgewire::cli {

void KernelOptions::add_to(CLI::App& command) {
  owner = &command;
  command.footer(
      command.get_footer() +
      "\nWeights: sssp and spmv are defined with weights and use those of the graph. pagerank, ppr "
      "and bc use them with --weighted. The other kernels do not use them.");
  add_graph_input(command, graph_path, reading);
  JobOptions::add_to(command);
  command.option_defaults()->group("Processes");
  command
      .add_option(
          "--rows", rows,
          "on several hosts, where vertices of a process lie all over the graph file: own reads them in "
          "each process, shares reads each row once in all and sends it to its owner; auto is own where "
          "the file is in the page cache of every host")
      ->check(CLI::IsMember({"auto", "own", "shares"}))
      ->capture_default_str();
}

void KernelOptions::add_output_options(CLI::App& command, const std::string& result, const std::string& check,
                                       const std::string& listed, std::uint64_t by_default) {
  command.option_defaults()->group("Output");
  writes(command.add_option("-o,--output", output_path,
                            fmt::format("write {}; - is stdout; .gz and .zst are compressed", result)),
         Form::text, [this](const std::string& path) {
           return std::vector{output_parts ? parts_of(path) : NamedFile{path}};
         });
  command.add_flag(
      "--output-parts", output_parts,
      "let each process write the vertices that it owns where it runs, as OUTPUT.0000-of-0004; by "
      "default rank 0 writes one file");
  writes(command.add_option("--json", json_path, "write the run report to this file as JSON; - is stdout"),
         Form::text);
  command
      .add_option("--top", top,
                  fmt::format("list the K {}, one a line; by default {}", listed,
                              by_default == 0 ? "none" : fmt::format("{} in a line", by_default)))
      ->type_name("K")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << (kIds64 ? 48 : 32)));
  command.add_flag("--verify", verify, check);
}

void KernelOptions::add_checkpoint_options(CLI::App& command, const std::string& value,
                                           const std::string& step) {
  checkpoint_step = step;
  command.option_defaults()->group("Checkpoints");
  CLI::Option* const written = command.add_option(
      "--checkpoint", checkpoints.folder,
      fmt::format("keep the {}s in this folder, which all hosts see, whole or not at all", value));
  writes(written, Form::folder, inside(checkpoint_names()));
  command.add_option("--every", checkpoints.every, fmt::format("write a checkpoint every so many {}s", step))
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str()
      ->needs(written);
  reads(command.add_option("--resume", checkpoints.resume,
                           "go on from the checkpoint in this folder, also with another number of processes"),
        inside(checkpoint_names()));
}

runs::CheckpointOptions KernelOptions::checkpoint_options() const {
  auto asked = checkpoints;
  asked.taken_up = [this](std::uint64_t done) {
    if (stdout_is_free())
      write_whole("-", fmt::format("continues after {} {} from the checkpoint in {}\n", checkpoint_step, done,
                                   checkpoints.resume));
  };
  return asked;
}

void KernelOptions::check_outputs() const {
  expect_stdout_for("--top", top.value_or(0) > 0);
  expect_stdout_for("--profile", profile);
  const std::string name = std::filesystem::path(output_path).filename().string();
  if (output_parts && (name.empty() || name == "-" || name == "." || name == ".."))
    throw UsageError("--output-parts needs -o with the name that the parts begin with");
}

void KernelOptions::expect_stdout_for(const char* option, bool given) const {
  if (given && output_path == "-" && json_path.empty())
    throw UsageError(
        fmt::format("{} and -o -: only one of them can have stdout: say --json FILE, or -o FILE", option));
}

runs::Tools KernelOptions::tools() const {
  runs::Tools tools;
  tools.top = top;
  tools.verify = verify;
  tools.bound = bound;
  tools.parts = parts();
  tools.gather = !output_path.empty() && !parts();
  if (profiled()) tools.profile = profile_options(*this);
  return tools;
}

int run_keeping(const KernelOptions& options, const std::function<void(launch::Bootstrap&)>& process) {
  std::optional<OutputFolder> folder;
  if (!options.checkpoints.folder.empty())
    folder.emplace(options.checkpoints.folder, OutputFolder::Parents::are_made);
  return run_job(options.launch, [&](launch::Bootstrap& bootstrap) {
    if (folder) adopt_folder(bootstrap, *folder);
    process(bootstrap);
  });
}

void check_outputs_writable(launch::Bootstrap& bootstrap, const KernelOptions& options,
                            const std::string& output) {
  if (options.parts()) check_part_writable(bootstrap, output);
  if (bootstrap.rank() != 0) return;
  if (!options.parts()) check_writable(output);
  check_writable(options.json_path);
  check_profile_files(options);
}

}  // namespace edgewire::cli
