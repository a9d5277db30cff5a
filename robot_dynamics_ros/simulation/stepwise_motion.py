"""Fixed steps with calls from Python for each stage of a step, where a torque is computed in Python."""

from robot_dynamics_ros.compiler.bound_function import bound
from robot_dynamics_ros.simulation.position_limits import is_beyond, stop
from robot_dynamics_ros.simulation.simulation_setup import Samples, Setup
from robot_dynamics_ros.simulation.step_arrays import Buffers
from robot_dynamics_ros.simulation.time_steps import begin_stage, end_stage, end_step, subtract_friction


def stepwise_motion(setup: Setup) -> Samples:
    """Return the samples of all states; ArgumentError names the time at which a state is not finite."""
    robot, plan, torque, everything = setup.robot, setup.plan, setup.torque, slice(0, len(setup.q))
    q, qd, work = samples = setup.samples()
    arrays, count = robot.model.arrays, len(setup.q)
    x = Buffers.of(plan, count, robot.nq, robot.nv)
    setup.start(x, everything)
    begin, end = (bound(stage, arrays, plan, x, then=(0,)) for stage in (begin_stage, end_stage))
    end_all = bound(end_step, arrays, plan, x)
    subtract = bound(subtract_friction, robot.friction, x, then=(0,))
    are_beyond, stop_all = (bound(function, setup.stops, x, robot.nv) for function in (is_beyond, stop))
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
        if plan.limits and are_beyond():
            x.M_inv[:] = robot.mass_matrix_inverse(positions[0]).ravel()
            stop_all()
        if (k + 1) % plan.every == 0:
            setup.check_finite(positions[0], velocities[0], k + 1, 0)
            sample = (k + 1) // plan.every
            q[sample], qd[sample], work[sample] = positions[0], velocities[0], powers.sum(axis=1)
    return samples
