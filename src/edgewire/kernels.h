// The kernels of this library: programs for job::DenseRun, and kernels that follow a frontier.
#pragma once

#include "kernels/bc.h"
#include "kernels/bfs.h"
#include "kernels/cdlp.h"
#include "kernels/delta_stepping.h"
#include "kernels/lcc.h"
#include "kernels/runs.h"
#include "kernels/scc.h"
#include "kernels/sssp.h"
#include "kernels/wcc.h"
#include "runs/dense.h"
#include "runs/kernels.h"
