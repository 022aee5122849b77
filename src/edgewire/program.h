// What a kernel of your own has: see engine::ProgramLoops, and docs/kernels.md.
#pragma once

#include "engine/program_loops.h"
