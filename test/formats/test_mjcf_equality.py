"""MJCF's equality constraints as closed loops: errors and Jacobians against MuJoCo's rows; what is refused."""

from types import SimpleNamespace

from support.rounding import bound
from support.twins.mujoco_states import move

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.mjcf import model_from_mjcf
from robot_dynamics_ros.model.closed_loops.loop_types import COMPONENTS, LoopClosure

# Anchors off the origins, references, a ball, a free body, a mocap body, turned sites.
BODIES = """
<mujoco>
  <compiler angle="radian"/>
  <option jacobian="dense"/>
  <worldbody>
    <body name="target" mocap="true" pos="1 2 3" quat="1 2 3 4">
      <site name="mark" pos="0.1 0.2 0.3" quat="1 0 2 0"/>
    </body>
    <body name="arm" pos="0.1 0.2 0.3" quat="1 0.2 0.3 0.4">
      <joint name="turn" axis="1 2 3" pos="0.1 0.2 0.3" ref="0.4"/>
      <geom size="1"/>
      <site name="eye" pos="0.4 0.1 0.2" quat="1 3 2 0.4"/>
      <body name="hand" pos="0.4 0.1 0">
        <joint name="bend" ref="0.3"/><joint name="reach" type="slide" ref="0.1"/>
        <geom size="1"/>
        <body name="tool" pos="0.1 0.2 0.1">
          <joint name="ball" type="ball"/>
          <geom size="1"/>
          <site name="tip" pos="0 0.1 0.1"/>
        </body>
      </body>
    </body>
    <body name="box"><freejoint/><geom size="1"/></body>
  </worldbody>
  {}
</mujoco>
"""
EQUALITIES = {
    'weld': '<weld body1="arm" body2="box" anchor="1 2 3" relpose="0.3 1 0 0.6 0.3 0.5 0.5" torquescale="2.5"/>',
    'weld where it is': '<weld body1="tool" body2="box" anchor="1 2 3"/>',
    'weld to the world': '<weld body1="box"/>',
    'weld of a mocap body': '<weld body1="target" body2="box"/>',
    'weld of sites': '<weld site1="eye" site2="tip" torquescale="0.3"/>',
    'weld without torque': '<weld body1="hand" body2="box" torquescale="0"/>',
    'connect': '<connect body1="box" body2="tool" anchor="0.4 0.2 0.1"/>',
    'connect with the world': '<connect body1="tool" anchor="0.4 0.2 0.1"/>',
    'connect of sites': '<connect site1="mark" site2="tip"/>',
    'joint': '<joint joint1="turn" joint2="bend" polycoef="0.1 0.2 0.3 0.4 0.5"/>',
    'joint of degree one': '<joint joint1="bend" joint2="reach" polycoef="0 -3 0 0 0"/>',
    'joint alone': '<joint joint1="reach" polycoef="0.1 0.2 0.3 0.4 0.5"/>',
}


def with_equality(*elements) -> str:
    return BODIES.format(f'<equality>{"".join(elements)}</equality>')


@pytest.fixture(scope='module')
def both():
    """Return our robot and MuJoCo's with all equalities."""
    text = with_equality(*EQUALITIES.values())
    plant = mujoco.MjModel.from_xml_string(text)
    return SimpleNamespace(robot=Robot.from_mjcf(text), plant=plant)


def skew(v):
    """Return the matrix of v x."""
    return np.cross(np.eye(3), v)


def expected_rows(robot, q, loop, errors, J):
    """Return MuJoCo's residual and Jacobian of a closed loop, by hand from our errors and rows."""
    if not isinstance(loop, LoopClosure):
        return errors, J
    # p_A - p_B = -R_A e and its rate -(R_A J qd + w_A x R_A e); ours are in the axes of A, theirs in the world's
    R_A = (robot.link_pose(q, loop.link_a) @ loop.pose_a)[:3, :3]
    opening = R_A @ errors[-3:]
    J_w = robot.jacobian(q, loop.link_a, 'local_world_aligned')[:3]
    position, rows = -opening, -(R_A @ J[-3:] - skew(opening) @ J_w)
    # half of our 2 epsilon, of A against B
    return np.concatenate([position, -0.5 * errors[:-3]]), np.concatenate([rows, -0.5 * J[:-3]])


