"""Fixed steps: whole trajectories by compiled code, or step by step where a torque is computed in Python."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from robot_dynamics_ros.compiler.bound_function import bound
from robot_dynamics_ros.compiler.compiled_robot import is_possible
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.evaluation.dynamics import evaluator_of
from robot_dynamics_ros.evaluation.evaluator import Key
from robot_dynamics_ros.evaluation.external_forces import key_and_rows
from robot_dynamics_ros.simulation.position_limits import is_beyond, stop
from robot_dynamics_ros.simulation.simulation_setup import Setup, buffers_of
from robot_dynamics_ros.simulation.step_arrays import Buffers, Calls
from robot_dynamics_ros.simulation.time_steps import begin_stage, end_stage, end_step, subtract_friction
from robot_dynamics_ros.simulation.torque_inputs import HeldRows
from robot_dynamics_ros.simulation.trajectory_loop import trajectory

BLOCK = 64
"""Number of states that a thread simulates together: their arrays fit in the first cache."""


def fixed_motion(setup: Setup, threads: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return q (samples, count, nq), qd and work (samples, count) of all states, by ``threads`` cores (None: all).

    ArgumentError names the time at which a state is not finite.
    """
    samples = setup.samples()
    if not _is_compiled(setup):
        _step_by_step(setup, *samples)
        return samples
    count = len(setup.q)
    threads = threads or len(os.sched_getaffinity(0))
    size = max(1, min(BLOCK, -(-count // threads)))
    blocks = [slice(i, min(i + size, count)) for i in range(0, count, size)]
    threads = min(threads, len(blocks))
    parts = [blocks[k::threads] for k in range(threads)]
    if threads == 1:
        _compute(setup, blocks, samples)
    else:
        with ThreadPoolExecutor(threads) as pool:
            for finished in [pool.submit(_compute, setup, part, samples) for part in parts]:
                finished.result()
    return samples


def _is_compiled(setup: Setup) -> bool:
    """Return whether compiled code does all steps: the torque is an array, and wrenches do not depend on q."""
    several = isinstance(setup.wrenches, dict) and len(setup.wrenches) > 1
    return is_possible() and isinstance(setup.torque, HeldRows) and not several


def _compute(setup: Setup, blocks: list[slice], samples: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """Write the samples of some blocks of states, by one thread and by code of its own workspace."""
    robot, plan, torque = setup.robot, setup.plan, setup.torque
    assert isinstance(torque, HeldRows)
    evaluator = evaluator_of(robot)
    key: Key = 'forward_dynamics'
    wrenches = np.zeros((len(setup.q), 0))
    if setup.wrenches is not None:
        vectors = setup.q, setup.qd
        key, wrenches = key_and_rows(evaluator, 'forward_dynamics', setup.wrenches, setup.reference_frame, vectors)
    forward = evaluator.rows(key, float(plan.steps) * len(plan.nodes) * len(setup.q), len(setup.q) > 1)
    inverse = evaluator.rows('mass_matrix_inverse', 0.0, many=False) if plan.limits else None
    for states in blocks:
        by_blocks = forward.blocks != 0 and states.stop - states.start >= forward.lanes
        x = buffers_of(setup, states, forward.lanes if by_blocks else 1)
        count = len(x.qd) // robot.nv
        applied = x.net if plan.friction else x.tau
        rows = np.zeros((count, wrenches.shape[1]))
        rows[: states.stop - states.start] = wrenches[states]
        calls = Calls(
            forward=forward.blocks if by_blocks else forward.rows,
            forward_last=0 if by_blocks else forward.context,
            start=np.array([array.ctypes.data for array in (x.q, x.qd, applied, rows)]),
            stage=np.array([array.ctypes.data for array in (x.q_s, x.qd_s, applied, rows)]),
            inverse=inverse.rows if inverse else 0,
            inverse_last=inverse.context if inverse else 0,
            load=evaluator.load,
            states=count,
        )
        some = torque.rows if len(torque.rows) == 1 else torque.rows[states]
        simulated = bound(
            trajectory,
            *(robot.model.arrays, plan, x, calls, some, robot.friction, setup.stops),
            *(states.start, states.stop - states.start),
            *(array.reshape(len(array), -1) for array in samples),
            nogil=True,
        )
        step = simulated()
        if step:
            raise _divergence(setup, x, step, states.start)


def _step_by_step(setup: Setup, q: np.ndarray, qd: np.ndarray, work: np.ndarray) -> None:
    """Write the samples of all states, with calls from Python for each stage of a step."""
    robot, plan, torque, everything = setup.robot, setup.plan, setup.torque, slice(0, len(setup.q))
    x = buffers_of(setup, everything, 1)
    of_x = Buffers(*(rows.reshape(len(setup.q), -1) for rows in x))
    begin, end = (bound(stage, robot.model.arrays, plan, x, then=(0,)) for stage in (begin_stage, end_stage))
    end_all = bound(end_step, robot.model.arrays, plan, x)
    subtract = bound(subtract_friction, robot.friction, x, then=(np.zeros(0),))
    beyond, keep_within = (bound(function, setup.stops, x, robot.nv) for function in (is_beyond, stop))
    for k in range(plan.steps):
        for s, node in enumerate(plan.nodes):
            t = plan.h * (k + node)
            if s > 0:
                begin(s)
            position, velocity = (of_x.q_s, of_x.qd_s) if s > 0 else (of_x.q, of_x.qd)
            if s == 0 or not torque.is_held:
                of_x.tau[:] = torque(t, position, velocity)
            if plan.friction:
                subtract(velocity.ravel())
            applied = of_x.net if plan.friction else of_x.tau
            setup.forward_dynamics(t, position, velocity, applied, everything, of_x.qdd)
            end(s)
        end_all()
        if plan.limits and beyond():
            x.M_inv[:] = robot.mass_matrix_inverse(of_x.q).ravel()
            keep_within()
        if (k + 1) % plan.every == 0:
            if not np.isfinite(x.qd).all():
                raise _divergence(setup, x, k + 1, 0)
            sample = (k + 1) // plan.every
            q[sample], qd[sample], work[sample] = of_x.q, of_x.qd, of_x.work.sum(axis=1)


def _divergence(setup: Setup, x: Buffers, step: int, first: int) -> ArgumentError:
    """Return the error for a state that is not finite after a step; ``first`` is the number of the first state."""
    finite = np.isfinite(x.qd.reshape(-1, setup.robot.nv)).all(axis=1)
    state = f' of start state {first + int(np.argmin(finite))}' if len(setup.q) > 1 else ''
    return ArgumentError(
        f'simulation: the state{state} is not finite after {step * setup.plan.h:g} s; choose a smaller step than '
        f'{setup.plan.h:g} s, or a method of higher order'
    )
