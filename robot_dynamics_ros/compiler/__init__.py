"""From kernels to code for one robot: traced, emitted as a Python file, compiled and cached."""
