"""Machine code, C and Python from kernels: for all robots, and for one."""
