"""How much memory Python takes while something is done."""

import sys
import tracemalloc


def most_allocated(act) -> int:
    """Return by how many bytes memory grows at most while ``act()`` lasts; one that traces lines would add its own."""
    tracer = sys.gettrace()
    sys.settrace(None)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        act()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
        sys.settrace(tracer)
