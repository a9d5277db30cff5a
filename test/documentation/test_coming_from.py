"""Each row of the page for those who come from other libraries gives the same numbers in both columns."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.library import named_urdf

PAGE = Path(__file__).resolve().parents[2] / 'doc' / 'coming_from.md'
MJCF = """<mujoco><worldbody>
  <body name="upper" pos="0 0 0.5">
    <joint name="a" axis="0 1 0" stiffness="30" springref="20" damping="2" armature="0.1"/>
    <geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0"/>
    <body name="lower" pos="0.4 0 0"><joint name="b" axis="0 0 1" damping="1"/>
      <geom type="capsule" size="0.04" fromto="0 0 0 0.3 0 0"/>
      <body name="tool" pos="0.3 0 0"><joint name="c" axis="1 0 0"/><geom type="box" size="0.05 0.1 0.02"/></body>
    </body></body></worldbody></mujoco>"""


def rows(section: str) -> list[tuple[str, str]]:
    """Return both columns of each row of a section's table."""
    text = PAGE.read_text(encoding='utf-8').partition(f'## {section}\n')[2].partition('\n## ')[0]
    return re.findall(r'^\| `([^`]+)` \| `([^`]+)` \|$', text, re.MULTILINE)


def test_the_tables_are_found():
    assert len(rows('Pinocchio')) == 13 and len(rows('MuJoCo')) == 5


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
    data, (q, v, a) = mujoco.MjData(model), np.random.default_rng(0).uniform(-1.0, 1.0, (3, 3))
    names = {'mujoco': mujoco, 'model': model, 'data': data, 'robot': robot}
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(model, data)
    data.qacc[:] = a
    names |= {'q': q, 'v': v, 'a': a, 'out': np.zeros(3), 'matrix': np.zeros((3, 3))}
    np.testing.assert_allclose(eval(ours, names), eval(theirs, names), rtol=1e-9, atol=1e-9)
