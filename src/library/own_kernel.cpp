#include "library/own_kernel.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "graph/file/vertex_names.h"
#include "library/result.h"
#include "options/jobs.h"
#include "options/kernels.h"
#include "runs/dense_kernel.h"
#include "runs/frontier_kernel.h"

namespace edgewire {

namespace {

using AskedOfOwn = std::vector<std::pair<std::string, report::RunReport::Option>>;

/// Returns what the kernel was asked for. Vertices have their names.
AskedOfOwn asked_of(const OwnWords& words, const Graph& graph) {
  AskedOfOwn asked;
  for (const auto& one : words.options) {
    if (const auto* const number = std::get_if<double*>(&one.value)) {
      asked.emplace_back(one.name, **number);
      continue;
    }
    const VertexId vertex = *std::get<VertexId*>(one.value);
    frontier::expect_vertex(graph, vertex);
    asked.emplace_back(one.name, graph::VertexNames(graph)(vertex));
  }
  return asked;
}

/// Returns the name of a kernel, and what it was asked for.
std::string description(const OwnWords& words) {
  std::string text = words.name;
  for (const auto& one : words.options)
    text += std::visit(
        [&]<class Value>(const Value* value) {
          if constexpr (std::is_same_v<Value, double>)
            return fmt::format(", {} {}", one.name, *value);
          else
            return fmt::format(", {} {}", one.name, std::uint64_t{*value});
        },
        one.value);
  return text;
}

/// Throws UsageError unless a name has letters, digits, - and _ alone, and those of `more`.
void check_name(const std::string& kernel, const char* what, const std::string& name,
                std::string_view more = {}) {
  const auto is_part = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           more.find(c) != more.npos;
  };
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z' && std::ranges::all_of(name, is_part)) return;
  throw UsageError(
      fmt::format("{}{}: a name begins with a letter from a to z, and has such letters, digits, - and _",
                  kernel.empty() ? "" : kernel + ": ", what));
}

void check(const OwnWords& words) {
  check_name("", "OwnWords::name", words.name);
  check_name(words.name, "OwnWords::value", words.value, " ");
  if (words.summary.empty() || words.summary.find('\n') != words.summary.npos)
    throw UsageError(fmt::format("{}: OwnWords::summary: a line of help is needed", words.name));
  for (const auto& one : words.options) {
    check_name(words.name, "OwnOption::name", one.name);
    const auto wrong = [&](const char* why) {
      return UsageError(fmt::format("{}: OwnOption {}: {}", words.name, one.name, why));
    };
    if (std::visit([](const auto* value) { return value == nullptr; }, one.value))
      throw wrong("value is null");
    const auto* const number = std::get_if<double*>(&one.value);
    if (number != nullptr && !(one.least <= **number && **number <= one.most))
      throw wrong("its value is not from least to most");
  }
}

template <class Function>
void expect(const OwnWords& words, const Function& function, const char* what) {
  if (!function)
    throw UsageError(fmt::format("{}: {} is empty: it says what the kernel does", words.name, what));
}

/// Throws Error where a value is no number.
void expect_number(const OwnWords& words, double value, VertexId vertex, const graph::VertexNames& names) {
  if (std::isnan(value))
    throw Error(
        fmt::format("{}: the {} of vertex {} is not a number", words.name, words.value, names(vertex)));
}

/// Throws Error unless a label is a vertex.
void expect_label(const OwnWords& words, PlainId label, VertexId vertex, const runs::AnsweredRun& run) {
  if (label >= run.job.graph().vertices())
    throw Error(fmt::format("{}: the {} of vertex {} is {}, and labels are vertices, below {}", words.name,
                            words.value, run.names(vertex), label, run.job.graph().vertices()));
}

/// Throws Error unless there is a value for each of `count` vertices.
void expect_values(const OwnWords& words, const char* what, std::size_t values, std::uint64_t count) {
  if (values != count)
    throw Error(fmt::format("{}: {} returned {} values of {} vertices", words.name, what, values, count));
}

class OwnDenseKernel final : public runs::DenseKernel {
 public:
  OwnDenseKernel(detail::AnyProgram own, AskedOfOwn asked, bool weighted)
      : DenseKernel(own.words.name, own.words.value, own.doubles),
        own_(std::move(own)),
        asked_(std::move(asked)),
        weighted_(weighted) {}

