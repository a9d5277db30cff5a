"""Arrays of the compiled integrator: settings of a simulation, and buffers of a batch of states."""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.jit.kinds import IntegerMatrix, Integers, Matrix, Vector
from robot_dynamics_ros.model.arrays import aligned_zeros


class Plan(NamedTuple):
    """Method and length of a simulation, the same for all states."""

    h: float  # s, one step
    nodes: Vector  # (stages,)      of the time step; u = h node K is the step to the state of a stage
    weights: Vector  # (stages,)    of the derivatives in a step
    semi_implicit: bool  # whether positions move at the velocity after the step
    elementary: bool  # whether a position's step is a sum of coordinates
    friction: bool
    work: bool  # whether there is a torque
    limits: bool
    projection: bool  # whether closed loops are closed again after each step
    steps: int
    every: int  # steps between two samples


class Buffers(NamedTuple):
    """Arrays of ``count`` states in rows, flat."""

    q: Vector  # (count nq)               at the beginning of the step
    q_s: Vector  # (count nq)             of the stage
    qd: Matrix  # (stages, count nv)      of each stage; the first one is that at the beginning of the step
    qdd: Matrix  # (stages, count nv)
    K: Matrix  # (stages, count nv)       velocity of the step, du/dt; not written where it is qd
    u: Vector  # (count nv)               step from q to q_s, and to q after the step
    dqd: Vector  # (count nv)             change of qd in the step
    tau: Vector  # (count nv)             applied torque
    net: Vector  # (count nv)             applied torque minus friction
    work: Vector  # (count nv) J          of net since the start
    M_inv: Vector  # (count nv nv), or (0) without limits
    side: Vector  # (count m_l)           1, -1 where a joint was beyond its upper, lower limit
    change: Vector  # (count m)           of the constraints of closed loops by a step, or (0) without projection
    J: Vector  # (count m nv)             of the loops, or (0) without limits or projection
    jump: Matrix  # (3, count)            see ``loop_projection.record_jumps``, or (3, 0) without projection

    @classmethod
    def of(cls, plan: Plan, count: int, nq: int, nv: int, m: int = 0, m_l: int = 0) -> 'Buffers':
        """Return arrays for ``count`` states of ``nq`` positions and ``nv`` velocities.

        ``m`` is the number of constraints of closed loops, ``m_l`` that of joints with limits.

        Those of a whole block begin at lines of the cache: a step of 1,000 arms needs 2 % less time (2026-11-22).
        """
        qd, qdd, K = aligned_zeros((3, len(plan.nodes), count * nv))
        u, dqd, tau, net, work = aligned_zeros((5, count * nv))
        M_inv, side = np.zeros(count * nv * nv if plan.limits else 0), np.zeros(count * m_l)
        q, q_s = aligned_zeros((2, count * nq))
        rows = count * m if plan.projection else 0
        change, J = np.zeros(rows), np.zeros(rows * nv if plan.limits else 0)
        jump = np.zeros((3, count if plan.projection else 0))
        return cls(q, q_s, qd, qdd, K, u, dqd, tau, net, work, M_inv, side, change, J, jump)

    @property
    def positions(self) -> list[np.ndarray]:
        """The positions of each stage."""
        return [self.q, *[self.q_s] * (len(self.qd) - 1)]


class Stops(NamedTuple):
    """Position limits of the joints that have some."""

    coordinates: Integers  # (m,) int64    index in q
    velocities: Integers  # (m,) int64     index in qd
    lower: Vector  # (m,) rad, m
    upper: Vector  # (m,) rad, m
    restitution: float  # velocity after an impact / minus velocity before it


class LoopCalls(NamedTuple):
    """Programs of the quantities of closed loops for the rows of ``Buffers``, see ``compiled_calls.call_rows``."""

    errors: int
    rates: int
    jacobian: int
    step: int
    of_step: Integers  # (2,) int64     addresses of q and change


class Calls(NamedTuple):
    """Programs of forward dynamics, the inverse mass matrix and closed loops for the rows of ``Buffers``."""

    forward: int
    vectors: IntegerMatrix  # (stages, 3 or 4) int64     addresses of q or q_s, qd[s], the torque, and wrenches
    inverse: int
    loops: LoopCalls
    inputs: Vector  # (19,)
    states: int
