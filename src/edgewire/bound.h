// The bytes that a run must send, counted before it.
#pragma once

#include "perf/bound.h"
#include "perf/frontier_bound.h"
