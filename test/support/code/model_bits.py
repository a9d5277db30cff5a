"""Program: prints the digests of models, and of results with them, as JSON; arguments are paths of URDFs."""

import hashlib
import json
import sys
import warnings
from pathlib import Path

import numpy as np

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.library import model_names
from robot_dynamics_ros.model.pseudo_inertia import parameters_of_log_cholesky
from robot_dynamics_ros.model.regrouping import regrouped
from robot_dynamics_ros.model.rotations import from_rpy

RESULTS = ('inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'gravity_torque')
SEED = 20261123
DH = [
    {'a': 0.1, 'alpha': 0.3, 'd': 0.2, 'theta': 0.7, 'mass': 3.0, 'com': [0.1, 0.2, 0.3]},
    {'a': 0.4, 'alpha': -1.1, 'd': 0.3, 'theta': -0.4, 'mass': 2.0, 'com': [0.3, 0.1, 0.1], 'kind': 'prismatic'},
    {
        **{'a': -0.2, 'alpha': 2.3, 'd': 0.6, 'theta': 1.9, 'mass': 1.0, 'com': [0.1, 0.1, 0.2]},
        'inertia': [[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]],
    },
]
MJCF = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="arm" pos="0.1 0.2 0.3" quat="1 0.2 0.3 0.4">
      <joint name="turn" axis="1 2 3" pos="0.1 0.2 0.3" ref="0.4"/>
      <geom size="0.1 0.3 0.2" type="box" pos="0.1 0.3 0.7" quat="1 0.4 0.2 0.9"/>
      <body name="hand" pos="0.4 0.1 0" quat="1 3 2 0.4">
        <joint name="bend" ref="0.3" axis="3 1 1"/><joint name="reach" type="slide" ref="0.1" axis="1 1 3"/>
        <geom size="0.1 0.3 0.2" type="box" pos="0.3 0.3 0.7" quat="1 0.2 0.2 0.7"/>
        <body name="tool" pos="0.1 0.2 0.1"><joint name="ball" type="ball"/><geom size="0.3" pos="0.1 0 0.3"/></body>
      </body>
    </body>
    <body name="box"><freejoint/><geom size="1"/></body>
  </worldbody>
  <equality>
    <weld body1="arm" body2="box" anchor="1 2 3" relpose="0.3 1 0 0.6 0.3 0.5 0.5" torquescale="2.5"/>
    <joint joint1="turn" joint2="bend" polycoef="0.1 0.2 0.3 0.4 0.5"/>
  </equality>
</mujoco>
"""


def bits(*arrays) -> str:
    """Return a digest of arrays."""
    joined = hashlib.sha256(b''.join(np.ascontiguousarray(array, float).tobytes() for array in arrays))
    return joined.hexdigest()[:16]


def model_bits(robot: Robot) -> list[str]:
    """Return the digest of a robot, and one of what that leaves out."""
    model = robot._model
    frames = [part for frame in model.frames.values() for part in (frame.rotation, frame.origin)]
    others = bits(*model.arrays, *model.limits, *model.friction, *model.actuators, *frames, robot.gravity)
    return [robot.digest, others, bits(regrouped(model.arrays).I)]


def result_bits(robot: Robot) -> list[str]:
    """Return digests of dynamics quantities at random states."""
    random = np.random.default_rng(SEED)
    state = {name: random.uniform(-2.0, 2.0, (20, robot.nv)) for name in ('qd', 'qdd', 'tau')}
    state['q'] = random.uniform(-2.0, 2.0, (20, robot.nq))
    for k in robot._model.arrays.quaternions:
        state['q'][:, k : k + 4] = 0.1, 0.7, -0.1, 0.7
    asked = {'inverse_dynamics': ('q', 'qd', 'qdd'), 'forward_dynamics': ('q', 'qd', 'tau')}
    return [bits(getattr(robot, name)(*(state[it] for it in asked.get(name, ('q',))))) for name in RESULTS]


def made_robots() -> dict[str, Robot]:
    """Return robots by each way that makes or changes one."""
    arm = Robot.named('aubo_i5')
    turned = from_rpy(0.3, -1.2, 2.1)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = turned, (0.1, 0.2, 0.3)
    rounded = np.round(turned, 7)
    payload = Payload.box(2.3, (0.1, 0.2, 0.4), (0.03, 0.1, 0.2), turned) + Payload.sphere(0.7, 0.1, (0.1, 0.3, 0.2))
    middle = arm.link_names[3]
    return {
        'DH': Robot.from_dh(DH, base=pose, tool=pose),
        'modified DH': Robot.from_dh(DH, 'modified', base=pose, tool=pose),
        'MJCF': Robot.from_mjcf(MJCF),
        'YAML': Robot.from_yaml(arm.to_yaml()),
        'rounded rotation': Robot.from_dh(DH, base=np.block([[rounded, np.ones((3, 1))], [np.zeros(3), 1.0]])),
        'payload': arm.with_payload(payload).with_payload(payload, middle),
        'gravity': arm.with_base_orientation(rounded),
        'chain': arm.chain(middle, gravity=(1.0, 2.0, 3.0)),
        'locked': arm.with_locked_joints(dict.fromkeys(arm.joint_names[1:4], 0.7)),
        'attached': arm.with_attached(arm, arm.link_names[-1], pose, 'second_'),
        'payload on a frame': Robot.from_dh(DH).with_payload(payload, 'dh_2'),
    }


def main(paths: list[str]) -> None:
    """Print the digests by what they are of."""
    warnings.simplefilter('error')
    named = {name: Robot.named(name) for name in model_names()}
    made = made_robots()
    found = {name: [*model_bits(robot), *result_bits(robot)] for name, robot in {**named, **made}.items()}
    for path in paths:
        try:
            found[Path(path).name] = model_bits(Robot.from_urdf(path))
        except ModelError as error:  # an empty robot
            found[path] = [str(error)]
    found['log-Cholesky'] = [bits(parameters_of_log_cholesky(np.linspace(-1.3, 0.7, 10)))]
    print(json.dumps(found))  # noqa: T201 (what the caller reads)


if __name__ == '__main__':
    main(sys.argv[1:])
