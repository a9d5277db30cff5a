"""Machine code in the memory of this process."""

from typing import final

@final
class MachineCode:
    """Functions of an object file of LLVM, in memory as long as this object lives.

    Raises ValueError unless that is for this processor, has code and constants only, and calls functions that this
    process has.
    """

    def __new__(cls, content: bytes, /) -> MachineCode: ...
    def address(self, name: str, /) -> int:
        """Return the address of a function; KeyError if there is none of this name."""
