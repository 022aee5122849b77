#include "kernels/runs.h"

namespace edgewire {

template class engine::ProgramLoops<kernels::PageRank<float>>;
template class engine::ProgramLoops<kernels::PageRank<double>>;
template class job::DenseRun<kernels::PageRank<float>>;
template class job::DenseRun<kernels::PageRank<double>>;
template class engine::ProgramLoops<kernels::Ppr<float>>;
template class engine::ProgramLoops<kernels::Ppr<double>>;
template class job::DenseRun<kernels::Ppr<float>>;
template class job::DenseRun<kernels::Ppr<double>>;
template class engine::ProgramLoops<kernels::Spmv<float>>;
template class engine::ProgramLoops<kernels::Spmv<double>>;
template class job::DenseRun<kernels::Spmv<float>>;
template class job::DenseRun<kernels::Spmv<double>>;

}  // namespace edgewire
