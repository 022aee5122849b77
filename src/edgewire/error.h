// The public headers of libedgewire stand in this folder. Only these, and what they include, are installed.
// This one: what the library throws. It never ends the caller's process.
#pragma once

#include "base/error.h"
