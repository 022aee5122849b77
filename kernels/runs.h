// The loops of our programs, compiled once, with all optimization.
#pragma once

#include "edgewire/program.h"
#include "kernels/pagerank.h"
#include "kernels/ppr.h"
#include "kernels/spmv.h"

namespace edgewire {

extern template class engine::ProgramLoops<kernels::PageRank<float>>;
extern template class engine::ProgramLoops<kernels::PageRank<double>>;
extern template class job::DenseRun<kernels::PageRank<float>>;
extern template class job::DenseRun<kernels::PageRank<double>>;
extern template class engine::ProgramLoops<kernels::PersonalisedPageRank<float>>;
extern template class engine::ProgramLoops<kernels::PersonalisedPageRank<double>>;
extern template class job::DenseRun<kernels::PersonalisedPageRank<float>>;
extern template class job::DenseRun<kernels::PersonalisedPageRank<double>>;
extern template class engine::ProgramLoops<kernels::SpMV<float>>;
extern template class engine::ProgramLoops<kernels::SpMV<double>>;
extern template class job::DenseRun<kernels::SpMV<float>>;
extern template class job::DenseRun<kernels::SpMV<double>>;

}  // namespace edgewire