def condition(robot, q, loop) -> float:
    """Return 1 / cos^2 of half the angle between A and B of a weld: the quaternion is divided by the cosine, a root."""
    if not isinstance(loop, LoopClosure) or loop.kind != 'weld':
        return 1.0
    A, B = ((robot.link_pose(q, link) @ pose)[:3, :3] for link, pose in
            ((loop.link_a, loop.pose_a), (loop.link_b, loop.pose_b)))  # fmt: skip
    return 4.0 / (1.0 + np.trace(A.T @ B))


@pytest.mark.rounding
@pytest.mark.parametrize('name', EQUALITIES)
def test_errors_and_jacobian_are_those_of_mujocos_rows(both, name):
    robot, plant, number = both.robot, both.plant, list(EQUALITIES).index(name)
    data, loops = mujoco.MjData(plant), robot.model.loops.all
    # closures come before couplings in both
    rows = [len(COMPONENTS[it.kind]) if isinstance(it, LoopClosure) else 1 for it in loops]
    own = slice(sum(rows[:number]), sum(rows[: number + 1]))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        q = robot.integrate(robot.neutral(), rng.uniform(-2.0, 2.0, robot.nv))
        T = move(plant, data, q, np.zeros(plant.nv), np.zeros(plant.nv))
        mujoco.mj_forward(plant, data)
        theirs = data.efc_id[: data.ne] == number
        errors, J = robot.loop_errors(q)[own], robot.loop_jacobian(q)[own]
        position, jacobian = expected_rows(robot, q, loops[number], errors, J)
        count = len(position)
        efc_pos, efc_J = data.efc_pos[: data.ne][theirs], data.efc_J.reshape(-1, plant.nv)[: data.ne][theirs] @ T
        if count == 6:
            # a quaternion's sign is free; MuJoCo scales its vector by torquescale
            sign = plant.eq_data[number, 10] * np.sign(efc_pos[3:] @ position[3:])
            position[3:] *= sign
            jacobian[3:] *= sign
        # poses are products of three rotations and sums of some metres
        of_loop = condition(robot, q, loops[number])
        for theirs, ours in ((efc_pos[:count], position), (efc_J[:count], jacobian)):
            assert np.abs(theirs - ours).max() < bound(20, 9, of_loop, max(1.0, np.abs(ours).max()))
        # what we leave out has no effect there
        assert not efc_pos[count:].any() and not efc_J[count:].any()
        assert np.abs(efc_J).max() > 0.1


@pytest.mark.rounding
def test_names_kinds_and_links():
    text = with_equality(
        '<connect name="pin" body1="tool" anchor="0.4 0.2 0.1"/>',
        '<weld site1="eye" site2="tip"/>',
        EQUALITIES['weld without torque'],
        '<joint joint1="bend" joint2="turn"/>',
    )
    loops = Robot.from_mjcf(text).loops
    (pin, weld, loose), (coupling,) = loops.closures, loops.couplings
    assert (loose.kind, loose.link_a, loose.link_b) == ('point', 'hand', 'box')
    assert (pin.name, pin.kind, pin.link_a, pin.link_b) == ('pin', 'point', 'tool', 'world')
    assert (weld.name, weld.kind, weld.link_a, weld.link_b) == ('equality_1', 'weld', 'arm', 'tool')
    assert weld.pose_a[:3, 3].tolist() == [0.4, 0.1, 0.2]
    quat = Rotation.from_quat([3, 2, 0.4, 1]).as_matrix()
    assert np.abs(weld.pose_a[:3, :3] - quat).max() < bound(10, 3)
    # MuJoCo's default is q_bend - 0.3 = q_turn - 0.4
    assert (coupling.joint, coupling.other) == ('bend', 'turn')
    assert coupling.polynomial == pytest.approx((-0.1, 1.0))


