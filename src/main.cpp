// This file only calls the front: see src/cli.
#include "base/rooms.h"
#include "edgewire/own_kernel.h"

int main(int argc, char** argv) { return edgewire::run_command_line(argc, argv); }
