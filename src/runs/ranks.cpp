// This file has the kernels whose ranks settle: pagerank, and ppr, whose ranks restart at sources.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "kernels/pagerank.h"
#include "kernels/ppr.h"
#include "kernels/runs.h"
#include "options/kernels.h"
#include "runs/dense_kernel.h"
#include "runs/digest.h"
#include "runs/kernels.h"

namespace edgewire::runs {

namespace {

class RankKernel : public DenseKernel {
 public:
  RankKernel(const char* name, const PageRankOptions& asked, bool doubles)
      : DenseKernel(name, "rank", doubles), asked_(asked) {}

  std::string state() const override { return fmt::format("{}, damping {}", program(), asked_.damping); }
  std::string describe() const override {
    return fmt::format("{}, {} iterations, damping {}, tolerance {}, precision {}", program(),
                       asked_.most_iterations(), asked_.damping, asked_.tolerance, precision());
  }
  bool weighted() const override { return asked_.weighted; }
  int iterations() const override { return asked_.most_iterations(); }
  bool has_goal() const override { return asked_.tolerance > 0; }
  double message_bound(const Graph& graph, int iterations, const kernels::Rounding& rounding) const override {
    return kernels::message_bound(graph, asked_, iterations, rounding);
  }
  void add_to(report::RunReport& report, const DenseOutcome& outcome) const override {
    report.convergence.push_back(convergence(outcome.done(), outcome.resumed_at, report.wire));
    report.options = {{"iterations", std::int64_t{asked_.most_iterations()}},
                      {"damping", asked_.damping},
                      {"tolerance", asked_.tolerance},
                      {"precision", precision()},
                      {"weighted", asked_.weighted}};
  }

 protected:
  /// Returns the kernel and all that its program depends on, but not damping.
  virtual std::string program() const = 0;

  /// Returns a run of the program, which notes the convergence of the ranks.
  template <class P>
  std::unique_ptr<detail::AnyRun<double>> run_of(DenseJob& job, P program) {
    const auto ended = [this](const P& after, const typename P::Totals& last) {
      change_ = last.change;
      ending_ = after.convergence.ending();
    };
    return std::make_unique<detail::OwningRun<P>>(job, std::move(program), ended);
  }

  PageRankOptions asked_;

 private:
  /// Returns why the tolerance was not reached. `done`: the number of iterations in all.
  std::string unmet(int done, bool computed, const std::string& wire) const {
    std::string why = fmt::format(" in {} iterations ({} makes more)", done, opt::iterations("N"));
    if (!computed) why = ": no iteration was computed";
    if (ending_ == kernels::Ending::stalled)
      why = fmt::format(": stopped after {} iterations, since the change no longer falls{}", done,
                        wire == "f64"   ? ""
                        : wire == "f32" ? fmt::format(" ({} rounds less)", opt::precision("f64"))
                                        : fmt::format(" ({} rounds less)", opt::wire("f32")));
    return fmt::format("tolerance {:g} NOT reached{}", asked_.tolerance, why);
  }

  /// Returns how near the ranks are to those that iterations without end would give. `done`: the number of
  /// iterations in all, of which `resumed_at` are those of a checkpoint. `wire`: as in the report.
  report::RunReport::Convergence convergence(int done, int resumed_at, const std::string& wire) const {
    report::RunReport::Convergence result{change_, ending_ == kernels::Ending::tolerance};
    if (asked_.tolerance > 0 && !result.converged) result.unmet = unmet(done, done > resumed_at, wire);
    if (done == resumed_at) {
      result.text =
          resumed_at == 0
              ? "no iteration was computed\n"
              : fmt::format("no iteration was computed after the {} of the checkpoint\n", resumed_at);
      return result;
    }
    result.text = fmt::format("the last iteration changed the ranks by {:.3g} in sum; ", change_);
    if (asked_.tolerance == 0)
      result.text += fmt::format("no {} was asked for\n", opt::tolerance);
    else if (result.converged)
      result.text += fmt::format("tolerance {:g} reached after {} iterations\n", asked_.tolerance, done);
    else
      result.text += result.unmet + "\n";
    if (asked_.damping < 1) {
      // An iteration brings any two sets of ranks nearer to each other by the factor `damping`, in sum.
      result.outlook = fmt::format(
          "more iterations would change the ranks by at most {:.3g} in sum; single ranks may change by a "
          "larger part of their value\n",
          change_ * asked_.damping / (1 - asked_.damping));
    }
    return result;
  }

  double change_ = 0;  ///< change in the last iteration
  kernels::Ending ending_ = kernels::Ending::iterations;
};

class PageRankKernel final : public RankKernel {
 public:
  PageRankKernel(const PageRankOptions& asked, std::uint64_t vertices, bool doubles)
      : RankKernel("pagerank", asked, doubles), vertices_(vertices) {}

  std::unique_ptr<detail::AnyRun<double>> start(DenseJob& job) override {
    return doubles() ? run_of(job, kernels::PageRank<double>(asked_, vertices_))
                     : run_of(job, kernels::PageRank<float>(asked_, vertices_));
  }
  kernels::Reference reference(const Graph& graph, int iterations,
                               const kernels::Rounding& rounding) const override {
    return kernels::reference_ranks(graph, asked_, iterations, {}, rounding);
  }
  void add_to(report::RunReport& report, const DenseOutcome& outcome) const override {
    RankKernel::add_to(report, outcome);
    report.options.emplace_back("pagerank_2015", asked_.form_2015);
  }

 private:
  std::string program() const override {
    return fmt::format("pagerank{}{}", asked_.form_2015 ? " 2015" : "", asked_.weighted ? " weighted" : "");
  }

  std::uint64_t vertices_;
};

class PprKernel final : public RankKernel {
 public:
  PprKernel(const PageRankOptions& asked, Sources sources, bool doubles)
      : RankKernel("ppr", asked, doubles), sources_(std::move(sources)) {
    sources_.shares = kernels::relative_shares(std::move(sources_.shares));
  }

  std::unique_ptr<detail::AnyRun<double>> start(DenseJob& job) override {
    return doubles() ? run_of(job, kernels::Ppr<double>(asked_, restarts()))
                     : run_of(job, kernels::Ppr<float>(asked_, restarts()));
  }
  kernels::Reference reference(const Graph& graph, int iterations,
                               const kernels::Rounding& rounding) const override {
    return kernels::reference_ranks(graph, asked_, iterations, restarts(), rounding);
  }
  void add_to(report::RunReport& report, const DenseOutcome& outcome) const override {
    RankKernel::add_to(report, outcome);
    report.options.insert(report.options.end(), sources_.asked.begin(), sources_.asked.end());
  }

 private:
  std::string program() const override {
    const std::string shares = sources_.shares.empty() ? "" : ", shares " + digest(sources_.shares);
    return fmt::format("ppr{}, sources {}{}", asked_.weighted ? " weighted" : "", digest(sources_.vertices),
                       shares);
  }
  kernels::Restarts restarts() const { return {sources_.vertices, sources_.shares}; }

  Sources sources_;
};

}  // namespace

std::unique_ptr<Kernel> make_pagerank(const PageRankOptions& asked, std::uint64_t vertices, bool doubles) {
  return std::make_unique<PageRankKernel>(asked, vertices, doubles);
}

std::unique_ptr<Kernel> make_ppr(const PageRankOptions& asked, Sources sources, bool doubles) {
  return std::make_unique<PprKernel>(asked, std::move(sources), doubles);
}

}  // namespace edgewire::runs
