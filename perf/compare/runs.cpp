#include "perf/compare/runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "launch/local_hosts.h"
#include "launch/packing.h"
#include "launch/program.h"
#include "topology/machine.h"
#include "topology/shell.h"

namespace edgewire::perf {

namespace {

/// Returns figures as the message of a process.
std::string pack(const RunFigures& run) {
  return launch::pack(std::vector<RunNumbers>{run}) + run.ownership + '\0' + run.source;
}
RunFigures unpack(const std::string& message) {
  const std::size_t end = message.find('\0', sizeof(RunNumbers));
  if (end == message.npos) throw Error(fmt::format("a run sent {} bytes and no figures", message.size()));
  return {launch::unpack<RunNumbers>(message.substr(0, sizeof(RunNumbers)), 0)[0],
          message.substr(sizeof(RunNumbers), end - sizeof(RunNumbers)), message.substr(end + 1)};
}

}  // namespace

CompareRuns::CompareRuns(const CompareSettings& settings, const Matrix& matrix, const Graph& graph,
                         RunCell run_cell)
    : settings_(settings),
      graph_(graph),
      run_cell_(std::move(run_cell)),
      cells_(cells_of(matrix)),
      runs_(cells_.size()),
      iterations_(cells_.size(), settings.iterations) {
  if (std::ranges::find(matrix.processes, 1) == matrix.processes.end())
    note(settings.dense() && !matrix.loopback
             ? "one process was added: predictions take the compute rate from it"
             : "one process was added: it is what several are compared with");
  if (matrix.loopback)
    note(
        "over tcp each strategy was also run without a link: predictions take the time of computing from it");
  if (const auto line = left_out(matrix); !line.empty()) note(line);
}

bool CompareRuns::run(int repeat) {
  bool reports = true;
  for (int round = 0; round < repeat; ++round)
    for (std::size_t c = 0; c < cells_.size(); ++c)
      reports = run_cell(fmt::format("compare: round {} of {}, {} of {}: {}", round + 1, repeat, c + 1,
                                     cells_.size(), cells_[c].name()),
                         c) &&
                reports;
  return reports;
}

Comparison CompareRuns::result() {
  Comparison comparison{settings_};
  comparison.vertices = graph_.vertices();
  comparison.edges = graph_.edges();
  comparison.cores = topology::usable_cores(topology::discover());
  comparison.rows = aggregate(cells_, runs_);
  if (comparison.local_hosts) explain_local_hosts(comparison.cores);
  comparison.notes = notes_;
  if (comparison.dense())
    add_predictions(comparison, {graph_.offsets(), graph_.targets()}, runs_.back().front().encoding);
  else
    add_frontier_bounds(comparison, graph_, runs_.back().front().source);
  comparison.lost = watch_.lost();
  return comparison;
}

bool CompareRuns::run_cell(const std::string& turn, std::size_t c) {
  const Cell& cell = cells_[c];
  auto run = run_once(c);
  const std::uint64_t burst = launch::burst_bytes(cell.link.bits_per_s);
  if (run && settings_.local_hosts && cell.processes > 1 && !cell.loopback())
    if (const int needed = iterations_needed(*run, cell.link.bits_per_s, burst); needed > 0) {
      note(
          fmt::format("{}: {} iterations a run instead of {}: in fewer it would count what an idle link "
                      "passes at once",
                      cell.name(), needed, run->iterations));
      iterations_[c] = needed;
      run = run_once(c);
    }
  const auto time = [&] {
    return readable_seconds(run->seconds) + (settings_.dense() ? " an iteration" : "");
  };
  if (!is_quiet()) say(turn + (run ? ": " + time() : "") + "\n");
  if (run) runs_[c].push_back(*run);
  return run.has_value();
}

/// Runs a cell once and returns its figures, unless another rank has them. Passes on how it failed, and keeps
/// what it had to say.
std::optional<RunFigures> CompareRuns::run_once(std::size_t c) {
  const std::string name = fmt::format("the run {}", cells_[c].name());
  watch_.begin();
  const auto end = launch::run_in_child(name, [&] {
    return run_cell_(cells_[c], iterations_[c], [](const report::RunReport& report) {
      topology::write_stdout(pack(figures_from(report)));
    });
  });
  watch_.end();
  std::istringstream said(end.diagnostics);
  if (end.status != 0) {
    say(end.diagnostics);
    const int number = end.status - 128;  // of a signal, if above 0
    say_failure(
        fmt::format("compare: {} {}", name,
                    number == SIGKILL ? "was killed: perhaps the kernel ran out of memory (dmesg says so)"
                    : number > 0      ? fmt::format("was ended by signal {} ({})", number, strsignal(number))
                                      : "failed"));
    throw RunFailed{end.status};
  }
  for (std::string line; std::getline(said, line);)
    note(line.starts_with("edgewire: ") ? line.substr(10) : line);
  if (end.output.empty()) return {};
  return unpack(end.output);
}

void CompareRuns::explain_local_hosts(int cores) {
  int most = 0;
  for (const auto& cell : cells_) most = std::max(most, cell.processes * cell.workers);
  note(fmt::format(
      "the hosts are network namespaces of this machine and share its {} core{}, its memory and its "
      "caches; what a network card would do for TCP, their cores do{}",
      cores, cores == 1 ? "" : "s",
      most > cores ? fmt::format("; with up to {} workers they compute in turns", most) : ""));
  if (settings_.dense()) return;
  note(
      "a shaped link that was idle passes what it carries in 1.6 ms at once, in each superstep: a run that "
      "sends little in each shows less of the rate than a network card would");
}

void CompareRuns::note(const std::string& text) {
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(text);
}

}  // namespace edgewire::perf
