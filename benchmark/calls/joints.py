"""How does the cost grow with the number of joints, in a chain and in a binary tree?

The generic kernels serve every size; for small robots straight-line code is shown beside them.
"""

import numpy as np

from benchmark.measure import heading, interleaved, verdict
from robot_dynamics_ros import Robot
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model

COUNTS = (1, 3, 10, 30, 100, 300, 1000)
MOST_SPECIALISED = 30
"""Up to here straight-line code is measured beside the generic kernels."""
BATCH = 50
AT_MOST = 11.0
"""Ratio of the times at 1,000 and at 100 joints, in a chain."""


def robot(joints: int, branches: int) -> Robot:
    """Return a robot whose links each carry ``branches`` more."""
    random = np.random.default_rng(joints)
    body = ten_parameters(1.0, (0.05, 0.02, 0.1), np.diag([0.01, 0.012, 0.008]))
    made = []
    for i in range(joints):
        axis = random.normal(size=3)
        made.append(
            Joint(
                name=f'joint {i}',
                link=f'link {i}',
                parent='base' if i == 0 else f'link {(i - 1) // branches}',
                kind='revolute',
                axis=axis / np.linalg.norm(axis),
                rotation=np.eye(3),
                origin=np.array([0.0, 0.0, 0.2]),
                inertia=body,
            )
        )
    return Robot(Model.of('benchmark', 'base', made))


def calls(arm: Robot, rows) -> dict:
    q, qd, x = rows
    return {
        'inverse_dynamics': lambda: arm.inverse_dynamics(q, qd, x),
        'forward_dynamics': lambda: arm.forward_dynamics(q, qd, x),
        'mass_matrix': lambda: arm.mass_matrix(q),
    }


def main():
    print(heading())
    for shape, branches in (('chain', 1), ('binary tree', 2)):
        kept = {}
        for count in COUNTS:
            arm = robot(count, branches)
            # a batch, so that the overhead of a call does not dominate the times of small robots
            rows = np.random.default_rng(0).normal(size=(3, BATCH, count))
            timed = calls(arm, rows)
            if count <= MOST_SPECIALISED:
                specialised = calls(arm.compiled(), rows)
                timed |= {f'{name} specialised': call for name, call in specialised.items()}
            kept[count] = interleaved(timed)
            # sorted: a program's two bindings beside each other
            shown = ', '.join(f'{name} {1e6 * seconds / BATCH:.2f} us' for name, seconds in sorted(kept[count].items()))
            print(f'{shape} of {count}: {shown}')
        if shape == 'chain':
            for name in ('inverse_dynamics', 'forward_dynamics'):
                print(f'{name}, 1000 joints / 100: {verdict(kept[1000][name] / kept[100][name], AT_MOST)}')


if __name__ == '__main__':
    main()
