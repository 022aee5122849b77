// Nothing but the call of the front: see src/cli.
#include "cli/run_program.h"

int main(int argc, char** argv) { return edgewire::cli::run_program(argc, argv); }
