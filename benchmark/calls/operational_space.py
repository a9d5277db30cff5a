"""What does operational space of a frame cost on a chain, against the inverse mass matrix and against Pinocchio?

Pinocchio has no such function: its calls are those of M^-1 and J, and of J M^-1 J', which the caller multiplies.
"""

from functools import partial

import numpy as np
import pinocchio as pin

from benchmark.measure import heading, interleaved, verdict
from robot_dynamics_ros import Robot

JOINTS = (6, 12, 25, 50, 100, 200)
AT_HUNDRED = 0.1
"""Time of the inertia of a frame at 100 joints at most, as a part of that of the inverse mass matrix."""
EXPONENT = 1.1
"""Of the number of joints in the time, from 50 to 200 joints, at most."""
AGREEMENT = 1e-9


def chain_urdf(joints: int) -> str:
    """Return a chain of revolute joints whose axes are parallel or at right angles."""
    parts = ['<robot name="chain"><link name="link0"/>']
    for i in range(1, joints + 1):
        place = 'xyz="0.1 0 0.05" rpy="1.5707963267948966 0 0"' if i % 2 else 'xyz="0.2 0 0" rpy="0 0 0"'
        parts.append(f"""
<link name="link{i}"><inertial><origin xyz="0.01 0.02 0.03"/><mass value="1"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="joint{i}" type="revolute"><parent link="link{i - 1}"/><child link="link{i}"/><origin {place}/>
  <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="100" velocity="3"/></joint>""")
    return ''.join(parts) + '</robot>'


def calls_of(joints: int) -> dict:
    """Return the calls at one state; AssertionError where they do not agree."""
    urdf = chain_urdf(joints)
    robot = Robot.from_urdf(urdf)
    model = pin.buildModelFromXML(urdf)
    data, tip = model.createData(), model.getFrameId(f'link{joints}')
    q, names = np.random.default_rng(joints).uniform(-1.0, 1.0, joints), [f'link{joints}', f'link{joints // 2 + 3}']

    def pinocchio():
        upper = np.triu(pin.computeMinverse(model, data, q))
        J = pin.computeFrameJacobian(model, data, q, tip, pin.ReferenceFrame.LOCAL)
        return J @ (upper + np.triu(upper, 1).T) @ J.T

    ours = robot.operational_space_inertia_inverse(q, names[0], 'local')
    difference = np.abs(np.roll(pinocchio(), (3, 3), (0, 1)) - ours).max() / np.abs(ours).max()
    assert difference < AGREEMENT, f'{joints} joints: off by {difference:.1e}'
    return {
        'inertia': partial(robot.operational_space_inertia, q, names[0], 'local'),
        'its inverse': partial(robot.operational_space_inertia_inverse, q, names[0], 'local'),
        'consistent inverse': partial(robot.consistent_inverse, q, names[0], 'local'),
        'inverse, two frames': partial(robot.operational_space_inertia_inverse, q, names, 'local'),
        'M^-1': partial(robot.mass_matrix_inverse, q),
        'pin': pinocchio,
    }


def main():
    print(heading())
    inertia = {}
    for joints in JOINTS:
        times = interleaved(calls_of(joints), seconds=0.01)
        inertia[joints] = times['inertia']
        texts = (f'{name} {1e6 * seconds:.2f} us' for name, seconds in times.items())
        print(f'{joints} joints: {", ".join(texts)}')
        if joints == 100:
            print(f'  inertia / M^-1 {verdict(times["inertia"] / times["M^-1"], AT_HUNDRED)}')
    exponent = np.log(inertia[200] / inertia[50]) / np.log(4.0)
    print(f'exponent of the number of joints, 50 to 200: {verdict(exponent, EXPONENT)}')


if __name__ == '__main__':
    main()
