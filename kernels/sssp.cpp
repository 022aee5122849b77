#include "kernels/sssp.h"

// Compiled once, and for speed.
template class edgewire::frontier::Settling<edgewire::kernels::Sssp>;
