// Functions that start other functions, in all processes of a job, and wait for their results.
#pragma once

#include "tasks/task_job.h"
