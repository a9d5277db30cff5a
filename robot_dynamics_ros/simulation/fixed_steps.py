"""Fixed steps: whole trajectories by compiled code, or step by step where a torque is computed in Python."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from robot_dynamics_ros.compiler.compiled_robot import is_possible
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.evaluation.evaluator import Key
from robot_dynamics_ros.evaluation.external_forces import key_and_rows
from robot_dynamics_ros.simulation import time_steps
from robot_dynamics_ros.simulation.simulation_setup import Setup, buffers_of
from robot_dynamics_ros.simulation.time_steps import Buffers, Calls
from robot_dynamics_ros.simulation.torque_inputs import HeldRows

BLOCK = 64
"""Number of states that a thread simulates together: their arrays fit in the first cache."""


def fixed_motion(setup: Setup, threads: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return q (count, samples, nq), qd and work (count, samples) of all states, by ``threads`` cores (None: all).

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
    evaluator = robot._evaluator
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
        count = len(x.work)
        applied = x.net if plan.friction else x.tau
        rows = np.zeros((count, wrenches.shape[1]))
        rows[: states.stop - states.start] = wrenches[states]
        calls = Calls(
            forward=forward.blocks if by_blocks else forward.rows,
            forward_last=0 if by_blocks else forward.context,
            vectors=np.array([array.ctypes.data for array in (x.q_s, x.qd_s, applied, rows)]),
            inverse=inverse.rows if inverse else 0,
            inverse_last=inverse.context if inverse else 0,
            positions=np.array([x.q.ctypes.data]),
            load=evaluator.load,
            states=count,
        )
        some = torque.rows if len(torque.rows) == 1 else torque.rows[states]
        written = (array[states] for array in samples)
        step = time_steps.trajectory(robot.model.arrays, plan, x, calls, some, robot.friction, setup.stops, *written)
        if step:
            raise _divergence(setup, x, step, states.start)


def _step_by_step(setup: Setup, q: np.ndarray, qd: np.ndarray, work: np.ndarray) -> None:
    """Write the samples of all states, with calls from Python for each stage of a step."""
    robot, plan, torque, everything = setup.robot, setup.plan, setup.torque, slice(0, len(setup.q))
    arrays, nv = robot.model.arrays, robot.nv
    x = buffers_of(setup, everything, 1)
    position, velocity, tau, net, qdd = (
        rows.reshape(len(setup.q), -1) for rows in (x.q_s, x.qd_s, x.tau, x.net, x.qdd)
    )
    for k in range(plan.steps):
        for s, node in enumerate(plan.nodes):
            t = plan.h * (k + node)
            time_steps.begin_stage(arrays, plan, x, node)
            if s == 0 or not torque.is_held:
                tau[:] = torque(t, position, velocity)
            if plan.friction:
                time_steps.subtract_friction(robot.friction, x)
            applied = net if plan.friction else tau
            setup.forward_dynamics(t, position, velocity, applied, everything, qdd)
            time_steps.end_stage(arrays, plan, x, s)
        if not time_steps.end_step(arrays, plan, x):
            raise _divergence(setup, x, k + 1, 0)
        if plan.limits and time_steps.is_beyond(setup.stops, x, nv):
            x.M_inv[:] = robot.mass_matrix_inverse(x.q.reshape(position.shape)).ravel()
            time_steps.stop(setup.stops, x, nv)
        if (k + 1) % plan.every == 0:
            sample = (k + 1) // plan.every
            q[:, sample], qd[:, sample] = x.q.reshape(position.shape), x.qd.reshape(velocity.shape)
            work[:, sample] = x.work


def _divergence(setup: Setup, x: Buffers, step: int, first: int) -> ArgumentError:
    """Return the error for a state that is not finite after a step; ``first`` is the number of the first state."""
    finite = np.isfinite(x.qd.reshape(len(x.work), -1)).all(axis=1)
    state = f' of start state {first + int(np.argmin(finite))}' if len(setup.q) > 1 else ''
    return ArgumentError(
        f'simulation: the state{state} is not finite after {step * setup.plan.h:g} s; choose a smaller step than '
        f'{setup.plan.h:g} s, or a method of higher order'
    )
