// One process's part of a job, and how it runs a program over all edges, iteration by iteration.
#pragma once

#include "dense/job/checkpoint.h"
#include "dense/job/dense_job.h"
#include "dense/job/dense_run.h"
