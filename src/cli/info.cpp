#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/seconds.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/graph_files.h"
#include "cli/job_options.h"
#include "cli/option.h"
#include "edgewire/graph.h"
#include "graph/file/vertex_names.h"
#include "options/jobs.h"
#include "options/kernels.h"
#include "report/json_text.h"
#include "report/progress.h"

namespace edgewire::cli {

namespace {

struct RowCounts {
  std::uint64_t largest_out_degree = 0;
  std::uint64_t self_loops = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t dangling = 0;
  std::uint64_t unsorted_rows = 0;
  std::uint64_t asymmetry = 0;  // is 0 for a symmetric graph
};

RowCounts count_rows(const Graph& file, std::uint64_t first, std::uint64_t last) {
  file.verify_rows(first, last);
  RowCounts counts;
  for (std::uint64_t v = first; v < last; ++v) {
    const std::uint64_t degree = file.offsets()[v + 1] - file.offsets()[v];
    const auto row = file.targets().subspan(file.offsets()[v], degree);
    counts.largest_out_degree = std::max(counts.largest_out_degree, degree);
    if (degree == 0) ++counts.dangling;
    if (!std::is_sorted(row.begin(), row.end())) ++counts.unsorted_rows;
    for (std::uint64_t i = 0; i < degree; ++i) {
      if (row[i] == v) ++counts.self_loops;
      if (i > 0 && row[i] == row[i - 1]) ++counts.duplicates;
      const auto weight = file.weighted() ? file.weights().at(file.offsets()[v] + i) : graph::Weight();
      const VertexId source(static_cast<PlainId>(v));
      counts.asymmetry += edge_hash(source, row[i], weight) - edge_hash(row[i], source, weight);
    }
  }
  return counts;
}

/// Throws Error where the file breaks a promise of its header.
void check_promises(const Graph& file, const RowCounts& counts) {
  const auto refuse = [&](const std::string& what) { throw Error(fmt::format("{}: {}", file.path(), what)); };
  if (counts.unsorted_rows > 0) refuse(fmt::format("{} rows are not sorted by target", counts.unsorted_rows));
  if (file.simple() && counts.self_loops + counts.duplicates > 0) {
    refuse(fmt::format("it says that it is simple but has {} self loops and {} duplicates", counts.self_loops,
                       counts.duplicates));
  }
  if (file.symmetric() && counts.asymmetry != 0) refuse("it says that it is symmetric but is not");
  for (VertexId v(1); v < file.vertices(); ++v) {
    if (file.original_id(v) <= file.original_id(VertexId(v - 1)))
      refuse(fmt::format("original id of vertex {} is not in order", v));
  }
}

RowCounts count_all(const Graph& file, int workers) {
  constexpr std::uint64_t kRows = 1 << 14;
  file.verify_rows(0, 0);
  RowCounts total;
  std::mutex mutex;
  const Progress progress = report::progress_on_stderr();
  parallel_for(workers, (file.vertices() + kRows - 1) / kRows, "counting", progress,
               [&](int, std::uint64_t task) {
                 const RowCounts counts =
                     count_rows(file, task * kRows, std::min(file.vertices(), (task + 1) * kRows));
                 const std::lock_guard lock(mutex);
                 total.largest_out_degree = std::max(total.largest_out_degree, counts.largest_out_degree);
                 total.self_loops += counts.self_loops;
                 total.duplicates += counts.duplicates;
                 total.dangling += counts.dangling;
                 total.unsorted_rows += counts.unsorted_rows;
                 total.asymmetry += counts.asymmetry;
               });
  return total;
}

std::string weights_of(const Graph& file) {
  if (!file.weighted()) return "no";
  return fmt::format(
      "yes, {}{}", graph::name_of(file.weights().type()),
      file.weights_doubtful() ? " (a third column that looks like a time: kernels refuse it)" : "");
}

}  // namespace

void add_info(CLI::App& app) {
  struct InfoSettings {
    std::string path;
    Reading reading;
    std::string json;
    bool verify = false;
    int workers = 0;
  };
  auto settings = std::make_shared<InfoSettings>();
  CLI::App* command = app.add_subcommand("info", "check a graph and say what it holds");
  add_graph_input(*command, settings->path, settings->reading);
  writes(
      add(*command, opt::json, settings->json,
          "write to this file as JSON; - is stdout: path, vertices, edges, weighted, weight_type (f32, f64, "
          "u32 or u64; null without weights), weights_doubtful, simple, symmetric, original_ids, labels, "
          "largest_out_degree, self_loops, duplicates, dangling, file_bytes, seconds; of another format also "
          "seconds_convert"),
      Form::text);
  add(*command, opt::verify, settings->verify,
      "check also that rows and original ids are in order, and that the graph is simple or symmetric where "
      "the file says so");
  add(*command, opt::workers, settings->workers);
  add_quiet_option(*command);
  command->callback([settings] {
    const auto start = Clock::now();
    check_writable(settings->json);
    const OpenGraph opened = open_graph(settings->path, settings->reading);
    const Graph& file = opened.file;
    file.expect_all_rows();
    const RowCounts counts = count_all(file, workers_or_default(settings->workers));
    if (settings->verify) check_promises(file, counts);
    const graph::VertexNames names(file);
    const double seconds = seconds_since(start);
    if (!settings->json.empty()) {
      report::Json json = {
          {"path", file.path()},
          {"vertices", file.vertices()},
          {"edges", file.edges()},
          {"weighted", file.weighted()},
          {"weight_type",
           file.weighted() ? report::Json(graph::name_of(file.weights().type())) : report::Json()},
          {"weights_doubtful", file.weights_doubtful()},
          {"simple", file.simple()},
          {"symmetric", file.symmetric()},
          {"original_ids", file.has_original_ids()},
          {"labels", names.labelled()}};
      EDGEWIRE_ADD_FIELDS(json, counts, largest_out_degree, self_loops, duplicates, dangling);
      json.update({{"file_bytes", file.file_bytes()}, {"seconds", seconds}});
      if (opened.seconds_convert) json["seconds_convert"] = *opened.seconds_convert;
      write_whole(settings->json, report::json_text(json, 2) + "\n");
      if (settings->json == "-") return;
    }
    refuse_changed_files();
    const auto yes = [](bool value) { return value ? "yes" : "no"; };
    show(fmt::format(
        "{}: {}, {}, read in {}\n"
        "  vertices            {}\n"
        "  edges               {}\n"
        "  largest out-degree  {}\n"
        "  dangling vertices   {} (no out-edges)\n"
        "  self loops          {}\n"
        "  duplicate edges     {}\n"
        "  weighted            {}\n"
        "  simple              {}\n"
        "  symmetric           {}\n"
        "  original ids        {}\n"
        "  names               {}\n",
        file.path(), opened.converted ? "as a graph file (.ew)" : "intact", readable_bytes(file.file_bytes()),
        readable_seconds(seconds), file.vertices(), file.edges(), counts.largest_out_degree, counts.dangling,
        counts.self_loops, counts.duplicates, weights_of(file), yes(file.simple()), yes(file.symmetric()),
        yes(file.has_original_ids()),
        !names.labelled()  ? "no"
        : opened.converted ? "yes"
                           : graph::labels_path(file.path())));
  });
}

}  // namespace edgewire::cli
