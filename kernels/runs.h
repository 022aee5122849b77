// The loops of our programs, which are compiled once, with all optimization.
#pragma once

#include "base/rooms.h"
#include "edgewire/program.h"
#include "kernels/pagerank.h"
#include "kernels/ppr.h"
#include "kernels/spmv.h"

namespace edgewire {

extern template class engine::ProgramLoops<kernels::PageRank<float>>;
extern template class engine::ProgramLoops<kernels::PageRank<double>>;
extern template class DenseRun<kernels::PageRank<float>>;
extern template class DenseRun<kernels::PageRank<double>>;
extern template class engine::ProgramLoops<kernels::Ppr<float>>;
extern template class engine::ProgramLoops<kernels::Ppr<double>>;
extern template class DenseRun<kernels::Ppr<float>>;
extern template class DenseRun<kernels::Ppr<double>>;
extern template class engine::ProgramLoops<kernels::Spmv<float>>;
extern template class engine::ProgramLoops<kernels::Spmv<double>>;
extern template class DenseRun<kernels::Spmv<float>>;
extern template class DenseRun<kernels::Spmv<double>>;

}  // namespace edgewire
