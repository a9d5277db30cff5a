"""Descriptions of real arms, and parts of them: gravity_compensation_node accepts all that have masses, and is right.

The other side is Pinocchio, which here has every mimic joint as a joint of its own; its torques are reduced to leaders
by virtual work.
"""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from support.matrices import matrix
from support.robots.example_robots import example_urdfs
from support.robots.facade_robots import TREE

import numpy as np
import pytest

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot
from robot_dynamics_ros.tools.check_model import StandIn

NAMES = {path.rsplit('/', 1)[-1]: path for path in example_urdfs()}
REFUSED = {
    'ur3.urdf': "attribute 'name' is missing",
    'quadrotor_base.urdf': 'no joint moves',
    'iris_simple.urdf': 'no joint moves',
}
STATES = 3


def base_links(urdf: str) -> Iterator[str]:
    """Yield links that carry a moving joint and are fixed to the root by joints."""
    joints = ElementTree.fromstring(urdf).findall('joint')
    above = {joint.find('child').get('link'): joint for joint in joints}
    for link in dict.fromkeys(joint.find('parent').get('link') for joint in joints if joint.get('type') != 'fixed'):
        on_path, end = [], link
        while end in above:
            on_path.append(above[end].get('type'))
            end = above[end].find('parent').get('link')
        if on_path and set(on_path) == {'fixed'}:
            yield link


def mimics(urdf: str) -> dict[str, tuple[str, float, float]]:
    """Return leader, multiplier and offset of each mimic joint."""
    found = ((joint.get('name'), joint.find('mimic')) for joint in ElementTree.fromstring(urdf).findall('joint'))
    return {
        name: (mimic.get('joint'), float(mimic.get('multiplier', 1.0)), float(mimic.get('offset', 0.0)))
        for name, mimic in found
        if mimic is not None
    }


def gravity_torques(pin, model, positions: dict[str, float]) -> dict[str, float]:
    """Return Pinocchio's gravity torque of each joint at positions, 0 for joints without one."""
    q = pin.neutral(model)
    for name, x in positions.items():
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(x), np.sin(x)) if joint.nq == 2 else x
    torque = pin.computeGeneralizedGravity(model, model.createData(), q)
    return {
        name: float(torque[joint.idx_v]) for name, joint in zip(model.names[1:], list(model.joints)[1:], strict=True)
    }


@pytest.mark.parametrize(
    'name', matrix(sorted(NAMES), sorted({*sorted(NAMES)[::6], *REFUSED, 'panda.urdf', 'pr2.urdf'}))
)
def test_gravity_torques_of_robots_and_of_their_mounted_parts(name):
    pin = pytest.importorskip('pinocchio', reason='the outside source, Pinocchio (package pin), is not installed')
    if name in REFUSED:
        with pytest.raises(ModelError, match=REFUSED[name]):
            load_robot(StandIn('gravity_compensation_node', {}), NAMES[name])
        return
    with open(NAMES[name], encoding='utf-8') as file:
        urdf = file.read()
    model = pin.buildModelFromXML(urdf)
    rng = np.random.default_rng(0)
    for base in ('', *list(base_links(urdf))[:2]):
        robot = load_robot(StandIn('gravity_compensation_node', {'base_link': base}), urdf)
        followers = {
            follower: it for follower, it in mimics(urdf).items() if follower in getattr(robot, 'followers', ())
        }
        for y in rng.uniform(-1.5, 1.5, (STATES, robot.nv)):
            positions = dict(zip(robot.joint_names, y, strict=True))
            for follower, (leader, multiplier, offset) in followers.items():
                positions[follower] = multiplier * positions[leader] + offset
            torques = gravity_torques(pin, model, positions)
            for follower, (leader, multiplier, _) in followers.items():
                torques[leader] += multiplier * torques[follower]
            expected = np.array([torques[joint] for joint in robot.joint_names])
            scale = max(np.abs(expected).max(), 1e-3)
            np.testing.assert_allclose(robot.gravity_torque(y), expected, rtol=0, atol=1e-9 * scale)


def test_a_last_link_without_mass_is_a_warning_where_gravity_alone_is_computed():
    """As the flange of some industrial arms: forward dynamics is singular, gravity is not."""
    before, link, after = TREE.partition('<link name="flag">')
    text = before + link + re.sub('<inertial>.*?</inertial>', '', after, count=1, flags=re.DOTALL)
    robot = load_robot(StandIn('gravity_compensation_node', {}), text)
    assert robot.gravity_torque([0.1, 0.2, 0.3])[2] == 0.0
    for node in ('feedforward_node', 'torque_controller', 'dynamics_server', 'simulated_arm'):
        with pytest.raises(ModelError, match=r"link 'flag': joint 'a_wag' moves no inertia and ends its chain"):
            load_robot(StandIn(node, {}), text)
