"""From kernels to straight-line code for one robot: traced, emitted as a Python file, compiled and kept."""
