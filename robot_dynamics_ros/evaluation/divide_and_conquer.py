"""Forward dynamics by the divide-and-conquer algorithm, on one core or on several."""

import os
import threading
from collections.abc import Callable

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.evaluation.evaluator import Evaluator, Key, filled
from robot_dynamics_ros.evaluation.tiered_compilation import in_threads
from robot_dynamics_ros.evaluation.wrench_inputs import check_finite, rows_on_links
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Integers, Matrix, Vector
from robot_dynamics_ros.kernels.divide_and_conquer.free_links import fixed_base, no_wrenches
from robot_dynamics_ros.kernels.divide_and_conquer.passes import join, separate
from robot_dynamics_ros.kernels.divide_and_conquer.velocities import angular_velocity, join_rotations
from robot_dynamics_ros.kernels.wrenches import wrenches_on_links
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.assembly import Assembly, AssemblyWorkspace
from robot_dynamics_ros.model.loops import check_tree
from robot_dynamics_ros.model.model import Model

METHOD = 'divide_and_conquer'
PHASES = 6
"""Phases of a state. Those of an even number compute the last part of the order, which joins all others; the others in
between compute these, in any order."""
LEAST_LINKS_OF_A_THREAD = 1500
"""Minimum number of links per thread.

A cable needs with two threads, relative to one: 1.2 for 1,000 links, 0.9 for 3,000, 0.56 for 10,000 (2026-11-22).
"""

LARGEST_ERROR = 1e-7
"""Largest difference between joint torques and those of the accelerations, of the largest torque.

Cables of 10,000 links have 6e-12, chains with masses that differ by 1e6 have 1e-8, by 1e12 up to 4e-3. Accelerations
are off by up to 100 times as much (2026-11-28).
"""