  std::string state() const override { return description(own_.words); }
  std::string describe() const override {
    return fmt::format("{}, {} iterations, precision {}", state(), own_.iterations, precision());
  }
  bool weighted() const override { return weighted_; }
  int iterations() const override { return own_.iterations; }
  bool has_goal() const override { return own_.has_goal; }
  std::unique_ptr<detail::AnyRun<double>> start(DenseJob& job) override { return own_.start(job); }
  kernels::Reference reference(const Graph& graph, int iterations, const kernels::Rounding&) const override {
    kernels::Reference reference;
    reference.values = own_.expected(graph, iterations);
    reference.tolerance = fmt::format("{:g} of each value{}", own_.tolerance,
                                      own_.absolute > 0 ? fmt::format(" and {:g} more", own_.absolute) : "");
    expect_values(own_.words, "OwnProgram::expected", reference.values.size(), graph.vertices());
    for (const double value : reference.values) {
      const double scale = std::isfinite(value) ? std::fabs(value) : 0;
      reference.scales.push_back(scale);
      reference.limits.push_back(scale * own_.tolerance + own_.absolute);
    }
    return reference;
  }
  double message_bound(const Graph&, int, const kernels::Rounding&) const override { return 0; }
  report::Answer answer(const runs::DenseStage& stage, const runs::DenseOutcome& outcome,
                        const graph::VertexNames& names) const override {
    const auto ids = stage.job.owned().ids();
    for (OwnedIndex i{}; i < ids.size(); ++i) expect_number(own_.words, outcome.values[i], ids[i], names);
    return DenseKernel::answer(stage, outcome, names);
  }
  void add_to(report::RunReport& report, const runs::DenseOutcome&) const override {
    report.options = {{"iterations", std::int64_t{own_.iterations}}, {"precision", precision()}};
    report.options.insert(report.options.end(), asked_.begin(), asked_.end());
  }

 private:
  detail::AnyProgram own_;
  AskedOfOwn asked_;
  bool weighted_;
};

template <class Value>
class OwnFrontierKernel final : public runs::VertexKernel<Value> {
 public:
  OwnFrontierKernel(detail::AnySearch<Value> own, AskedOfOwn asked)
      : runs::VertexKernel<Value>(
            own.words.name, own.words.value,
            std::is_same_v<Value, double> ? runs::Values::Form::number : runs::Values::Form::vertex, 17),
        own_(std::move(own)),
        asked_(std::move(asked)) {}

  std::string describe() const override { return description(own_.words); }
  bool weighted() const override { return own_.weighted; }
  std::size_t record_bytes() const override { return own_.record_bytes; }
  std::vector<frontier::Superstep> supersteps(frontier::Job& job) override {
    frontier::SuperstepLog log(job);
    job.make_rows();
    this->mine_ = own_.values(job, log);
    expect_values(own_.words, "OwnSearch::values", this->mine_.size(), job.owned());
    job.wait_for_all();
    return log.take();
  }
  std::string phase(const frontier::Superstep& one) const override {
    return fmt::format("superstep {}", one.step + 1);
  }
  report::Answer answer(const runs::AnsweredRun& run) override {
    report::Answer answer;
    for (LocalNumber v{}; v < this->mine_.size(); ++v) {
      const VertexId vertex = run.job.ownership().vertex(run.job.rank(), v);
      if constexpr (std::is_same_v<Value, double>)
        expect_number(own_.words, this->mine_[v], vertex, run.names);
      else
        expect_label(own_.words, this->mine_[v], vertex, run);
    }
    if constexpr (std::is_same_v<Value, double>)
      runs::set_highest<double>(answer, run, this->mine_, runs::kTop);
    else
      answer = runs::group_answer(run, this->mine_, "group", "groups");
    return answer;
  }
  report::Answer expected_answer(const runs::Asked& asked) const override {
    if constexpr (std::is_same_v<Value, double>)
      return runs::expected_highest<double>(asked, this->all_, runs::kTop);
    else
      return runs::expected_of_groups(asked, this->all_, "groups");
  }
  void fill(report::RunReport& report) const override {
    runs::VertexKernel<Value>::fill(report);
    report.options.insert(report.options.end(), asked_.begin(), asked_.end());
  }
  std::string fault(const Graph& graph) const override { return own_.fault(graph, this->all_); }
  std::string rules() const override {
    return fmt::format("OwnSearch::fault of {} found none", this->name());
  }

