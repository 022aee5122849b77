// The kernels of this library: programs for job::DenseRun, and kernels that follow a frontier.
#pragma once

#include "frontier/betweenness.h"
#include "frontier/breadth_first.h"
#include "frontier/components.h"
#include "frontier/label_propagation.h"
#include "frontier/local_clustering.h"
#include "frontier/settle.h"
#include "frontier/strong_components.h"
#include "kernels/runs.h"
#include "kernels/sssp.h"
#include "runs/dense.h"
#include "runs/kernels.h"
