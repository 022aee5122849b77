// This file says what `convert` was asked for, and what it does then.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/seconds.h"
#include "cli/common.h"
#include "cli/graph_files.h"
#include "cli/job_options.h"
#include "graph/convert.h"
#include "graph/formats.h"

namespace edgewire::cli {

struct ConvertSettings {
  std::string input;  ///< the first of inputs
  std::vector<std::string> inputs;
  GraphOutput output;
  Reading how;
  std::string to = "auto";
  bool no_weights = false;
  std::string vertices;
  bool keep_ids = false;
  bool allow_empty = false;
  JobOptions job;
  std::string temp;
  std::uint64_t memory = 0;  ///< 0: as much as it takes
  bool parts = false;        ///< the output is a folder

  bool in_parts() const {
    return memory > 0 || job.launch.processes > 1 || !job.launch.hosts_file.empty() || parts;
  }
  graph::ConvertOptions reading(graph::Format input_format) const {
    return {input_format, !no_weights, output.simple, output.undirected, output.workers,
            vertices,     how.labels,  how.columns,   keep_ids,          {inputs.begin() + 1, inputs.end()},
            allow_empty,  note,        nullptr};
  }
};

/// Converts in memory, in this process. Throws Error.
void load_in_memory(const ConvertSettings& settings, graph::Format input_format, Clock::time_point start);
/// Converts in processes of bounded memory. Throws Error, and CLI::RuntimeError with the job's exit status.
void load_in_parts(const ConvertSettings& settings, graph::Format input_format, Clock::time_point start);

}  // namespace edgewire::cli
