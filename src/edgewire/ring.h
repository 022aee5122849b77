// Records to other processes, over any transport, in bounded memory.
#pragma once

#include "channel/region_plan.h"
#include "channel/ring.h"
