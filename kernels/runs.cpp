#include "kernels/runs.h"

namespace edgewire {

template class engine::ProgramLoops<kernels::PageRank<float>>;
template class engine::ProgramLoops<kernels::PageRank<double>>;
template class job::DenseRun<kernels::PageRank<float>>;
template class job::DenseRun<kernels::PageRank<double>>;

}  // namespace edgewire
