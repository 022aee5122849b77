"""`python -m edgewire` is the command `edgewire`."""

import os
import sys

program = os.path.join(os.path.dirname(__file__), "bin", "edgewire")
os.execv(program, [program] + sys.argv[1:])
