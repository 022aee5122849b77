#!python
# The command `edgewire` of the package: it becomes the program, without importing the package, which takes longer than small runs.
import importlib.util
import os
import sys

program = os.path.join(os.path.dirname(importlib.util.find_spec("edgewire").origin), "bin", "edgewire")
os.execv(program, [program] + sys.argv[1:])