class DivideAndConquer:
    """Forward dynamics of one robot by divide and conquer; results have the same bits for any number of threads."""

    def __init__(self, model: Model, threads: int | None = None):
        """Compute the order of assembly; ModelError for closed loops, and a link without mass or rotational inertia.

        ``threads`` is the largest number of cores for a state (None: all).
        """
        check_tree(model, 'divide and conquer')
        threads = threads or len(os.sched_getaffinity(0))
        self._arrays = model.arrays
        self._parts = max(1, min(threads, model.arrays.n // LEAST_LINKS_OF_A_THREAD))
        self._assembly = Assembly.of(model.arrays, model.link_names, self._parts)
        self._own = threading.local()

    def compute(self, vectors, gravity: np.ndarray, reference_frame: int, qdd: np.ndarray) -> None:
        """Write qdd (count, nv) of states in rows.

        ``vectors`` are rows of q, qd, tau, wrenches (in ``reference_frame``, see ``kernels.wrenches``) and
        base motion (velocity and acceleration); the last two may have no columns. ``gravity`` (3, m/s^2) is in the
        base frame.
        """
        states, parts = self._states(), self._parts
        if parts == 1:
            states(*vectors, gravity, qdd, _plan(0, PHASES, 0, 2, reference_frame))
            return
        for b in range(len(qdd)):
            one = (*(vector[b : b + 1] for vector in vectors), gravity, qdd[b : b + 1])
            for phase in range(PHASES):
                if phase % 2 == 0:
                    states(*one, _plan(phase, phase + 1, parts, parts + 1, reference_frame))
                else:
                    plans = [_plan(phase, phase + 1, part, part + 1, reference_frame) for part in range(parts)]
                    in_threads(states, [(*one, plan) for plan in plans])

    def _states(self) -> Callable:
        """Return the compiled function for states in rows, with a workspace of this thread."""
        if not hasattr(self._own, 'states'):
            row, work = np.zeros((0, 0)), AssemblyWorkspace.of(self._arrays)
            then = (row, row, row, row, row, np.zeros(3), row, _plan(0, 0, 0, 0, 0))
            self._own.states = bound(_states, self._arrays, self._assembly, work, then=then, nogil=True)
        return self._own.states


def evaluate(evaluator: Evaluator, computation: DivideAndConquer, out, wrenches, reference_frame: str, base, *vectors):
    """Return qdd (..., nv) for q, qd and tau, as ``Robot.forward_dynamics`` does.

    ``base`` are velocity and acceleration (..., 6 each) of the base or None. Raises ArgumentError, UnknownNameError for
    wrenches, and ModelError where the accelerations do not need the torques.
    """
    validation.choice('reference_frame', reference_frame, validation.REFERENCE_FRAMES)
    named = dict(zip(('q', 'qd', 'tau'), vectors, strict=True))
    moving = any(motion is not None for motion in base)
    if moving:
        names = 'base_velocity', 'base_acceleration'
        named |= {name: np.zeros(6) if it is None else it for name, it in zip(names, base, strict=True)}
    if wrenches is not None:
        pose = evaluator.pose(vectors[0])
        form, numbers = rows_on_links(evaluator.model, wrenches, reference_frame, vectors, pose)
        check_finite(wrenches)
        named[form] = numbers
    rows, shape = evaluator.states(**named)
    name = 'inverse_dynamics_on_moving_base' if moving else 'inverse_dynamics'
    key = name if wrenches is None else (name, None, reference_frame, form)
    none = np.zeros((len(rows[0]), 0))
    motion = np.hstack(rows[3:5]) if moving else none
    forces = none if wrenches is None else rows[-1]
    given, result = validation.result(out, (*shape, evaluator.arrays.nv), rows)
    qdd = result.reshape(len(rows[0]), evaluator.arrays.nv)
    index_of_frame = validation.REFERENCE_FRAMES.index(reference_frame)
    computation.compute((*rows[:3], forces, motion), evaluator.inputs[:3], index_of_frame, qdd)
    if not np.isfinite(qdd).all():
        raise ArgumentError(f'forward dynamics: the result is not finite; some of {", ".join(named)} are too large')
    _check_torques(evaluator, key, rows, qdd)
    return filled(given, result)


def _check_torques(evaluator: Evaluator, key: Key, rows, qdd: np.ndarray) -> None:
    """Raise ModelError for states whose accelerations do not need their torques, by inverse dynamics, a ``key``."""
    q, qd, tau, *others = rows
    needed, bias = (evaluator.result(key, q, qd, it, *others) for it in (qdd, np.zeros_like(qdd)))
    if evaluator.arrays.has_springs:
        needed -= evaluator.result('spring_torque', q, qd)
    largest = np.maximum(np.abs(tau), np.abs(bias)).max(-1, initial=0.0)
    errors = np.abs(needed - tau).max(-1, initial=0.0)
    if (errors > LARGEST_ERROR * largest).any():
        share = (errors / np.maximum(largest, np.finfo(float).tiny)).max()
        raise ModelError(
            f'divide and conquer: torques of the accelerations are off by {share:.2g} of the largest one, more than '
            f'{LARGEST_ERROR:g}: masses of links differ too much, or links are too small for the distances between '
            'them; use another method'
        )


def _plan(*numbers: int) -> np.ndarray:
    """Return first and last phase, first and last part, and reference frame for ``_states``."""
    return np.array(numbers, np.int64)


@compiled(given='q qd tau wrenches base gravity qdd plan')
def _states(
    model: ModelArrays,
    assembly: Assembly,
    work: AssemblyWorkspace,
    q: Matrix,
    qd: Matrix,
    tau: Matrix,
    wrenches: Matrix,
    base: Matrix,
    gravity: Vector,
    qdd: Matrix,
    plan: Integers,
) -> None:
    """Write qdd (count, nv) for states in rows: the phases plan[0] to, but without, plan[1].

    Of the parts, those from plan[2] to, but without, plan[3] are computed; wrenches are in the reference frame plan[4].
    """
    last = assembly.starts.shape[0] - 2
    for b in range(q.shape[0]):
        for phase in range(plan[0], plan[1]):
            if phase == 0:
                fixed_base(work, base[b], gravity)
                if wrenches.shape[1] > 0:
                    wrenches_on_links(model, work, q[b], wrenches[b], plan[4])
                else:
                    no_wrenches(work.f_ext)
            for part in range(plan[2], plan[3]):
                if (part == last) == (phase % 2 == 0):
                    begin, end = assembly.starts[part], assembly.starts[part + 1]
                    if 1 <= phase <= 2:
                        for m in range(begin, end):
                            join_rotations(model, assembly, work, q[b], qd[b], assembly.order[m])
                    if 2 <= phase <= 3:
                        for m in range(end - 1, begin - 1, -1):
                            angular_velocity(assembly, work, assembly.order[m])
                    if 3 <= phase <= 4:
                        for m in range(begin, end):
                            join(model, assembly, work, q[b], qd[b], tau[b], assembly.order[m])
                    if phase >= 4:
                        for m in range(end - 1, begin - 1, -1):
                            separate(model, assembly, work, assembly.order[m], qdd[b])
