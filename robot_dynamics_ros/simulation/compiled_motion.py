"""Fixed steps by compiled code: blocks of states on several cores, each a trajectory without a call of Python."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.codegen.states_code import StatesCode
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.robot.described_robot import evaluator_of
from robot_dynamics_ros.robot.quantity_key import QuantityKey
from robot_dynamics_ros.simulation.simulation_setup import Samples, Setup
from robot_dynamics_ros.simulation.step_arrays import Buffers, Calls, LoopCalls
from robot_dynamics_ros.simulation.torque_inputs import HeldRows
from robot_dynamics_ros.simulation.trajectory_loop import trajectory

BLOCK = 64
"""Number of states that a thread simulates together: their arrays fit in the first cache."""


def is_compiled(setup: Setup) -> bool:
    """Return whether compiled code does all steps: the torque is an array, and wrenches do not depend on q."""
    several = isinstance(setup.wrenches, dict) and len(setup.wrenches) > 1
    return not numba_is_disabled() and isinstance(setup.torque, HeldRows) and not several


def compiled_motion(setup: Setup, threads: int | None) -> Samples:
    """Return the samples of all states, by ``threads`` cores (None: all).

    ArgumentError names the time at which a state is not finite.
    """
    samples = setup.samples()
    count = len(setup.q)
    threads = threads or len(os.sched_getaffinity(0))
    size = max(1, min(BLOCK, -(-count // threads)))
    blocks = [slice(i, min(i + size, count)) for i in range(0, count, size)]
    threads = min(threads, len(blocks))
    parts = [blocks[k::threads] for k in range(threads)]
    if threads == 1:
        _simulate(setup, blocks, samples)
    else:
        with ThreadPoolExecutor(threads) as pool:
            for finished in [pool.submit(_simulate, setup, part, samples) for part in parts]:
                finished.result()
    return samples


def _simulate(setup: Setup, blocks: list[slice], samples: Samples) -> None:
    """Write the samples of some blocks of states, by one thread and by code of its own workspace."""
    robot, plan, torque = setup.robot, setup.plan, setup.torque
    assert isinstance(torque, HeldRows)
    evaluator = evaluator_of(robot)
    key = QuantityKey('forward_dynamics')
    wrenches = np.zeros((len(setup.q), 0))
    if setup.wrenches is not None:
        vectors = setup.q, setup.qd, setup.wrenches
        key, (_, _, wrenches) = evaluator.with_wrenches(key.name, setup.reference_frame, vectors)
    forward = evaluator.states_code(key, float(plan.steps) * len(plan.nodes) * len(setup.q), len(setup.q) > 1)
    inverse = evaluator.states_code(QuantityKey('mass_matrix_inverse'), 0.0, many=False) if plan.limits else None
    closing: dict[str, StatesCode] = {}
    if plan.projection:
        evaluations, many = float(plan.steps) * len(setup.q), len(setup.q) > 1
        closing = {
            name: evaluator.states_code(QuantityKey(name), evaluations, many)
            for name in ('loop_errors', 'loop_rates', 'loop_step')
        }
        closing['loop_jacobian'] = evaluator.states_code(QuantityKey('loop_jacobian'), 0.0, many=False)
    size = 0
    for states in blocks:
        if states.stop - states.start != size:
            # all blocks but the last one have the same size
            size = states.stop - states.start
            # whole blocks: their states take less time than single ones
            count = -(-size // forward.lanes) * forward.lanes if size >= forward.lanes else size
            x = Buffers.of(plan, count, robot.nq, robot.nv, robot.model.arrays.constraints, len(setup.stops.lower))
            given = np.zeros((count, wrenches.shape[1]))
            stages = [
                (q, qd, x.net if plan.friction else x.tau, given) for q, qd in zip(x.positions, x.qd, strict=True)
            ]
            calls = Calls(
                forward=_program(forward),
                vectors=np.array([[array.ctypes.data for array in arrays] for arrays in stages]),
                inverse=_program(inverse),
                loops=LoopCalls(
                    errors=_program(closing.get('loop_errors')),
                    rates=_program(closing.get('loop_rates')),
                    jacobian=_program(closing.get('loop_jacobian')),
                    step=_program(closing.get('loop_step')),
                    of_step=np.array([x.q.ctypes.data, x.change.ctypes.data]),
                ),
                inputs=evaluator.inputs,
                states=count,
            )
            fixed = robot.model.arrays, plan, x, calls, torque.rows, np.array(robot.friction), setup.stops
            rows = (array.reshape(len(array), -1) for array in samples)
            simulated = bound(trajectory, *fixed, *rows, then=(0, 0), nogil=True)
        setup.start(x, states)
        given[:size] = wrenches[states]
        step = simulated(states.start, size)
        if plan.projection:
            setup.jumps[:, states] = x.jump[:2, :size]
        if step:
            q, qd = (rows[: size * n].reshape(size, n) for rows, n in ((x.q, robot.nq), (x.qd[0], robot.nv)))
            setup.check_finite(q, qd, step, states.start)


def _program(code: StatesCode | None) -> int:
    """Return the address of the program of a quantity; 0 for one that is not called."""
    return code.words.ctypes.data if code else 0
