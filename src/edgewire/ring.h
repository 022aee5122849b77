// Records to other processes, over any transport, in bounded memory.
#pragma once

#include "exchange/region_plan.h"
#include "exchange/ring.h"
