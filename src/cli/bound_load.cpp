#include "cli/bound_load.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <initializer_list>

#include "base/error.h"
#include "bounds/load_bound.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/job_options.h"
#include "cli/option.h"
#include "graph/file/format.h"
#include "graph/file/weights.h"
#include "graph/read/formats.h"
#include "graph/read/input.h"
#include "graph/read/webgraph_rows.h"
#include "graph/read/weight_text.h"
#include "options/files.h"
#include "options/measures.h"
#include "shuffle/load_job.h"
#include "shuffle/record_input.h"

namespace edgewire::cli {

namespace {

using graph::Format;

/// Returns the bytes a second that the text says; 0 where none is given.
double bytes_a_second(const std::string& text, const char* option) {
  if (text.empty()) return 0;
  return above_zero(
      with_unit(text, {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}}, option, "500M or 1G"), text,
      option);
}

/// The lines of an edge list, from places all over the file.
struct LineSample {
  std::uint64_t bytes = 0, lines = 0;
  std::size_t fields = 0;  ///< fields of the last line
  graph::WeightList weights;
  std::vector<std::vector<std::uint64_t>> places;  ///< sources, where ids are numbers
  bool both_ways = false;                          ///< targets are sources, too

  /// Adds the lines of a piece. The weight of a line is its field `weight`, counted from 0; source and
  /// target stand before it.
  void add(const graph::Input& input, const graph::Piece& piece, std::size_t weight) {
    graph::WeightReader reader(input, piece, nullptr);
    places.emplace_back();
    std::string_view text = piece.text;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size() - 1);
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end + 1);
      if (line.empty() || line[0] == '#' || line[0] == '%' || line[0] == '/') continue;
      bytes += line.size() + 1;
      ++lines;
      fields = 0;
      for (std::size_t at = 0; at < line.size(); ++fields) {
        at = std::min(line.find_first_not_of(" \t,;|\r", at), line.size());
        if (at == line.size()) break;
        const std::size_t begin = at;
        at = std::min(line.find_first_of(" \t,;|\r", at), line.size());
        const std::string_view field = line.substr(begin, at - begin);
        if (fields + 2 == weight || (both_ways && fields + 1 == weight)) add_source(field);
        if (fields == weight) add_weight(reader, field);
      }
    }
  }

 private:
  void add_source(std::string_view field) {
    std::uint64_t id = 0;
    if (std::from_chars(field.data(), field.data() + field.size(), id).ec == std::errc())
      places.back().push_back(id);
  }
  void add_weight(graph::WeightReader& reader, std::string_view field) {
    try {
      weights.add(reader.read(field));
    } catch (const Error&) {  // a header, or whoever converts the file meets it again
    }
  }
};

void sample_pairs(graph::Input& input, bounds::LoadTask& task) {
  constexpr std::size_t kPair = 8;
  input.sample(kPair, [&](const graph::Piece& piece) {
    auto& sources = task.places.emplace_back();
    for (std::size_t at = 0; at + kPair <= piece.text.size(); at += task.both_ways ? kPair / 2 : kPair) {
      std::uint32_t id = 0;
      std::memcpy(&id, piece.text.data() + at, sizeof id);
      sources.push_back(id);
    }
  });
}

/// Finds the edges, where `count` asks for them, and the weights, as far as the file tells without being
/// read.
void look_at(const std::string& path, bool count, bounds::LoadTask& task, graph::WeightFacts& weights) {
  graph::Input input(path);
  const Format format = graph::choose_format(input, Format::automatic, false, false);
  if (input.file_bytes() == 0) throw Error(fmt::format("{}: --load takes files, whose size is known", path));
  task.input_bytes += input.file_bytes();
  task.binary = format == Format::u32_pairs;
  task.renumbers = format == Format::snap || format == Format::csv;
  if (count && format == Format::webgraph) {
    task.edges += graph::read_webgraph_properties(path).edges;
    return;
  }
  const bool list = format == Format::snap || format == Format::csv || format == Format::el ||
                    format == Format::wel || format == Format::matrix_market || format == Format::dimacs;
  if (count && (input.streamed() || !(list || task.binary)))
    throw UsageError(
        fmt::format("{}: say how many edges it holds (--edges): that shows only when it is read", path));
  if (task.binary && count) task.edges += input.file_bytes() / 8;
  if (task.binary) sample_pairs(input, task);
  if (!list) return;
  LineSample sample;
  sample.both_ways = task.both_ways;
  const std::size_t weight = format == Format::dimacs ? 3 : 2;
  input.sample(0, [&](const graph::Piece& piece) { sample.add(input, piece, weight); });
  task.places.insert(task.places.end(), sample.places.begin(), sample.places.end());
  weights.add(sample.weights.view());
  weights.any = weights.any || sample.fields > weight;
  if (!count) return;
  if (sample.lines == 0) throw Error(fmt::format("{}: no edges where it was sampled", path));
  const double part = static_cast<double>(sample.bytes) / static_cast<double>(input.file_bytes());
  task.edges += static_cast<std::uint64_t>(static_cast<double>(sample.lines) / part);
}

