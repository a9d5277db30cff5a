"""What compiled time steps read and write: the plan of a simulation, and the arrays of some states."""

from typing import NamedTuple

import numpy as np


class Plan(NamedTuple):
    """Method and length of a simulation, the same for all states."""

    h: float  # s, one step
    nodes: np.ndarray  # (stages,)      of the time step; u = h node K is the step to the state of a stage
    weights: np.ndarray  # (stages,)    of the derivatives in a step
    semi_implicit: bool  # whether positions move at the velocity after the step
    elementary: bool  # whether a position's step is a sum of coordinates
    friction: bool
    work: bool  # whether there is a torque
    limits: bool
    steps: int
    every: int  # steps between two samples


class Buffers(NamedTuple):
    """Arrays of ``count`` states in rows, flat."""

    q: np.ndarray  # (count nq)      at the beginning of the step
    qd: np.ndarray  # (count nv)
    q_s: np.ndarray  # (count nq)    of the stage
    qd_s: np.ndarray  # (count nv)
    u: np.ndarray  # (count nv)      step from q to q_s
    K: np.ndarray  # (count nv)      velocity of the step, du/dt
    qdd: np.ndarray  # (count nv)
    tau: np.ndarray  # (count nv)    applied torque
    net: np.ndarray  # (count nv)    applied torque minus friction
    dq: np.ndarray  # (count nv)     h times the weighted sum of K
    dqd: np.ndarray  # (count nv)    h times the weighted sum of qdd
    work: np.ndarray  # (count nv)   J, of net since the start
    M_inv: np.ndarray  # (count nv nv), or (0) without limits


class Stops(NamedTuple):
    """Position limits of the joints that have some."""

    coordinates: np.ndarray  # (m,) int64    index in q
    velocities: np.ndarray  # (m,) int64     index in qd
    lower: np.ndarray  # (m,) rad, m
    upper: np.ndarray  # (m,) rad, m
    restitution: float  # velocity after an impact / minus velocity before it


class Calls(NamedTuple):
    """Code of forward dynamics and of the inverse mass matrix for the rows of ``Buffers``; see ``array_call.Rows``."""

    forward: int
    forward_last: int  # argument of that code
    start: np.ndarray  # (3 or 4,) int64     addresses of q, qd, the torque, and wrenches
    stage: np.ndarray  # (3 or 4,) int64     the same with q_s and qd_s
    inverse: int
    inverse_last: int
    load: np.ndarray  # (19,)
    states: int
