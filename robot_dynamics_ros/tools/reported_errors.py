"""How a command ends on an error: exit status 1 and one line that begins with its name."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from robot_dynamics_ros.errors import DynamicsError


@contextmanager
def reported_errors(command: str) -> Iterator[None]:
    """Exit with 1 and the reason after the name of the ``command`` for an error or an interrupt.

    Where the reader of the output has ended, as with ``| head``, there is no line.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Python writes what is left of the output when it exits
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (DynamicsError, OSError) as error:
        sys.exit(f'{command}: {error}')
    except KeyboardInterrupt:
        sys.exit(f'{command}: interrupted')
