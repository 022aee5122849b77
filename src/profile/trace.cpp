#include <fmt/core.h>

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>

#include "profile/profile.h"
#include "report/json_text.h"

namespace edgewire::profile {

namespace {

using topology::Phase;

/// The gap between slices, half a nanosecond: viewers take overlaps by rounding for nesting, and lose slices.
constexpr double kGapUs = 0.0005;

/// The way of a chunk: the rank and worker that send it, and the receiver.
struct Lane {
  std::size_t from, to, worker;
  auto operator<=>(const Lane&) const = default;  // NOLINT(modernize-use-nullptr): there is no pointer
};

class Writer {
 public:
  explicit Writer(const Profile& profile) : profile_(profile) {
    const auto& first = profile.processes.front();
    for (const auto& process : profile.processes) {
      const bool same = process.facts.host == first.facts.host || process.iterations.empty();
      shift_ns_.push_back(same ? 0
                               : static_cast<std::int64_t>(first.iterations.back().end_ns) -
                                     static_cast<std::int64_t>(process.iterations.back().end_ns));
    }
    for (std::size_t p = 0; p < profile.processes.size(); ++p) {
      for (const auto& spans : profile.processes[p].spans)
        if (!spans.empty()) start_ns_ = std::min(start_ns_, local(p, spans.front().begin_ns));
      const auto& iterations = profile.processes[p].iterations;
      if (!iterations.empty() && !profile.names.empty())
        start_ns_ = std::min(start_ns_, local(p, iterations.front().begin_ns));
      const auto& at_ns = profile.processes[p].samples.at_ns;
      if (!at_ns.empty()) start_ns_ = std::min(start_ns_, local(p, at_ns.front()));
    }
  }

  std::string write() {
    text_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
    for (std::size_t p = 0; p < profile_.processes.size(); ++p) add_process(p);
    for (std::size_t p = 0; p < profile_.processes.size(); ++p) {
      if (profile_.of_engine()) add_chunks(p);
      add_steps(p);
    }
    text_.erase(text_.size() - 2);  // removes the last comma
    return std::move(text_) + "\n]}\n";
  }

 private:
  std::int64_t local(std::size_t rank, std::uint64_t ns) const {
    return static_cast<std::int64_t>(ns) + shift_ns_[rank];
  }
  double us(std::size_t rank, std::uint64_t ns) const {
    return static_cast<double>(local(rank, ns) - start_ns_) * 1e-3;
  }
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += ",\n";
  }

  void add_process(std::size_t p) {
    const auto& process = profile_.processes[p];
    add(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":"rank {}"}}}})", p, p);
    for (std::size_t w = 0; w < process.spans.size(); ++w) {
      add(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"worker {}"}}}})", p, w, w);
      for (const auto& span : process.spans[w]) add_span(p, w, span);
    }
    for (const auto& series : process.samples.series)
      for (std::size_t i = 0; i < series.values.size(); ++i)
        add(R"({{"ph":"C","pid":{},"name":"{}","ts":{:.3f},"args":{{"{}":{:.6g}}}}})", p, series.name,
            us(p, process.samples.at_ns[i]), series.unit, series.values[i]);
  }

  void add_span(std::size_t p, std::size_t w, const Span& span) {
    const auto phase = static_cast<std::size_t>(span.phase);
    std::string more;
    if (profile_.of_engine() && (span.phase == Phase::compute || span.phase == Phase::apply))
      more = fmt::format(R"(,"column":{})", span.item);
    if (span.peer >= 0) more += fmt::format(R"(,"peer":{})", span.peer);
    add(R"({{"ph":"X","cat":"phase","name":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.4f},"args":{{"{}":{}{}}}}})",
        topology::kPhaseNames[phase], p, w, us(p, span.begin_ns),
        static_cast<double>(span.end_ns - span.begin_ns) * 1e-3 - kGapUs, profile_.words.step,
        std::min(span.iteration, profile_.iterations), more);
    if (span.phase == Phase::send && span.peer >= 0) {
      auto& count = chunks_[{p, static_cast<std::size_t>(span.peer), w}];
      count = std::max<std::uint64_t>(count, span.item + std::uint64_t{1});
    }
  }

  /// Returns when the receiver saw chunk `number` of the lane, counted from the first iteration; 0: not kept.
  std::uint64_t arrived_ns(const Lane& lane, std::uint64_t number) const {
    const auto& process = profile_.processes[lane.to];
    if (lane.worker >= process.arrivals.size()) return 0;
    const auto& all = process.arrivals[lane.worker];
    const auto found = std::ranges::find_if(all, [&](const Arrival& one) {
      return static_cast<std::size_t>(one.peer) == lane.from && one.first <= number && number < one.end;
    });
    return found == all.end() ? 0 : found->at_ns;
  }

  /// Adds the life of chunks: ready when sending begins, in flight when queued, arrived when it was seen.
  void add_chunks(std::size_t p) {
    const auto& process = profile_.processes[p];
    for (std::size_t w = 0; w < process.spans.size(); ++w)
      for (const auto& span : process.spans[w]) {
        if (span.phase != Phase::send || span.peer < 0) continue;
        const Lane lane{p, static_cast<std::size_t>(span.peer), w};
        const auto arrived = arrived_ns(lane, (span.iteration - 1) * chunks_.at(lane) + span.item);
        if (arrived == 0) continue;
        const double in_flight = us(p, span.end_ns);
        const double end = std::max(in_flight, us(lane.to, arrived));
        const auto event = [&](const char* kind, const char* name, double at) {
          add(R"({{"ph":"{}","cat":"chunk","name":"{}","id":{},"pid":{},"ts":{:.3f},"args":{{"iteration":{},"to":{},"chunk":{}}}}})",
              kind, name, id_, p, at, span.iteration, lane.to, span.item);
        };
        const std::string name = fmt::format("chunk to rank {}", lane.to);
        event("b", name.c_str(), us(p, span.begin_ns));
        event("n", "in flight", in_flight);
        event("e", name.c_str(), end);
        ++id_;
      }
  }

  /// Adds the steps: iterations that have names, each from its begin to its end, in a lane of the process.
  void add_steps(std::size_t p) {
    const auto& all = profile_.processes[p].iterations;
    for (std::size_t i = 0; i < all.size() && i < profile_.names.size(); ++i) {
      const std::string name = report::json_text(nlohmann::json(profile_.names[i]));
      const auto event = [&](const char* kind, std::uint64_t at_ns) {
        add(R"({{"ph":"{}","cat":"{}","name":{},"id":{},"pid":{},"ts":{:.3f},"args":{{"{}":{}}}}})", kind,
            profile_.words.step, name, id_, p, us(p, at_ns), profile_.words.step,
            profile_.iterations - all.size() + i + 1);
      };
      event("b", all[i].begin_ns);
      event("e", all[i].end_ns);
      ++id_;
    }
  }

  const Profile& profile_;
  std::vector<std::int64_t> shift_ns_;  ///< shift to rank 0's clock, [rank]
  std::int64_t start_ns_ = INT64_MAX;
  std::map<Lane, std::uint64_t> chunks_;  ///< number of chunks in an iteration, by lane
  std::uint64_t id_ = 0;
  std::string text_;
};

}  // namespace

std::string to_trace(const Profile& profile) { return Writer(profile).write(); }

}  // namespace edgewire::profile
