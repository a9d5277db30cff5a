"""Real-time scheduling of the hot path's thread; what the operating system refuses is logged, and the node goes on."""

import ctypes
import os
import threading
from typing import NamedTuple

from robot_dynamics_ros.errors import ArgumentError

LARGEST_CORE = 65535
"""Largest number of a core that is accepted; whether a machine has the core, its operating system says."""
MCL_CURRENT, MCL_FUTURE = 1, 2
"""Flags of mlockall: present pages, future pages."""


def cores_of(numbers) -> tuple[int, ...]:
    """Return the cores that the parameter ``cores`` names, none for [-1]; ArgumentError for a number of no core."""
    for number in numbers:
        if not -1 <= number <= LARGEST_CORE:
            raise ArgumentError(f'cores: expected CPU cores, 0 to {LARGEST_CORE}, or -1 for all, got {number}')
    return tuple(number for number in numbers if number >= 0)


class Schedule(NamedTuple):
    """How a thread is scheduled."""

    priority: int  # of SCHED_FIFO, 1 to 99; 0: default scheduling
    cores: tuple[int, ...]  # on which it may run; none: all
    lock_memory: bool  # of the whole process


def apply(schedule: Schedule) -> list[str]:
    """Schedule the calling thread; return what was refused, a line each.

    The priority also applies to threads that Python did not create: the middleware's, which receive the messages.
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
        except (OSError, ValueError, OverflowError) as error:
            refused.append(f'cores {list(schedule.cores)}: {error}; the thread may run on every core')
    if schedule.lock_memory:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mlockall(MCL_CURRENT | MCL_FUTURE):
            refused.append(f'lock_memory: {os.strerror(ctypes.get_errno())}; memory may be swapped out')
    return refused
