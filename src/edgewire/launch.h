// The processes of a job: started on this machine, from a list of hosts, or by Slurm or mpirun.
#pragma once

#include "launch/launch.h"
