// What a kernel of your own has: see engine::ProgramLoops, and docs/kernels.md.
#pragma once

#include "dense/engine/program_loops.h"
