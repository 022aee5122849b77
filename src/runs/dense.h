// This file runs a kernel that passes over all edges, iteration by iteration.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dense/job/dense_job.h"
#include "edgewire/graph.h"
#include "graph/vertex_names.h"
#include "kernels/pagerank.h"
#include "launch/bootstrap.h"
#include "report/run_report.h"
#include "runs/dense_kernel.h"
#include "runs/kernels.h"
#include "runs/tools.h"

namespace edgewire::runs {

/// A run that is over, before its memory goes. The report is complete at rank 0.
struct DenseFinished {
  const job::DenseJob& job;
  const DenseKernel& kernel;
  std::span<const double> own;  ///< values of the owned vertices, by index
  std::vector<double> all;      ///< values of all vertices, at rank 0, where `tools` asks for them: by vertex
  report::RunReport report;
};

struct DenseOptions {
  job::DenseOptions job{};
  Tools tools{};
  CheckpointOptions checkpoints{};
  /// This is called in all processes at the end. The result may be wrong: see expect_right().
  std::function<void(DenseFinished&)> finished{};
};

/// Runs the kernel. Returns the report, complete at rank 0; it may say that the result is wrong, see
/// expect_right(). Collective; throws Error.
report::RunReport run_dense(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                            const graph::VertexNames& names, DenseKernel& kernel,
                            const DenseOptions& options);
/// Throws Error where the report says that the result differs from the reference.
void expect_right(const report::RunReport& report, const DenseKernel& kernel);

/// Makes the kernel of ranks by power iteration, see kernels::PageRank. `doubles`: messages are doubles,
/// otherwise floats; so it is for make_ppr() and make_spmv().
std::unique_ptr<DenseKernel> make_pagerank(const PageRankOptions& asked, std::uint64_t vertices,
                                           bool doubles);
/// Makes the kernel of personalised ranks, see kernels::Ppr. `sources`: in ascending order.
std::unique_ptr<DenseKernel> make_ppr(const PageRankOptions& asked, Sources sources, bool doubles);
/// The vector by which a matrix is multiplied.
struct Vector {
  std::vector<double> values{};  ///< values by vertex; empty: all are 1
  std::string path{};            ///< path where it was read, for the report
};
/// Makes the kernel of y = A x, see kernels::Spmv. `weighted`: the same as in job::DenseOptions.
std::unique_ptr<DenseKernel> make_spmv(const SpmvOptions& asked, Vector x, bool weighted, bool doubles);

}  // namespace edgewire::runs
