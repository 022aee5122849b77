// What a kernel of your own has that follows the edges of vertices that have changed, see docs/kernels.md.
#pragma once

#include "frontier/frontier_job.h"
