#include <fmt/core.h>

#include <cmath>
#include <iterator>

#include "base/units.h"
#include "bounds/bound.h"
#include "report/json_text.h"
#include "report/table.h"

namespace edgewire::bounds {

namespace {

using plan::Encoding;
using report::Json;

std::string with_commas(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string rate_text(double bits_per_s) {
  if (std::isinf(bits_per_s)) return "none";
  if (bits_per_s >= 1e12) return fmt::format("{:.3g}T", bits_per_s / 1e12);
  if (bits_per_s >= 1e9) return fmt::format("{:.3g}G", bits_per_s / 1e9);
  return fmt::format("{:.3g}M", bits_per_s / 1e6);
}

std::string strategy_text(const BoundRow& row) {
  std::string text(plan::to_name(row.strategy));
  const std::uint64_t bits = plan::value_bits(row.encoding);
  if (bits == 1) text += " 1-bit";
  if (bits > 1 && row.encoding != Encoding::f32) text += fmt::format(" {}-byte", bits / 8);
  if (row.self_traffic) text += " +self";
  return text;
}

/// Returns whether people see the row. Their table leaves out rows that no job sends; CSV and JSON have them.
bool for_people(const BoundRow& row) { return plan::go_together(row.strategy, row.encoding); }

class Text {
 public:
  Text(const Bound& bound, const BoundOptions& options) : bound_(bound), options_(options) {}

  std::string all() {
    for (std::size_t first = 0; first < bound_.rows.size();) {
      std::size_t last = first;
      while (last < bound_.rows.size() && bound_.rows[last].processes == bound_.rows[first].processes) ++last;
      add_volumes({bound_.rows.data() + first, last - first});
      first = last;
    }
    if (options_.model) add_predictions();
    print(
        "Counted exactly with {} beside the graph, limit {}, and {} over it for each number of "
        "processes and ownership.\n",
        readable_bytes(bound_.counting_bytes), readable_memory(options_.memory_bytes),
        bound_.passes == 1 ? "one pass" : fmt::format("{} passes", bound_.passes));
    return std::move(text_);
  }

 private:
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  void add_volumes(std::span<const BoundRow> rows) {
    print(
        "{} {} with {} {}. Values each process sends in an iteration; payload, wire bytes ({}) and, at the "
        "line rates given, time of the most loaded one\n",
        rows.front().processes, rows.front().processes == 1 ? "process" : "processes", options_.workers,
        options_.workers == 1 ? "worker" : "workers", plan::kFramings[options_.framing].name);
    auto table = table_of({"mean", "largest", "total", "payload", "wire"});
    for (const auto& [name, bits] : options_.rates) table.header.push_back(name);
    table.header.insert(table.header.end(), {"load", "memory"});
    for (const auto& row : rows)
      if (for_people(row)) add_volume(row, table);
    text_ += report::to_text(table);
    add_wire_bytes(rows);
    add_setup(rows.front());
    for (const auto& row : rows) {
      if (!row.cover || plan::is_rounded(row.encoding)) continue;
      print("cover, {}: {}; planned in {} of one core\n", row.ownership,
            row.cover->gap == 0
                ? fmt::format("proved minimum by a matching of {}", with_commas(row.cover->matching))
                : fmt::format("at most {:.2f} % above the minimum", row.cover->gap * 100),
            readable_seconds(row.cover->planning_core_s));
    }
    print("\n");
  }

  /// Returns a table whose rows are ownerships and strategies.
  static report::Table table_of(const std::vector<std::string>& figures) {
    report::Table table{{"ownership", "strategy"}, "<<"};
    table.header.insert(table.header.end(), figures.begin(), figures.end());
    return table;
  }

  void add_volume(const BoundRow& row, report::Table& table) const {
    const auto& volume = row.volume;
    auto& line = table.rows.emplace_back(std::vector{
        row.ownership, strategy_text(row),
        with_commas(static_cast<std::uint64_t>(std::llround(volume.values_sent_mean))),
        with_commas(volume.values_sent_max), with_commas(volume.values_sent_total),
        readable_bytes(volume.payload_bytes_max), readable_bytes(volume.wire_bytes_max[options_.framing])});
    for (const double seconds : row.seconds_at) line.push_back(readable_seconds(seconds));
    const double excess = row.edges_mean > 0 ? static_cast<double>(row.edges_max) / row.edges_mean - 1 : 0;
    line.push_back(fmt::format("{:+.1f}%", excess * 100));
    line.push_back(readable_bytes(row.memory_bytes));
  }

  /// Adds the setup messages. Their number grows with that of peers: they are the cost of a large start.
  void add_setup(const BoundRow& row) {
    if (row.processes == 1) return;
    const auto peers = static_cast<std::uint64_t>(row.processes - 1);
    const std::uint64_t messages = setup_messages(row.processes, row.workers);
    print("setup over tcp: at most {} messages from a process ({} for each peer)\n", with_commas(messages),
          messages / peers);
  }

  void add_wire_bytes(std::span<const BoundRow> rows) {
    report::Table table{{"wire with the headers of", ""}, "<<"};
    for (const auto& framing : plan::kFramings) table.header.emplace_back(framing.name);
    for (const auto& row : rows) {
      if (plan::is_rounded(row.encoding) || row.self_traffic) continue;
      auto& line = table.rows.emplace_back(std::vector{row.ownership, strategy_text(row)});
      for (const auto bytes : row.volume.wire_bytes_max) line.push_back(readable_bytes(bytes));
    }
    text_ += report::to_text(table);
  }

  void add_predictions() {
    const auto& model = *options_.model;
    print(
        "What if (all rates are given, none is measured): {:.3g} edges/s a core, {} cores a process, {} a "
        "message{}. Time of an iteration, what limits it, and the line rate above which the wire does not\n",
        model.edges_per_core_s, model.cores, readable_seconds(model.latency_s),
        model.memory_bytes_per_s > 0
            ? fmt::format(", {:.3g} GB/s of memory a process", model.memory_bytes_per_s / 1e9)
            : std::string());
    auto table = table_of({"processes"});
    for (const auto& [name, bits] : options_.rates) table.header.push_back(name);
    table.header.emplace_back("balanced");
    for (const auto& row : bound_.rows) {
      if (row.predictions.empty() || !for_people(row)) continue;
      auto& line = table.rows.emplace_back(
          std::vector{row.ownership, strategy_text(row), std::to_string(row.processes)});
      for (const auto& prediction : row.predictions)
        line.push_back(fmt::format("{} {}", readable_seconds(prediction.seconds), to_name(prediction.limit)));
      line.push_back(rate_text(row.predictions.front().balanced_bits_per_s));
    }
    text_ += report::to_text(table);
    for (const auto& row : bound_.rows) {
      if (row.processes == bound_.rows.front().processes && !row.predictions.empty() && for_people(row))
        add_changes(row);
    }
    print("\n");
  }

  /// Adds the numbers of processes at which another limit takes over, for the series that `first` begins.
  void add_changes(const BoundRow& first) {
    std::string changes;
    for (std::size_t rate = 0; rate < options_.rates.size(); ++rate) {
      std::vector<Prediction> series;
      for (const auto& row : bound_.rows) {
        if (row.ownership == first.ownership && row.strategy == first.strategy &&
            row.encoding == first.encoding && !row.predictions.empty())
          series.push_back(row.predictions[rate]);
      }
      const std::size_t change = change_of_limit(series);
      if (change == series.size()) continue;
      fmt::format_to(std::back_inserter(changes), "{} at {} {} from {} processes on",
                     changes.empty() ? ":" : ",", options_.rates[rate].first, to_name(series[change].limit),
                     series[change].processes);
    }
    if (!changes.empty()) print("limit changes, {} {}{}\n", first.ownership, strategy_text(first), changes);
  }

  const Bound& bound_;
  const BoundOptions& options_;
  std::string text_;
};

Json to_json(const Prediction& prediction) {
  Json json{{"seconds", prediction.seconds},       {"limit", to_name(prediction.limit)},
            {"cores_seconds", prediction.cores_s}, {"memory_seconds", prediction.memory_s},
            {"wire_seconds", prediction.wire_s},   {"latency_seconds", prediction.latency_s}};
  if (std::isfinite(prediction.balanced_bits_per_s))
    EDGEWIRE_ADD_FIELDS(json, prediction, balanced_bits_per_s);
  return json;
}

Json to_json(const BoundRow& row, const BoundOptions& options) {
  const auto& volume = row.volume;
  Json json;
  EDGEWIRE_ADD_FIELDS(json, row, processes, workers, ownership, strategy, encoding, self_traffic);
  EDGEWIRE_ADD_FIELDS(json, volume, values_sent_mean, values_sent_max, values_sent_total, payload_bytes_max,
                      payload_bytes_total);
  for (std::size_t f = 0; f < plan::kFramings.size(); ++f) {
    json["wire_bytes_max"][std::string(plan::kFramings[f].name)] = volume.wire_bytes_max[f];
    json["wire_bytes_total"][std::string(plan::kFramings[f].name)] = volume.wire_bytes_total[f];
  }
  for (std::size_t r = 0; r < options.rates.size(); ++r) {
    json["seconds_at"][options.rates[r].first] = row.seconds_at[r];
    if (!row.predictions.empty()) json["predicted_at"][options.rates[r].first] = to_json(row.predictions[r]);
  }
  json["setup_messages_per_process"] = setup_messages(row.processes, row.workers);
  EDGEWIRE_ADD_FIELDS(json, row, edges_max, edges_mean, memory_bytes);
  if (row.cover)
    json.update({{"matching", row.cover->matching},
                 {"gap", row.cover->gap},
                 {"planning_core_seconds", row.cover->planning_core_s}});
  return json;
}

}  // namespace

std::string to_text(const Bound& bound, const BoundOptions& options) { return Text(bound, options).all(); }

std::string to_json(const Bound& bound, const BoundOptions& options) {
  Json json{{"seconds_framing", plan::kFramings[options.framing].name}};
  EDGEWIRE_ADD_FIELDS(json, bound, counting_bytes, passes);
  json["version"] = EDGEWIRE_VERSION;
  auto& rows = json["rows"] = Json::array();
  for (const auto& row : bound.rows) rows.push_back(to_json(row, options));
  return report::json_text(json, 1) + "\n";
}

std::string to_csv(const Bound& bound, const BoundOptions& options) {
  std::string text =
      "processes,workers,ownership,strategy,encoding,self_traffic,values_sent_mean,values_sent_max,"
      "values_sent_total,payload_bytes_max,payload_bytes_total";
  const auto out = std::back_inserter(text);
  for (const auto& framing : plan::kFramings) fmt::format_to(out, ",wire_bytes_max_{}", framing.name);
  for (const auto& [name, bits] : options.rates) fmt::format_to(out, ",seconds_at_{}", name);
  fmt::format_to(out, ",edges_max,edges_mean,matching,setup_messages_per_process,memory_bytes\n");
  for (const auto& row : bound.rows) {
    const auto& volume = row.volume;
    fmt::format_to(out, "{},{},{},{},{},{},{},{},{},{},{}", row.processes, row.workers,
                   report::csv_quoted(row.ownership), plan::to_name(row.strategy),
                   plan::to_name(row.encoding), row.self_traffic ? 1 : 0, volume.values_sent_mean,
                   volume.values_sent_max, volume.values_sent_total, volume.payload_bytes_max,
                   volume.payload_bytes_total);
    for (const auto bytes : volume.wire_bytes_max) fmt::format_to(out, ",{}", bytes);
    for (const double seconds : row.seconds_at) fmt::format_to(out, ",{}", seconds);
    fmt::format_to(out, ",{},{},{},{},{}\n", row.edges_max, row.edges_mean,
                   row.cover ? std::to_string(row.cover->matching) : "",
                   setup_messages(row.processes, row.workers), row.memory_bytes);
  }
  return text;
}

}  // namespace edgewire::bounds