 private:
  detail::AnySearch<Value> own_;
  AskedOfOwn asked_;
};

template <class Value, class Own>
Result<Value> run(launch::Bootstrap& bootstrap, const Graph& graph, const Own& own, const JobOptions& job,
                  const char* lacking) {
  if (job.verify && !own.can_verify())
    throw options::wrong(opt::verify, fmt::format("{} says nothing of what is right", own.words.name),
                         fmt::format("set {}", lacking));
  return run_for_caller<Value>(bootstrap, graph, make_kernel(own, graph), job);
}

}  // namespace

void check(const detail::AnyProgram& own) {
  check(own.words);
  expect(own.words, own.start, "OwnProgram::program");
  check_range(opt::iterations, own.iterations);
  for (const double limit : {own.tolerance, own.absolute})
    if (!(limit >= 0 && std::isfinite(limit)))
      throw UsageError(
          fmt::format("{}: OwnProgram::tolerance and absolute must be at least 0", own.words.name));
}

template <class Value>
void check(const detail::AnySearch<Value>& own) {
  check(own.words);
  expect(own.words, own.values, "OwnSearch::values");
}

std::unique_ptr<runs::Kernel> make_kernel(const detail::AnyProgram& own, const Graph& graph) {
  check(own);
  if (own.needs_weights) graph::expect_weights(graph);
  return std::make_unique<OwnDenseKernel>(own, asked_of(own.words, graph),
                                          own.needs_weights || (own.uses_weights && graph.weighted()));
}

template <class Value>
std::unique_ptr<runs::Kernel> make_kernel(const detail::AnySearch<Value>& own, const Graph& graph) {
  check(own);
  if (own.weighted) graph::expect_weights(graph);
  return std::make_unique<OwnFrontierKernel<Value>>(own, asked_of(own.words, graph));
}

Result<double> run_kernel(launch::Bootstrap& bootstrap, const Graph& graph, const detail::AnyProgram& kernel,
                          const JobOptions& job) {
  JobOptions fitting = job;
  if (kernel.doubles && job.wire == JobOptions().wire) fitting.wire = Wire::f64;
  return run<double>(bootstrap, graph, kernel, fitting, "OwnProgram::expected");
}

template <class Value>
Result<Value> run_kernel(launch::Bootstrap& bootstrap, const Graph& graph,
                         const detail::AnySearch<Value>& kernel, const JobOptions& job) {
  return run<Value>(bootstrap, graph, kernel, job, "OwnSearch::fault");
}

template Result<double> run_kernel(launch::Bootstrap&, const Graph&, const detail::AnySearch<double>&,
                                   const JobOptions&);
template Result<PlainId> run_kernel(launch::Bootstrap&, const Graph&, const detail::AnySearch<PlainId>&,
                                    const JobOptions&);
template void check(const detail::AnySearch<double>&);
template void check(const detail::AnySearch<PlainId>&);
template std::unique_ptr<runs::Kernel> make_kernel(const detail::AnySearch<double>&, const Graph&);
template std::unique_ptr<runs::Kernel> make_kernel(const detail::AnySearch<PlainId>&, const Graph&);

}  // namespace edgewire
