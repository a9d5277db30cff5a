"""Code generation for one robot: kernels are traced, emitted as Python files, compiled and cached."""
