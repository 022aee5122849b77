// One process's part of a job, and how it runs a program over all edges, iteration by iteration.
#pragma once

#include "job/checkpoint.h"
#include "job/dense_job.h"
#include "job/dense_run.h"
#include "job/gather.h"
