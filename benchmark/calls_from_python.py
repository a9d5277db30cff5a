"""What does one call from Python cost, against Pinocchio's Python bindings and MuJoCo's?"""

import mujoco
import numpy as np
from measure import heading, interleaved, verdict
from peers import pinocchio_calls

from robot_dynamics_ros import Robot
from robot_dynamics_ros.importers.library import named_urdf

# program: at most for the specialised binding, at most for the Robot method
FIGURES = {
    'inverse_dynamics': (0.33, 0.90),
    'mass_matrix': (0.40, 0.90),
    'forward_dynamics': (0.24, 0.60),
    'gravity_torque': (0.40, 0.90),
}


def main():
    print(heading())
    robot = Robot.named('aubo_i5')
    peer = pinocchio_calls(robot)
    plant = mujoco.MjModel.from_xml_path(str(named_urdf('aubo_i5')))
    state = mujoco.MjData(plant)
    q, qd, x = np.random.default_rng(0).normal(size=(3, 6))
    load, single = robot._load, robot._specialised.single
    vector, matrix = np.zeros(6), np.zeros((6, 6))

    def mujoco_inverse():
        state.qpos[:], state.qvel[:], state.qacc[:] = q, qd, x
        mujoco.mj_inverse(plant, state)

    calls = {
        'inverse_dynamics': {
            'specialised': lambda: single.inverse_dynamics(q, qd, x, load, vector),
            'Robot': lambda: robot.inverse_dynamics(q, qd, x),
            'mujoco': mujoco_inverse,
        },
        'mass_matrix': {
            'specialised': lambda: single.mass_matrix(q, load, matrix),
            'Robot': lambda: robot.mass_matrix(q),
        },
        'forward_dynamics': {
            'specialised': lambda: single.forward_dynamics(q, qd, x, load, vector),
            'Robot': lambda: robot.forward_dynamics(q, qd, x),
        },
        'gravity_torque': {
            'specialised': lambda: single.gravity_torque(q, load, vector),
            'Robot': lambda: robot.gravity_torque(q),
        },
    }
    for name, by_binding in calls.items():
        times = interleaved({**by_binding, 'pin': peer[name]})
        nanoseconds = ', '.join(f'{binding} {1e9 * seconds:.0f} ns' for binding, seconds in times.items())
        special, method = FIGURES[name]
        print(f'{name}: {nanoseconds}')
        print(f'  specialised / pin {verdict(times["specialised"] / times["pin"], special)}')
        print(f'  Robot / pin       {verdict(times["Robot"] / times["pin"], method)}')


if __name__ == '__main__':
    main()
