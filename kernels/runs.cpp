#include "kernels/runs.h"

namespace edgewire {

template class engine::ProgramLoops<kernels::PageRank<float>>;
template class engine::ProgramLoops<kernels::PageRank<double>>;
template class job::DenseRun<kernels::PageRank<float>>;
template class job::DenseRun<kernels::PageRank<double>>;
template class engine::ProgramLoops<kernels::PersonalisedPageRank<float>>;
template class engine::ProgramLoops<kernels::PersonalisedPageRank<double>>;
template class job::DenseRun<kernels::PersonalisedPageRank<float>>;
template class job::DenseRun<kernels::PersonalisedPageRank<double>>;
template class engine::ProgramLoops<kernels::SpMV<float>>;
template class engine::ProgramLoops<kernels::SpMV<double>>;
template class job::DenseRun<kernels::SpMV<float>>;
template class job::DenseRun<kernels::SpMV<double>>;

}  // namespace edgewire
