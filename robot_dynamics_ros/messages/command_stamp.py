"""Stamp of the joint state that a command answers, in the layout of its Float64MultiArray.

The type has no header. Controllers read the numbers alone; simulated_arm reads the stamp, too. A dimension of the
layout carries it: its label is ``LABEL``, its size the seconds and its stride the nanoseconds, both 0 where a command
answers no state, as in a ramp to zero.
"""

from std_msgs.msg import Float64MultiArray, MultiArrayDimension

SECOND = 1_000_000_000
LABEL = 'state_stamp'


def stamped(size: int) -> Float64MultiArray:
    """Return a message with ``size`` numbers that answers no state."""
    message = Float64MultiArray(data=[0.0] * size)
    message.layout.dim = [MultiArrayDimension(label=LABEL)]
    return message


def answered_stamp(message: Float64MultiArray) -> int:
    """Return the stamp (ns) of the state that a message answers, 0 where it names none."""
    return next((it.size * SECOND + it.stride for it in message.layout.dim if it.label == LABEL), 0)
