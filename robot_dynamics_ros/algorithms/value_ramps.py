"""Numbers that change linearly over time, as payload and gravity do: their values, and which change continues another.

Nodes and controllers follow such changes in messages of a dynamics_server (``control/payload/ramp.py``). Functions are
exported as C, too: they take lists, or arrays, of ``count`` numbers.
"""

ROUNDING = 1e-12
"""Of values that went through a message, relative to their magnitude."""


def write_between(count, before, after, share, result):
    """Write the value at a ``share`` of the change from ``before`` to ``after`` into ``result``."""
    for k in range(count):
        between = (1.0 - share) * before[k] + share * after[k]
        result[k] = before[k] if share <= 0.0 else between
        result[k] = after[k] if share >= 1.0 else result[k]


def continues(count, before, after, own, late, held_before, held_after, held, held_late, is_asked_for):
    """Return whether a change continues another one, which is ``held`` now, without a step.

    Each number of its ``own`` value now is the held one to within what both change in the time by which they may be
    known late: so large a share of the whole change is ``late`` and ``held_late``. Or a step ``is_asked_for``, and
    begins at the held value.
    """
    largest = 0.0
    for k in range(count):
        largest = max(largest, abs(held[k]))
        largest = max(largest, abs(before[k]))
        largest = max(largest, abs(after[k]))
    rounding, is_small, begins = ROUNDING * largest, True, is_asked_for
    for k in range(count):
        room = rounding + late * abs(after[k] - before[k]) + held_late * abs(held_after[k] - held_before[k])
        is_small = is_small and abs(held[k] - own[k]) <= room
        begins = begins and abs(held[k] - before[k]) <= rounding
    return is_small or begins