def findings(text) -> list[str]:
    return [str(it) for it in model_from_mjcf(text)[0].findings if 'equalit' in it.where]


def test_findings_say_once_that_loops_are_rigid_and_name_each_that_is_off():
    assert findings(BODIES.format('')) == []
    soft = 'warning: equality constraints: they are rigid here, while MuJoCo holds them softly (solref, solimp)'
    assert findings(with_equality(*EQUALITIES.values())) == [soft]
    off = '<weld name="cut" body1="box" active="false"/>'
    left_out = "warning: equality 'cut': it is not active and left out"
    assert findings(with_equality(off)) == [left_out]
    assert findings(with_equality(off, EQUALITIES['connect'])) == [left_out, soft]
    assert len(model_from_mjcf(with_equality(off, EQUALITIES['connect']))[0].loops.all) == 1


def test_a_flag_turns_all_off():
    text = with_equality(EQUALITIES['connect']).replace('<option', '<option><flag equality="disable"/></option><option')
    assert findings(text) == ["warning: equality 'equality_0': it is not active and left out"]
    assert not model_from_mjcf(text)[0].loops.all


ACTUATORS = """<actuator><motor name="m" joint="reach"/><position joint="turn"/><velocity jointinparent="bend"/>
  <motor joint="ball" gear="1 0 0"/><motor site="tip"/></actuator>"""


def test_joints_of_actuators_have_a_motor_where_there_are_loops():
    connect = '<equality><connect body1="tool" anchor="0.4 0.2 0.1"/></equality>'
    assert model_from_mjcf(BODIES.format(connect + ACTUATORS))[0].loops.actuated == ('turn', 'bend', 'reach')
    assert model_from_mjcf(BODIES.format(connect))[0].loops.actuated == ()
    assert model_from_mjcf(BODIES.format(ACTUATORS))[0].loops.actuated == ()  # a tree


TENDON = '<tendon><fixed name="t"><joint joint="turn" coef="0.5"/><joint joint="bend" coef="0.5"/></fixed></tendon>'


@pytest.mark.parametrize(
    ('follows', 'actuated'),
    [
        ('<joint joint1="turn" joint2="bend"/>', ('bend',)),
        ('<joint joint1="bend" joint2="turn"/>', ('turn',)),
        ('', ()),
    ],
    ids=['the second leads', 'the first leads', 'none follows'],
)
def test_an_actuator_on_a_tendon_moves_the_joint_that_the_others_follow(follows, actuated):
    more = f'<equality><connect body1="tool" anchor="0.4 0.2 0.1"/>{follows}</equality>{TENDON}'
    text = BODIES.format(more + '<actuator><motor tendon="t"/></actuator>')
    assert model_from_mjcf(text)[0].loops.actuated == actuated


REFUSED = {
    'one body': (
        '<weld name="bolt" body1="target"/>',
        "loop 'bolt': 'target' and 'world' are one rigid body",
    ),
    'two couplings': (
        EQUALITIES['joint alone'] + '<joint joint1="reach" joint2="turn"/>',
        "coupling of joint 'reach': the joint has two couplings",
    ),
    'too far': (
        '<connect name="far" body1="box" anchor="1e40 0 0"/>',
        "equality 'far': data: expected finite numbers up to 1e+30",
    ),
}


@pytest.mark.parametrize(('equality', 'culprit'), REFUSED.values(), ids=REFUSED)
def test_an_equality_is_refused_by_name(equality, culprit):
    with pytest.raises(ModelError) as error:
        model_from_mjcf(with_equality(equality))
    assert str(error.value).startswith('robot description: ' + culprit)
