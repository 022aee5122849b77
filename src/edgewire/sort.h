// Sorts records of one length, on several processes, on disk where memory ends.
#pragma once

#include "shuffle/sort_job.h"
