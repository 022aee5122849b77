#include "edgewire/bound.h"

#include <algorithm>

#include "base/parallel.h"
#include "bounds/bound.h"
#include "library/bound_page.h"
#include "options/kernels.h"
#include "options/measures.h"

namespace edgewire {

namespace {

bounds::BoundOptions asked(const BoundOptions& options) {
  bounds::BoundOptions asked;
  asked.processes = options.processes;
  std::ranges::sort(asked.processes);
  asked.workers = options.workers;
  asked.ownerships = options.ownerships;
  bounds::check_ownerships(asked.ownerships, asked.processes, false);
  for (const Strategy one : options.strategies)
    asked.strategies.push_back(plan::strategy_from(word_of(opt::strategy, one)));
  if (options.wires.empty()) throw UsageError("wires: there are none");
  asked.encodings = options.wires;
  for (const std::string& rate : options.rates) asked.rates.emplace_back(rate, plan::line_rate_bits(rate));
  check_range(opt::threads, options.threads);
  asked.threads = workers_or_default(options.threads);
  asked.memory_bytes = options.memory_bytes;
  return asked;
}

}  // namespace

Bound bound(const Graph& graph, const BoundOptions& options) {
  const auto how = asked(options);
  bounds::check(how);
  graph.expect_all_rows();
  graph.verify_rows(0, graph.vertices());
  const auto counted = bounds::compute_bound({graph.offsets(), graph.targets()}, how, options.progress);
  Bound bound;
  for (const auto& row : counted.rows) {
    if (!plan::go_together(row.strategy, row.encoding)) continue;
    bound.rows.push_back({row.processes, row.ownership,
                          meant_by<Strategy>(opt::strategy, plan::to_name(row.strategy)), row.encoding,
                          row.volume.values_sent_total, row.volume.payload_bytes_total,
                          row.volume.wire_bytes_total[how.framing], row.seconds_at});
  }
  bound.text = bounds::to_text(counted, how);
  bound.json = bounds::to_json(counted, how);
  bound.page = bound_page(graph.path(), bound, options.rates);
  return bound;
}

}  // namespace edgewire
