"""Each row of the page for those who come from other libraries gives the same numbers in both columns."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.library import named_urdf

PAGE = Path(__file__).resolve().parents[2] / 'doc' / 'first_steps' / 'coming_from.md'
MJCF = """<mujoco><worldbody>
  <body name="upper" pos="0 0 0.5">
    <joint name="a" axis="0 1 0" stiffness="30" springref="20" damping="2" armature="0.1"/>
    <geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0"/>
    <body name="lower" pos="0.4 0 0"><joint name="b" axis="0 0 1" damping="1"/>
      <geom type="capsule" size="0.04" fromto="0 0 0 0.3 0 0"/>
      <body name="tool" pos="0.3 0 0"><joint name="c" axis="1 0 0"/><geom type="box" size="0.05 0.1 0.02"/>
        <site name="tip" pos="0.1 0 0.2"/></body>
    </body></body></worldbody></mujoco>"""

EVERYTHING = """<mujoco><compiler angle="radian" autolimits="true"/><option gravity="1 2 -9"/><worldbody>
  <body name="upper" pos="0 0.1 0.5">
    <joint name="a" axis="0 1 0" stiffness="30" springref="0.2" damping="2" armature="0.1" frictionloss="0.3"
      range="-2 1" actuatorfrcrange="-50 50"/><geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0"/>
    <body name="lower" pos="0.4 0 0"><joint name="b" type="slide" axis="0 0 1" stiffness="3" springref="0.1" damping="1"
      armature="0.4" frictionloss="0.5" range="-0.3 0.4" actuatorfrcrange="-20 20"/>
      <inertial pos="0.1 0.2 0" mass="3" diaginertia="0.1 0.1 0.1"/></body></body></worldbody>
  <equality><joint joint1="b" joint2="a" polycoef="0.1 0.2 0.3 0.4 0.5"/></equality></mujoco>"""


def rows(section: str) -> list[tuple[str, str]]:
    """Return both columns of each row of a section's table."""
    text = PAGE.read_text(encoding='utf-8').partition(f'## {section}\n')[2].partition('\n## ')[0]
    return re.findall(r'^\| `([^`]+)` \| `([^`]+)` \|$', text, re.MULTILINE)


def test_the_tables_are_found():
    counts = {'Pinocchio': 15, 'MuJoCo': 22, 'robotics-toolbox': 11, 'KDL': 6}
    assert {section: len(rows(section)) for section in counts} == counts
    assert len(rows_of_mjcf()) == 12