void describe_sort(const LoadArguments& arguments, const std::vector<std::string>& inputs,
                   bounds::LoadTask& task) {
  task.sorts = true;
  task.inputs = inputs;
  task.shape = {arguments.record, 0, std::min<std::size_t>(8, arguments.record)};
  task.records = inputs.empty() ? arguments.bytes / arguments.record
                                : shuffle::RecordInput(inputs, arguments.record).records();
  task.input_bytes = task.output_bytes = task.records * arguments.record;
  task.partitions = arguments.partitions;
  if (task.records == 0) throw UsageError("--load sort: the input holds no record");
}

void describe_convert(const LoadArguments& arguments, const std::vector<std::string>& inputs,
                      bounds::LoadTask& task) {
  task.sorts = false;
  task.parts = arguments.parts;
  task.both_ways = arguments.undirected;
  graph::WeightFacts weights;
  weights.any = arguments.weighted;
  for (const std::string& input : inputs) look_at(input, arguments.edges.empty(), task, weights);
  if (inputs.empty()) {
    task.input_bytes = arguments.bytes;
    if (arguments.edges.empty())
      throw UsageError("--load convert --bytes: say how many edges these are (--edges)");
  }
  if (!arguments.edges.empty()) task.edges = count_from(arguments.edges, "--edges");
  if (task.edges == 0) throw UsageError("--load convert: the input holds no edge");
  task.records = task.edges * (arguments.undirected ? 2 : 1);
  task.shape = shuffle::edge_record(weights.any);
  task.vertices = arguments.vertices.empty() ? 0 : count_from(arguments.vertices, "--vertices");
  if (task.vertices > graph::kMaxVertices)
    throw UsageError(fmt::format("--vertices: {} are more than the {} that are supported{}", task.vertices,
                                 graph::kMaxVertices, graph::kMoreVertices));
  task.output_bytes = graph::file_bytes(
      graph::lay_out(task.vertices, task.records, weights.any ? graph::weight_flags(weights.type()) : 0U));
}

bounds::LoadRates rates_of(const LoadArguments& arguments, const bounds::BoundOptions& options, int cores,
                           const bounds::LoadTask& task) {
  bounds::LoadRates rates;
  rates.cores = cores;
  rates.framing = options.framing;
  rates.lines = options.rates;
  rates.disk_read_bytes_per_s = bytes_a_second(arguments.disk_read_rate, "--disk-read-rate");
  rates.disk_write_bytes_per_s = bytes_a_second(arguments.disk_write_rate, "--disk-write-rate");
  rates.core_bytes_per_s = bytes_a_second(arguments.core_rate, "--core-rate");
  if (rates.disk_read_bytes_per_s == 0 || rates.disk_write_bytes_per_s == 0) {
    const auto measured = bounds::measure_disk(arguments.temp);
    if (rates.disk_read_bytes_per_s == 0) rates.disk_read_bytes_per_s = measured.read_bytes_per_s;
    if (rates.disk_write_bytes_per_s == 0) rates.disk_write_bytes_per_s = measured.write_bytes_per_s;
  }
  if (rates.core_bytes_per_s == 0) {
    rates.core_bytes_per_s = 1;  // what is spilled does not depend on it
    const bool spills = bounds::load_bound(task, rates, options.processes.front()).runs > 0;
    const auto core = bounds::measure_core(task, spills, arguments.temp);
    rates.core_bytes_per_s = core.bytes_per_s;
    rates.core_share_sending = core.share_sending;
  }
  return rates;
}

