"""Code generation: machine code, C and Python from kernels, for all robots or for one."""