@pytest.mark.parametrize(('theirs', 'ours'), rows('Pinocchio'))
def test_pinocchio(theirs, ours):
    text = Path(named_urdf('aubo_i5')).read_text(encoding='utf-8')
    model, robot = pinocchio.buildModelFromXML(text), Robot.from_urdf(text)
    q, v, a, tau = np.random.default_rng(0).uniform(-1.0, 1.0, (4, robot.nv))
    names = {'pinocchio': pinocchio, 'np': np, 'model': model, 'data': model.createData(), 'robot': robot}
    names |= {'q': q, 'v': v, 'a': a, 'tau': tau, 'frame': model.getFrameId('ee_link')}
    np.testing.assert_allclose(eval(ours, names), eval(theirs, names), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(('theirs', 'ours'), rows('MuJoCo'))
def test_mujoco(theirs, ours):
    model, robot = mujoco.MjModel.from_xml_string(MJCF), Robot.from_mjcf(MJCF)
    data, (q, v, a, tau) = mujoco.MjData(model), np.random.default_rng(0).uniform(-1.0, 1.0, (4, 3))
    names = {'mujoco': mujoco, 'np': np, 'model': model, 'data': data, 'robot': robot}
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(model, data)
    data.qacc[:] = a
    names |= {'q': q, 'v': v, 'a': a, 'tau': tau, 'out': np.zeros(3), 'six': np.zeros(6)}
    names |= {'matrix': np.zeros((3, 3)), 'square': np.zeros((3, 3))}
    np.testing.assert_allclose(eval(ours, names), eval(theirs, names), rtol=1e-9, atol=1e-9)


def rows_of_mjcf() -> list[tuple[str, str]]:
    """Return the last two columns of each row of the table of what an MJCF states."""
    text = PAGE.read_text(encoding='utf-8').partition('| MJCF | MuJoCo | here |\n')[2].partition('\n\n')[0]
    return re.findall(r'^\| `<[^|]+ \| `([^`]+)` \| `([^`]+)` \|$', text, re.MULTILINE)


@pytest.mark.parametrize(('theirs', 'ours'), rows_of_mjcf())
def test_what_an_mjcf_states(theirs, ours):
    names = {'model': mujoco.MjModel.from_xml_string(EVERYTHING), 'robot': Robot.from_mjcf(EVERYTHING)}
    found, expected = (np.asarray(eval(column, names)) for column in (ours, theirs))
    assert found.shape == expected.shape and np.abs(expected).min() < np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.fixture(scope='module')
def of_dh():
    """The same three rows for robotics-toolbox and here."""
    toolbox = pytest.importorskip('roboticstoolbox', reason='roboticstoolbox-python is not installed')
    generator, links, table = np.random.default_rng(0), [], []
    for a, alpha, d, theta in ((0.1, 0.5 * np.pi, 0.4, 0.0), (0.5, 0.0, 0.0, 0.0), (0.1, -0.5 * np.pi, 0.1, 0.2)):
        mass, com, root = generator.uniform(1.0, 3.0), generator.uniform(-0.1, 0.1, 3), generator.uniform(size=(3, 3))
        body = {'m': mass, 'r': com, 'I': root @ root.T, 'Jm': 2e-4, 'B': 1e-3, 'G': 100.0}
        links.append(toolbox.RevoluteDH(a=a, alpha=alpha, d=d, offset=theta, **body))
        here = {'mass': mass, 'com': com, 'inertia': body['I'], 'rotor': 2e-4 * 1e4, 'viscous': 1e-3 * 1e4}
        table.append({'a': a, 'alpha': alpha, 'd': d, 'theta': theta, **here})
    return toolbox.DHRobot(links, name='arm'), Robot.from_dh(table)


@pytest.mark.parametrize(('theirs', 'ours'), rows('robotics-toolbox'))
def test_robotics_toolbox(theirs, ours, of_dh):
    names = dict(zip(('arm', 'robot'), of_dh, strict=True))
    names |= dict(zip(('q', 'v', 'a', 'tau'), np.random.default_rng(0).uniform(-1.0, 1.0, (4, 3)), strict=True))
    np.testing.assert_allclose(eval(ours, names), eval(theirs, names), rtol=1e-9, atol=1e-9)


def kdl_chain(kdl, robot):
    """Return a robot with revolute joints as kdl_parser makes it of a URDF."""
    chain = kdl.Chain()
    for joint in robot.model.joints:
        placed = kdl.Frame(kdl.Rotation(*np.ravel(joint.rotation)), kdl.Vector(*joint.origin))
        axis = kdl.Joint(joint.name, placed.p, placed.M * kdl.Vector(*joint.axis), kdl.Joint.RotAxis)
        mass, com, J = joint.inertia[0], joint.inertia[1:4] / joint.inertia[0], joint.inertia[[4, 7, 9, 5, 6, 8]]
        moved = kdl.RigidBodyInertia(mass, kdl.Vector(*com), central(kdl, mass, com, J))
        chain.addSegment(kdl.Segment(joint.link, axis, placed, moved))
    return chain


def central(kdl, mass, com, about_origin):
    """Return the moments about the centre of mass, of those about the origin."""
    x, y, z = com
    parallel = mass * np.array([y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z])
    return kdl.RotationalInertia(*(about_origin - parallel))


def numbers(result) -> np.ndarray:
    """Return an array of KDL, a frame or an array of NumPy as the latter."""
    if isinstance(result, np.ndarray):
        return result
    if hasattr(result, 'M'):
        return np.array([[result[i, j] for j in range(4)] for i in range(3)] + [[0.0, 0.0, 0.0, 1.0]])
    if result.columns() == 1 and not hasattr(result, 'changeBase'):
        return np.array([*result])
    return np.array([[result[i, j] for j in range(result.columns())] for i in range(result.rows())])


@pytest.mark.parametrize(('theirs', 'ours'), rows('KDL'))
def test_kdl(theirs, ours):
    kdl = pytest.importorskip('PyKDL', reason='PyKDL is not installed: python3-pykdl of Debian and Ubuntu')
    robot = Robot.from_urdf(named_urdf('aubo_i5'))
    n, states = robot.nv, np.random.default_rng(0).uniform(-1.0, 1.0, (3, robot.nv))
    names = {'PyKDL': kdl, 'chain': kdl_chain(kdl, robot), 'gravity': kdl.Vector(*robot.gravity), 'frame': kdl.Frame()}
    names |= {'out': kdl.JntArray(n), 'matrix': kdl.JntSpaceInertiaMatrix(n), 'jacobian': kdl.Jacobian(n)}
    names['wrenches'] = [kdl.Wrench()] * n
    for name, state in zip('qva', states, strict=True):
        names[name] = kdl.JntArray(n)
        for k, value in enumerate(state):
            names[name][k] = value
    here = {'robot': robot, **dict(zip('qva', states, strict=True))}
    np.testing.assert_allclose(eval(ours, here), numbers(eval(theirs, names)), rtol=1e-9, atol=1e-9)
