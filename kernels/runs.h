// The loops of our programs, compiled once, with all optimization.
#pragma once

#include "job/dense_run.h"
#include "kernels/pagerank.h"

namespace edgewire {

extern template class engine::ProgramLoops<kernels::PageRank<float>>;
extern template class engine::ProgramLoops<kernels::PageRank<double>>;
extern template class job::DenseRun<kernels::PageRank<float>>;
extern template class job::DenseRun<kernels::PageRank<double>>;

}  // namespace edgewire
