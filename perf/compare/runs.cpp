#include "perf/compare/runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>

#include "base/error.h"
#include "base/units.h"
#include "launch/local_hosts.h"
#include "launch/program.h"
#include "topology/machine.h"

namespace edgewire::perf {

namespace {

/// Returns the options that compare sets.
std::vector<std::string> own_words(const Cell& cell, const CompareSettings& settings, int iterations) {
  const bool dense = kernels::descriptor_of(settings.kernel).dense;
  std::vector<std::string> words{"/proc/self/exe",
                                 settings.kernel,
                                 settings.graph_path,
                                 fmt::format("--processes={}", cell.processes),
                                 fmt::format("--workers={}", cell.workers),
                                 "--json=-"};
  if (settings.has_iterations()) words.push_back(fmt::format("--iterations={}", iterations));
  if (dense) words.push_back("--layout=" + settings.layout);
  if (cell.processes == 1 || settings.local()) words.push_back("--launcher=none");
  if (cell.processes == 1) return words;
  words.insert(words.end(), {"--transport=" + cell.transport, "--ownership=" + cell.ownership});
  if (dense) words.push_back("--strategy=" + cell.strategy_name());
  if (settings.kernel == "pagerank") words.push_back("--wire=" + settings.encoding);
  if (cell.loopback()) return words;
  if (settings.local()) {
    words.insert(words.end(), {"--local-hosts", "--rate=" + cell.link.rate});
    return words;
  }
  // Others may still be at a run that this host is through with.
  words.insert(words.end(), {"--hosts=" + settings.hosts_path, "--start-timeout=600"});
  if (!settings.rank.empty()) words.push_back("--rank=" + settings.rank);
  if (!settings.secret_path.empty()) words.push_back("--secret-file=" + settings.secret_path);
  if (!settings.port.empty()) words.push_back("--port=" + settings.port);
  if (!cell.link.interface.empty()) words.push_back("--interface=" + cell.link.interface);
  return words;
}

}  // namespace

std::vector<std::string> run_words(const Cell& cell, const CompareSettings& settings, int iterations) {
  auto words = own_words(cell, settings, iterations);
  // These words come last, so that an option without its value takes none of ours.
  words.insert(words.end(), settings.kernel_options.begin(), settings.kernel_options.end());
  return words;
}

CompareRuns::CompareRuns(const CompareSettings& settings, const Matrix& matrix, const Graph& graph)
    : settings_(settings),
      graph_(graph),
      cells_(cells_of(matrix)),
      runs_(cells_.size()),
      iterations_(cells_.size(), settings.iterations) {
  if (std::ranges::find(matrix.processes, 1) == matrix.processes.end())
    note(kernels::descriptor_of(settings.kernel).dense && !matrix.loopback
             ? "one process was added: predictions take the compute rate from it"
             : "one process was added: it is what several are compared with");
  if (matrix.loopback)
    note(
        "over tcp each strategy was also run without a link: predictions take the time of computing from it");
  if (const auto line = left_out(matrix); !line.empty()) note(line);
}

bool CompareRuns::run() {
  bool reports = true;
  for (int round = 0; round < settings_.repeat; ++round)
    for (std::size_t c = 0; c < cells_.size(); ++c) reports = run_cell(round, c) && reports;
  return reports;
}

Comparison CompareRuns::result() {
  Comparison comparison;
  comparison.kernel = settings_.kernel;
  comparison.kernel_options = settings_.kernel_options;
  comparison.graph = settings_.graph;
  comparison.vertices = graph_.vertices();
  comparison.edges = graph_.edges();
  comparison.cores = topology::usable_cores(topology::discover());
  comparison.local_hosts = settings_.local();
  comparison.iterations = settings_.has_iterations() ? settings_.iterations : 0;
  comparison.rows = aggregate(cells_, runs_);
  if (comparison.local_hosts) explain_local_hosts(comparison.cores);
  comparison.notes = notes_;
  if (comparison.dense())
    add_predictions(comparison, {graph_.offsets(), graph_.targets()},
                    plan::encoding_from(runs_.back().front().encoding));
  else
    add_frontier_bounds(comparison, graph_, runs_.back().front().source);
  comparison.lost = watch_.lost();
  return comparison;
}

bool CompareRuns::run_cell(int round, std::size_t c) {
  const Cell& cell = cells_[c];
  const std::string turn = fmt::format("compare: round {} of {}, {} of {}: {}", round + 1, settings_.repeat,
                                       c + 1, cells_.size(), cell.name());
  const std::string output = run_once(c);
  if (output.empty()) {
    if (!is_quiet()) say(turn + "\n");
    return false;
  }
  RunFigures run = figures_from(output);
  if (settings_.local() && cell.processes > 1 && !cell.loopback()) {
    const int needed =
        iterations_needed(run, cell.link.bits_per_s, launch::burst_bytes(cell.link.bits_per_s));
    if (needed > 0) {
      note(
          fmt::format("{}: {} iterations a run instead of {}: in fewer it would count what an idle link "
                      "passes at once",
                      cell.name(), needed, run.iterations));
      iterations_[c] = needed;
      run = figures_from(run_once(c));
    }
  }
  if (!is_quiet())
    say(fmt::format("{}: {}{}\n", turn, readable_seconds(run.seconds),
                    kernels::descriptor_of(settings_.kernel).dense ? " an iteration" : ""));
  runs_[c].push_back(std::move(run));
  return true;
}

/// Runs a cell once and returns what it printed. Passes on how it failed, and keeps what it had to say.
std::string CompareRuns::run_once(std::size_t c) {
  watch_.begin();
  const auto end = launch::run_program(run_words(cells_[c], settings_, iterations_[c]));
  watch_.end();
  const std::string said = in_users_words(end.diagnostics);
  if (end.status != 0) {
    say(said);
    if (end.status <= 128) say_failure(fmt::format("compare: the run {} failed", cells_[c].name()));
    if (end.status == 128 + SIGKILL)
      say_failure(
          fmt::format("compare: the run {} was killed: perhaps the kernel ran out of memory (dmesg "
                      "says so)",
                      cells_[c].name()));
    throw RunFailed{end.status};
  }
  for (std::size_t first = 0; first < said.size();) {
    const std::size_t last = std::min(said.find('\n', first), said.size());
    const std::string line = said.substr(first, last - first);
    note(line.starts_with("edgewire: ") ? line.substr(10) : line);
    first = last + 1;
  }
  return end.output;
}

void CompareRuns::explain_local_hosts(int cores) {
  int most = 0;
  for (const auto& cell : cells_) most = std::max(most, cell.processes * cell.workers);
  note(fmt::format(
      "the hosts are network namespaces of this machine and share its {} core{}, its memory and its "
      "caches; what a network card would do for TCP, their cores do{}",
      cores, cores == 1 ? "" : "s",
      most > cores ? fmt::format("; with up to {} workers they compute in turns", most) : ""));
  if (kernels::descriptor_of(settings_.kernel).dense) return;
  note(
      "a shaped link that was idle passes what it carries in 1.6 ms at once, in each superstep: a run that "
      "sends little in each shows less of the rate than a network card would");
}

/// Returns the text with the user's name for the graph: runs call a graph that was converted by another
/// name.
std::string CompareRuns::in_users_words(std::string text) const {
  const std::string& alias = settings_.graph_path;
  for (std::size_t at = text.find(alias); at != text.npos; at = text.find(alias, at + settings_.graph.size()))
    text.replace(at, alias.size(), settings_.graph);
  return text;
}

void CompareRuns::note(const std::string& text) {
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(text);
}

}  // namespace edgewire::perf
