"""Fixed-step integration driven from Python, for torques that are computed in Python."""

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.simulation.loop_projection import ROUNDS, opposite, record_jumps
from robot_dynamics_ros.simulation.position_limits import begin_column, end_column, is_beyond, step_within, stop
from robot_dynamics_ros.simulation.simulation_setup import Samples, Setup
from robot_dynamics_ros.simulation.step_arrays import Buffers
from robot_dynamics_ros.simulation.time_steps import (
    begin_stage,
    change_velocities,
    end_stage,
    end_step,
    move_positions,
    subtract_friction,
)


def stepwise_motion(setup: Setup) -> Samples:
    """Return the samples of all states; ArgumentError names the time at which a state is not finite."""
    robot, plan, torque, everything = setup.robot, setup.plan, setup.torque, slice(0, len(setup.q))
    q, qd, work = samples = setup.samples()
    arrays, count = robot.model.arrays, len(setup.q)
    x = Buffers.of(plan, count, robot.nq, robot.nv, arrays.constraints, len(setup.stops.lower))
    setup.start(x, everything)
    begin, end = (bound(stage, arrays, plan, x, then=(0,)) for stage in (begin_stage, end_stage))
    end_all = bound(end_step, arrays, plan, x)
    subtract = bound(subtract_friction, np.array(robot.friction), x, then=(0,))
    are_beyond, stop_all = (bound(function, setup.stops, x, robot.nv) for function in (is_beyond, stop))
    record = bound(record_jumps, x, robot.nv, then=(0,))
    loops = _Loops(setup, x, are_beyond)
    # the same memory with a row for each state
    tau, applied, powers = (rows.reshape(count, -1) for rows in (x.tau, x.net if plan.friction else x.tau, x.work))
    positions = [rows.reshape(count, -1) for rows in x.positions]
    velocities, accelerations = (rows.reshape(len(plan.nodes), count, -1) for rows in (x.qd, x.qdd))
    for k in range(plan.steps):
        for s, node in enumerate(plan.nodes):
            t = plan.h * (k + node)
            if s > 0:
                begin(s)
            if s == 0 or not torque.is_held:
                tau[:] = torque(t, positions[s], velocities[s])
            if plan.friction:
                subtract(s)
            setup.forward_dynamics(t, positions[s], velocities[s], applied, everything, accelerations[s])
            end(s)
        end_all()
        if plan.projection:
            beyond = loops.close_positions(t)
            loops.close_velocities(t)
            record(k + 1)
        else:
            beyond = plan.limits and are_beyond()
            if beyond:
                loops.invert(t)
        if beyond:
            stop_all()
        if (k + 1) % plan.every == 0:
            setup.check_finite(positions[0], velocities[0], k + 1, 0)
            sample = (k + 1) // plan.every
            q[sample], qd[sample], work[sample] = positions[0], velocities[0], powers.sum(axis=1)
    setup.jumps[:, : x.jump.shape[1]] = x.jump[:2]
    return samples


class _Loops:
    """What ``loop_projection`` does, with calls from Python; each method is that of the same name there."""

    def __init__(self, setup: Setup, x: Buffers, are_beyond: Callable[[], bool]):
        """Bind the compiled functions to the states in ``x``."""
        arrays, plan, count, nv = setup.robot.model.arrays, setup.plan, len(setup.q), setup.robot.nv
        self._setup, self._stops, self._are_beyond = setup, setup.stops, are_beyond
        self._q, self._qd, self._u = (rows.reshape(count, -1) for rows in (x.q, x.qd[0], x.u))
        self._change = x.change.reshape(count, -1)
        # without limits both are empty
        self._M_inv = x.M_inv.reshape(count if len(x.M_inv) else 0, nv, nv)
        self._J = x.J.reshape(count if len(x.J) else 0, arrays.constraints, nv)
        self._opposite = bound(opposite, x.change)
        self._move = bound(move_positions, arrays, plan, x)
        self._change_velocities = bound(change_velocities, x)
        self._step_within = bound(step_within, setup.stops, x, nv)
        self._begin_column, self._end_column = (bound(it, x, nv, then=(0,)) for it in (begin_column, end_column))

    def close_positions(self, t: float) -> bool:
        """Write q and M_inv."""
        beyond = False
        for k in range(ROUNDS):
            if k % 2 == 0:
                self._setup.evaluate(t, 'loop_errors', self._change, self._q)
                self._opposite()
                self._step(t)
            else:
                self.invert(t)
                self._setup.evaluate(t, 'loop_jacobian', self._J, self._q)
                for velocity in self._stops.velocities:
                    self._begin_column(int(velocity))
                    self._step(t)
                    self._end_column(int(velocity))
                self._step_within()
            self._move()
            if k == 0:
                beyond = self._setup.plan.limits and self._are_beyond()
                if not beyond:
                    break
        return beyond

    def close_velocities(self, t: float) -> None:
        """Write qd."""
        self._setup.evaluate(t, 'loop_rates', self._change, self._q, self._qd)
        self._opposite()
        self._step(t)
        self._change_velocities()

    def invert(self, t: float) -> None:
        """Write M_inv, that of the tree."""
        self._setup.evaluate(t, 'mass_matrix_inverse', self._M_inv, self._q)

    def _step(self, t: float) -> None:
        """Write u."""
        self._setup.evaluate(t, 'loop_step', self._u, self._q, self._change)
