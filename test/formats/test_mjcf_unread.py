"""What an MJCF says is used or reported: fields of MuJoCo's model are sorted in tables, flags act or are reported."""

from types import SimpleNamespace

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats import mjcf_elements
from robot_dynamics_ros.formats.mjcf_elements import WITHOUT_EFFECT, not_read, unknown_fields

mujoco = pytest.importorskip('mujoco', reason='MJCF is compiled by MuJoCo (package mujoco), which is not installed')

SORTED = 4, 0
"""The newest MuJoCo whose fields are in the tables."""
PENDULUM = """
<mujoco><option>{}</option><worldbody><body name="arm"><joint name="j" axis="0 1 0" stiffness="{}" damping="0.2"
  frictionloss="0.3" range="-1 1" limited="true"/><geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/></body>
  <body name="leg" pos="0 1 0"><joint name="k"/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody>
  <equality><joint joint1="j" joint2="k"/></equality></mujoco>
"""


def pendulum(options='', stiffness='7') -> Robot:
    return Robot.from_mjcf(PENDULUM.format(options, stiffness))


def findings(robot: Robot) -> list[str]:
    return [str(it) for it in robot.findings if it.where == 'option']


def test_all_fields_of_this_mujoco_are_in_the_tables():
    plant = mujoco.MjModel.from_xml_string('<mujoco/>')
    names = [*dir(plant), *(f'opt_{name}' for name in dir(plant.opt) if not name.startswith('_'))]
    assert len([name for name in names if name.startswith(('body_', 'jnt_', 'dof_', 'opt_'))]) > 60
    unknown = unknown_fields(names)
    if unknown and tuple(map(int, mujoco.__version__.split('.')[:2])) > SORTED:
        pytest.skip(f'MuJoCo {mujoco.__version__} has fields that no table has: {", ".join(unknown)}')
    assert not unknown


def test_no_field_is_in_two_tables():
    tables = [*WITHOUT_EFFECT.values(), mjcf_elements._READ, mjcf_elements._REFUSED, mjcf_elements._LEFT_OUT]
    fields = [field for table in tables for field in table]
    assert len(fields) == len(set(fields)) > 100


def test_a_field_of_a_newer_mujoco_is_reported_where_it_is_not_zero():
    def joint(number):
        return SimpleNamespace(name='ab'[number], id=number)

    plant = SimpleNamespace(jnt_plasticity=np.array([0.0, 2.0]), jnt_axis=np.ones((2, 3)), joint=joint)
    (finding,) = not_read(plant)
    assert str(finding) == "warning: joint 'b': jnt_plasticity of this MuJoCo is not read"


PARTS = {
    'spring': ('springs', lambda robot: robot.model.arrays.stiffness),
    'damper': ('damping', lambda robot: robot.friction.viscous),
    'frictionloss': ('friction', lambda robot: robot.friction.coulomb),
}


@pytest.mark.parametrize(('flag', 'what', 'of'), [(flag, *part) for flag, part in PARTS.items()], ids=PARTS)
def test_what_a_flag_turns_off_is_left_out_with_a_finding(flag, what, of):
    assert of(pendulum()).any() and not findings(pendulum())
    try:
        robot = pendulum(f'<flag {flag}="disable"/>')
    except ModelError:
        pytest.skip(f'this MuJoCo has no flag {flag}')
    assert not of(robot).any()
    assert findings(robot) == [f'warning: option: a flag turns {what} of joints off: no joint has any']


def test_without_constraints_there_are_neither_friction_nor_loops():
    assert len(pendulum().loops.couplings) == 1
    robot = pendulum('<flag constraint="disable"/>')
    assert not robot.friction.coulomb.any() and not robot.loops.all
    assert any('it is not active and left out' in it.message for it in robot.findings)
    assert 'warning: option: a flag turns limits of joints off; they are limits here' in findings(robot)


def test_limits_that_a_flag_turns_off_are_limits_with_a_finding():
    robot = pendulum('<flag limit="disable"/>')
    assert robot.limits.upper[0] == pytest.approx(np.radians(1.0))
    assert findings(robot) == ['warning: option: a flag turns limits of joints off; they are limits here']


def test_a_spring_that_yields_is_refused():
    text = PENDULUM.format('', '7" springyield="0.1')
    try:
        mujoco.MjModel.from_xml_string(text)
    except ValueError:
        pytest.skip('this MuJoCo has no springs that yield')
    with pytest.raises(ModelError, match="joint 'j': a spring that yields is not supported"):
        Robot.from_mjcf(text)
