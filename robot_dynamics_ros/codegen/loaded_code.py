"""Machine code in the memory of this process: LLVM loads object files."""

from llvmlite import binding as llvm

from robot_dynamics_ros.codegen.llvm_machine import host_machine
from robot_dynamics_ros.native import call

RUN = 'robot_dynamics_ros_run'
"""Name of ``call.RUN`` in compiled functions; LLVM looks for it where they are loaded, and Numba compiles."""
llvm.add_symbol(RUN, call.RUN)


class LoadedCode:
    """The functions of an object file, in memory as long as this object lives."""

    def __init__(self, content: bytes):
        """Load an object file of this processor."""
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(''), host_machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(content))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return the address of a function; KeyError if there is none of this name."""
        address = self._engine.get_function_address(name)
        if not address:
            raise KeyError(name)
        return address
