"""IR of all builtin functions, compiled to one object file."""

from llvmlite import ir

from robot_dynamics_ros.compiler import array_call_ir, bound_function_ir


def source() -> str:
    """Return the IR of the builtin functions ``call``, ``evaluate`` and ``bound``."""
    module = ir.Module('builtin')
    array_call_ir.emit(module)
    bound_function_ir.emit(module)
    return str(module)
