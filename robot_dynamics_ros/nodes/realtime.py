"""What the operating system can do for the thread of a hot path; what it refuses is told, and the node goes on."""

import ctypes
import os
import threading
from typing import NamedTuple

MCL_CURRENT, MCL_FUTURE = 1, 2
"""Flags of mlockall: pages that are there, pages to come."""


class Schedule(NamedTuple):
    """How a thread shall run."""

    priority: int  # of SCHED_FIFO, 1 to 99; 0 leaves the thread as it is
    cores: tuple[int, ...]  # it may run on; none leaves that to the system
    lock_memory: bool  # nothing of the process is swapped out


def apply(schedule: Schedule) -> list[str]:
    """Set the calling thread up; return what was refused, a line each.

    The priority also holds for threads that Python did not make: they are the middleware's and bring the messages.
    """
    thread = threading.get_native_id()
    refused = []
    if schedule.priority:
        others = {made.native_id for made in threading.enumerate()} - {thread}
        try:
            for task in os.listdir('/proc/self/task'):
                if int(task) not in others:
                    os.sched_setscheduler(int(task), os.SCHED_FIFO, os.sched_param(schedule.priority))
        except (OSError, ValueError) as error:
            refused.append(f'realtime_priority {schedule.priority}: {error}; the thread keeps its usual scheduling')
    if schedule.cores:
        try:
            os.sched_setaffinity(thread, schedule.cores)
        except (OSError, ValueError) as error:
            refused.append(f'cores {list(schedule.cores)}: {error}; the thread may run on every core')
    if schedule.lock_memory:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mlockall(MCL_CURRENT | MCL_FUTURE):
            refused.append(f'lock_memory: {os.strerror(ctypes.get_errno())}; memory may be swapped out')
    return refused
