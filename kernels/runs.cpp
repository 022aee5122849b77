#include "kernels/runs.h"

namespace edgewire {

template class engine::ProgramLoops<kernels::PageRank<float>>;
template class engine::ProgramLoops<kernels::PageRank<double>>;
template class DenseRun<kernels::PageRank<float>>;
template class DenseRun<kernels::PageRank<double>>;
template class engine::ProgramLoops<kernels::Ppr<float>>;
template class engine::ProgramLoops<kernels::Ppr<double>>;
template class DenseRun<kernels::Ppr<float>>;
template class DenseRun<kernels::Ppr<double>>;
template class engine::ProgramLoops<kernels::Spmv<float>>;
template class engine::ProgramLoops<kernels::Spmv<double>>;
template class DenseRun<kernels::Spmv<float>>;
template class DenseRun<kernels::Spmv<double>>;

}  // namespace edgewire
