#include "bounds/load_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "base/error.h"
#include "base/output_file.h"
#include "base/units.h"
#include "base/usage.h"
#include "dense/plan/volume.h"
#include "disk/read_probe.h"
#include "graph/convert.h"
#include "graph/file/format.h"
#include "graph/read/first_lines.h"
#include "graph/read/webgraph_rows.h"
#include "graph/read/weight_text.h"
#include "launch/bootstrap.h"
#include "options/measures.h"
#include "report/json_text.h"
#include "report/table.h"
#include "shuffle/load_job.h"
#include "shuffle/sort_job.h"

namespace edgewire::bounds {

namespace {

using graph::Format;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// Adds a file's size to the task, its edges where `counts`, and sets whether they have weights. It reads
/// lines from all over the file.
void look_at(const std::string& path, bool counts, LoadTask& task) {
  graph::Input input(path);
  const Format format = graph::choose_format(input, Format::automatic, false, false);
  if (input.file_bytes() == 0)
    throw Error(fmt::format("{}: {} needs a file that is not empty", path, opt::load));
  const bool pairs = format == Format::u32_pairs, list = format == Format::snap || format == Format::csv;
  task.input_bytes += input.file_bytes();
  task.format = pairs ? format : list ? Format::snap : Format::el;
  if (counts && format == Format::webgraph) {
    task.edges += graph::read_webgraph_properties(path).edges;
    return;
  }
  const std::size_t weight = format == Format::dimacs ? 3 : 2;  // the field that holds it
  double lines = pairs ? 1 : 0, bytes = pairs ? 8 : 0;
  graph::Line fields;
  graph::WeightList weights;
  const auto add_lines = [&](const graph::Piece& piece) {
    graph::WeightReader reader(input, piece, nullptr);
    bytes += double(piece.text.size());
    std::string_view text = piece.text, line;
    for (; !text.empty(); text.remove_prefix(line.size() + 1)) {  // whole lines
      line = text.substr(0, text.find('\n'));
      if (line.empty() || line.find_first_of("#%/") == 0) continue;
      ++lines;
      graph::split_fields(line, graph::separator_of(line), fields);
      if (fields.size() <= weight) continue;
      try {
        weights.add(reader.read(fields[weight]));
      } catch (const Error&) {  // a header; or whoever converts the file meets it again
      }
    }
  };
  if (graph::name_of(format).text && format != Format::metis && !input.streamed()) input.sample(0, add_lines);
  task.weighted = task.weighted || fields.size() > weight;
  task.weights.add(weights.view());
  if (counts && lines == 0)
    throw UsageError(fmt::format("{}: give the number of edges ({})", path, opt::load_edges));
  if (counts) task.edges += static_cast<std::uint64_t>(double(input.file_bytes()) * lines / bytes);
}

/// Returns random edges in the format of the task, or its first records; random ones where it has no input.
fmt::memory_buffer sample_of(const LoadTask& task) {
  std::mt19937 random(1);
  fmt::memory_buffer sample;
  while (sample.size() < 64 * kMiB) {
    const std::uint32_t ends[] = {std::uint32_t(random()) >> 14, std::uint32_t(random()) >> 14};
    if (task.sorts || task.format == Format::u32_pairs)
      sample.append(std::string_view(reinterpret_cast<const char*>(ends), sizeof ends));
    else
      fmt::format_to(fmt::appender(sample), "{} {}{}\n", ends[0], ends[1], task.weighted ? " 1" : "");
  }
  if (!task.sorts) return sample;
  const shuffle::RecordInput input(task.inputs, task.shape.bytes);
  const std::uint64_t records = sample.size() / task.shape.bytes;
  sample.resize(records * task.shape.bytes);
  input.read(0, std::min(records, input.records()), reinterpret_cast<std::byte*>(sample.data()));
  return sample;
}

/// Sets the rate of a core, which sorts or converts a sample with so much memory.
void measure_core(LoadTask& task, std::uint64_t memory, const std::string& folder) {
  const auto file = OutputFile::nameless(folder);
  const auto sample = sample_of(task);
  file->write(sample.data(), sample.size(), 0);
  const std::string path = file->path_for_others();
  const auto bootstrap = launch::alone();
  const double before = process_cpu_seconds();
  double sending_s = 0, bytes = double(sample.size());
  const auto step_done = [&](std::string_view step) {
    if (step == shuffle::kDistribute) sending_s = process_cpu_seconds() - before;
  };
  if (task.sorts) {
    const std::string output = name_aside(folder + "/sorted");  // folder that goes with the job
    shuffle::SortJob(*bootstrap, {{}, {path}, output, folder, task.shape, 1, memory, {}, step_done}).run();
  } else {
    shuffle::LoadJob job(*bootstrap, {{}, "", false, folder, memory, {}, step_done});
    graph::convert_to(job, path, "", {.format = task.format, .undirected = task.undirected, .workers = 1});
    bytes = double(job.edges_read()) * double(task.input_bytes) / double(task.edges);
  }
  const double all_s = process_cpu_seconds() - before;
  task.core_bytes_per_second = bytes / all_s;
  task.core_share_sending = sending_s / all_s;
}

shuffle::SpillPlan spill_plan(const LoadTask& task, int processes, std::uint32_t lanes) {
  const auto& [workers, memory] = std::pair(task.options.workers, task.options.memory_bytes);
  const std::uint32_t partitions = task.partitions > 0 ? task.partitions : lanes;
  const auto needs = task.sorts
                         ? shuffle::sort_needs(task.shape, workers, processes, partitions, task.records)
                         : shuffle::load_needs(task.shape, workers, processes, memory, true);
  return shuffle::plan_spill(shuffle::plan_memory(needs, memory), workers, task.records / lanes);
}

/// Returns the bytes in which processes tell each other the ids of their inputs, 32 ids in a record.
std::uint64_t id_bytes(const LoadTask& task, std::uint64_t processes) {
  if (!task.parts || task.format != Format::snap || task.vertices == 0) return 0;
  const double words = std::ceil(double(task.vertices) / 32);
  const double ends = 2 * double(task.edges) / double(processes);
  const auto met = static_cast<std::uint64_t>(words * -std::expm1(-ends / words));
  return met * task.shape.stride() * processes * (processes - 1);
}

/// Adds a phase to the seconds that the load waits for each resource. It waits for the slowest one.
void add_phase(std::map<Limit, double>& waits, double cores_s, double wire_s, double disk_s) {
  const double longest = std::max({cores_s, wire_s, disk_s});
  waits[disk_s == longest ? Limit::disk : wire_s == longest ? Limit::wire : Limit::cores] += longest;
}

}  // namespace

void complete(LoadTask& task) {
  if (task.sorts) {
    const std::size_t bytes = task.shape.bytes;
    task.shape.key_bytes = std::min<std::size_t>(8, bytes);
    if (!task.inputs.empty()) task.input_bytes = shuffle::RecordInput(task.inputs, bytes).bytes();
    task.records = task.input_bytes / bytes;
    task.input_bytes = task.output_bytes = task.records * bytes;
    if (task.records == 0) throw UsageError(fmt::format("{}: the input holds no record", opt::load("sort")));
    return;
  }
  for (const bool counts = task.edges == 0; const auto& input : task.inputs) look_at(input, counts, task);
  if (task.edges == 0)
    throw UsageError(fmt::format("{}: give the number of edges ({})", opt::load("convert"), opt::load_edges));
  if (task.weighted && task.format == Format::el) task.format = Format::wel;
  task.records = task.edges * (task.undirected ? 2 : 1);
  task.shape = shuffle::edge_record(task.weighted);
  const std::uint32_t flags =
      task.weighted ? graph::weight_flags(task.weights.any ? task.weights.type() : graph::WeightType::f32)
                    : 0;
  task.output_bytes = graph::file_bytes(graph::lay_out(task.vertices, task.records, flags));
}

void measure(LoadTask& task, const std::string& folder) {
  const bool spills = load_bound(task, task.options.processes.front()).runs > 0;  // at any rate
  double &read = task.disk_read_bytes_per_second, &write = task.disk_write_bytes_per_second;
  if (read == 0 || write == 0) {
    disk::ReadProbe probe({folder}, 256 * kMiB);
    if (write == 0) write = probe.write_again();
    if (read == 0) read = probe.measure({kMiB, 4, false}, 0.5).bytes_per_s();
  }
  const std::uint64_t memory = (!spills ? 1024 : task.sorts ? 24 : 80) * kMiB;  // little memory makes runs
  if (task.core_bytes_per_second == 0) measure_core(task, memory, folder);
}

LoadBound load_bound(const LoadTask& task, int processes) {
  LoadBound bound{.processes = processes, .machines = task.sorts || task.parts ? processes : 1};
  const auto count = std::uint32_t(processes), machines = std::uint32_t(bound.machines);
  const std::uint32_t lanes = count * std::uint32_t(task.options.workers);
  const auto spill = spill_plan(task, processes, lanes);
  // Each record is written to a run once. Records that are merged to longer runs are written again.
  const std::uint64_t first = spill.runs > 0 ? task.records * task.shape.bytes : 0;
  const std::uint64_t again = spill.records_again * lanes * task.shape.bytes;
  bound.runs = spill.runs * lanes;
  bound.bytes_spilled = first + again;
  bound.bytes_sent = task.records / count * (count - 1) * task.shape.stride();
  bound.id_bytes_sent = id_bytes(task, count);
  const auto on_wire = [&](std::uint64_t bytes) {
    return machines > 1 ? plan::wire_bytes(plan::kFramings[task.options.framing], bytes / machines) : 0;
  };
  bound.disk_bytes_read = (task.input_bytes + bound.bytes_spilled) / machines;
  bound.disk_bytes_written = (task.output_bytes + bound.bytes_spilled) / machines;
  bound.wire_bytes = on_wire(bound.bytes_sent) + on_wire(bound.id_bytes_sent);
  const auto read_s = [&](double bytes) { return bytes / task.disk_read_bytes_per_second / machines; };
  const auto write_s = [&](double bytes) { return bytes / task.disk_write_bytes_per_second / machines; };
  const double share = std::min<double>(task.largest_share, machines);
  const double cores_s = double(task.input_bytes) / (task.core_bytes_per_second * task.cores * processes);
  const double parse_s = cores_s * task.core_share_sending / 2, sort_s = parse_s * share;
  const double merge_s = cores_s * (1 - task.core_share_sending) * share;
  for (const auto& line : task.options.rates) {
    const auto wire_s = [&](std::uint64_t bytes) { return plan::seconds_at(on_wire(bytes), line.second); };
    std::map<Limit, double> waits;
    add_phase(waits, parse_s + (first > 0 ? sort_s : 0), wire_s(bound.bytes_sent) * share,
              read_s(double(task.input_bytes)) + write_s(double(first)) * share);
    if (first == 0) add_phase(waits, sort_s, 0, 0);  // sorts when all have come
    add_phase(waits, 0, wire_s(bound.id_bytes_sent), 0);
    add_phase(waits, 0, 0, (read_s(double(again)) + write_s(double(again))) * share);
    add_phase(waits, merge_s, 0, (read_s(double(first)) + write_s(double(task.output_bytes))) * share);
    double seconds = 0;
    for (const auto& [resource, waited] : waits) seconds += waited;
    const auto longest = std::ranges::max_element(waits, {}, &std::pair<const Limit, double>::second);
    bound.at.push_back({line.first, seconds, to_name(longest->first)});
  }
  return bound;
}

std::string to_text(const LoadTask& task) {
  report::Table table{{"processes", "runs", "read", "written", "on wire"}, ""};
  for (const auto& [name, bits] : task.options.rates) table.header.push_back(name);
  for (const int processes : task.options.processes) {
    const LoadBound bound = load_bound(task, processes);
    auto& line = table.rows.emplace_back(std::vector{
        std::to_string(processes), std::to_string(bound.runs), readable_bytes(bound.disk_bytes_read),
        readable_bytes(bound.disk_bytes_written), readable_bytes(bound.wire_bytes)});
    for (const auto& [rate, seconds, limit] : bound.at)
      line.push_back(fmt::format("{} {}", readable_seconds(seconds), limit));
  }
  const auto rate = [](double bytes) { return readable_bytes(static_cast<std::uint64_t>(bytes)); };
  return fmt::format(
      "{} of input, {} records of {} bytes, {} of output\n"
      "disk: reads {}/s, writes {}/s; a core: {} of input a second\n\n{}\n"
      "Bytes are those of a machine. The last columns give the load's time and what limits it.\n",
      readable_bytes(task.input_bytes), task.records, task.shape.bytes, readable_bytes(task.output_bytes),
      rate(task.disk_read_bytes_per_second), rate(task.disk_write_bytes_per_second),
      rate(task.core_bytes_per_second), to_text(table));
}

EDGEWIRE_JSON_OF(LoadBound::Time, rate, seconds, limited_by)
EDGEWIRE_JSON_OF(LoadBound, processes, machines, runs, bytes_spilled, bytes_sent, id_bytes_sent,
                 disk_bytes_read, disk_bytes_written, wire_bytes, at)

std::string to_json(const LoadTask& task) {
  report::Json json{{"version", EDGEWIRE_VERSION}, {"load", task.sorts ? "sort" : "convert"}};
  json.update({{"record_bytes", task.shape.bytes}, {"framing", plan::kFramings[task.options.framing].name}});
  EDGEWIRE_ADD_FIELDS(json, task, parts, input_bytes, records, output_bytes, largest_share,
                      disk_read_bytes_per_second, disk_write_bytes_per_second, core_bytes_per_second,
                      core_share_sending, cores);
  EDGEWIRE_ADD_FIELDS(json, task.options, memory_bytes, workers);
  for (const int processes : task.options.processes) json["rows"].push_back(load_bound(task, processes));
  return report::json_text(json, 1) + "\n";
}

}  // namespace edgewire::bounds