constexpr std::initializer_list<const char*> kOnlyLoad = {
    "--bytes",           "--edges",      "--vertices",     "--weighted",  "--undirected",
    "--record",          "--partitions", "--temp",         "--core-rate", "--disk-read-rate",
    "--disk-write-rate", "--parts",      "--largest-share"};
constexpr std::initializer_list<const char*> kNotOfLoad = {
    "--kernel",   "--source",  "--iterations",        "--ownership",
    "--strategy", "--threads", "--as-published-2015", "--compute-rate",
    "--latency",  "--csv",     "--memory-rate",       "--format",
    "--labels",   "--columns"};
constexpr std::initializer_list<const char*> kOnlySort = {"--record", "--partitions"};
constexpr std::initializer_list<const char*> kOnlyMachines = {"--rate", "--framing", "--largest-share"};
constexpr std::initializer_list<const char*> kOnlyConvert = {"--edges", "--vertices", "--weighted",
                                                             "--undirected", "--parts"};

}  // namespace

std::uint64_t count_from(const std::string& text, const char* option) {
  const double number =
      with_unit(text, {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}}, option, "1000000 or 60G");
  if (number > static_cast<double>(graph::kMaxEdges))
    throw UsageError(
        fmt::format("{}: '{}' is more than the {} that are supported", option, text, graph::kMaxEdges));
  return static_cast<std::uint64_t>(number);
}

void LoadArguments::add_to(CLI::App& command) {
  command.option_defaults()->group("Loads");
  add(command, opt::load, load);
  add(command, opt::load_bytes, bytes);
  add(command, opt::load_edges, edges);
  add(command, opt::load_vertices, vertices);
  add(command, opt::load_weighted, weighted);
  add(command, opt::load_undirected, undirected);
  add(command, opt::load_parts, parts);
  add(command, opt::largest_share, largest_share);
  add(command, opt::record, record, "sort: bytes of a record");
  add(command, opt::partitions, partitions, "sort: parts; by default one for each worker");
  add(command, opt::disk_read_rate, disk_read_rate);
  add(command, opt::disk_write_rate, disk_write_rate);
  add(command, opt::core_rate, core_rate);
  writes(add(command, opt::temp, temp, "folder whose disk is measured"), Form::folder, no_names);
}

void LoadArguments::check(const CLI::App& command) const {
  const auto refuse = [&](std::initializer_list<const char*> options, const std::string& why) {
    for (const char* const option : options)
      if (command.count(option) > 0) throw UsageError(fmt::format("{} {}", option, why));
  };
  if (load.empty()) return refuse(kOnlyLoad, "needs --load");
  refuse(kNotOfLoad, "is not of --load");
  if (load == "sort") return refuse(kOnlyConvert, "is of --load convert");
  refuse(kOnlySort, "is of --load sort");
  if (!parts)
    refuse(kOnlyMachines, "is of loads with a machine for each process: --load sort, or convert --parts");
}

void run_load_bound(const LoadArguments& arguments, const std::vector<std::string>& inputs,
                    const bounds::BoundOptions& options, int cores, const std::string& json_path) {
  if (inputs.empty() == (arguments.bytes == 0))
    throw UsageError("--load: name input files, or say how many bytes they have (--bytes)");
  check_writable(json_path);
  bounds::LoadTask task;
  task.workers = options.workers;
  task.memory_bytes = options.memory_bytes;
  task.largest_share = arguments.largest_share;
  if (arguments.load == "sort")
    describe_sort(arguments, inputs, task);
  else
    describe_convert(arguments, inputs, task);
  const auto rates = rates_of(arguments, options, cores, task);
  std::vector<bounds::LoadBound> bounds;
  for (const int processes : options.processes) bounds.push_back(bounds::load_bound(task, rates, processes));
  if (!json_path.empty()) write_whole(json_path, bounds::to_json(bounds, task, rates));
  if (json_path != "-") show(bounds::to_text(bounds, task, rates));
}

}  // namespace edgewire::cli
