"""Springs of joints in MJCF against MuJoCo, in forward dynamics and simulations; what is left out, with a finding."""

from functools import cache

import mujoco
import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.simulation import simulate

TOLERANCE = 1e-11  # of the largest magnitude in the quantity; observed 1e-14
LEG = """
<mujoco model="leg">
  <worldbody>
    <body name="hip" pos="0 0 1">
      <joint name="lift" type="slide" axis="0 0 1" stiffness="300" springref="0.2" ref="0.1"/>
      <geom size="0.1"/>
      <body name="thigh" pos="0.1 0 0">
        <joint name="swing" axis="0 1 0" stiffness="40" springref="30" ref="-20"/>
        <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.4"/>
        <body name="shank" pos="0 0 -0.4">
          <joint name="twist" axis="1 0 1"/>
          <geom type="capsule" size="0.04" fromto="0 0 0 0.1 0 -0.4"/>
          <body name="foot" pos="0.1 0 -0.4">
            <joint name="ankle" axis="0 1 0" stiffness="25" armature="0.01"/>
            <geom type="capsule" size="0.03" fromto="0 0 0 0.2 0 0"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  {outside}
</mujoco>
"""
STATES = np.random.default_rng(3).normal(size=(3, 5, 4))


@cache
def leg(springs=True) -> Robot:
    return Robot.from_mjcf(LEG.format(outside=''), springs=springs)


def agree(found, expected):
    assert np.abs(found - expected).max() <= TOLERANCE * max(1.0, np.abs(expected).max())


def test_spring_torques_and_accelerations_are_mujocos():
    plant = mujoco.MjModel.from_xml_string(LEG.format(outside=''))
    data = mujoco.MjData(plant)
    for q, qd, tau in STATES.swapaxes(0, 1):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
        mujoco.mj_forward(plant, data)
        agree(leg().spring_torque(q, qd), data.qfrc_spring)
        agree(leg().forward_dynamics(q, qd, tau), data.qacc)
    assert not leg().spring_torque([0.2, np.pi / 6, 0.7, 0.0], np.zeros(4)).any()


@pytest.mark.parametrize('method', [None, 'mass_matrix', 'articulated'])
def test_every_method_of_forward_dynamics_has_the_springs(method):
    q, qd, tau = STATES
    qdd = leg().forward_dynamics(q, qd, tau, method=method)
    agree(leg().inverse_dynamics(q, qd, qdd), tau + leg().spring_torque(q, qd))
    agree(qdd, leg(springs=False).forward_dynamics(q, qd, tau + leg().spring_torque(q, qd), method=method))


def test_derivatives_of_forward_dynamics_have_the_stiffness():
    q, qd, tau = (rows[0] for rows in STATES)
    dq = leg().forward_dynamics_derivatives(q, qd, tau)[0]
    step = 1e-6
    differences = [leg().forward_dynamics(q + s * np.eye(4) * step, qd, tau) for s in (1.0, -1.0)]
    expected = ((differences[0] - differences[1]) / (2.0 * step)).T
    assert np.abs(dq - expected).max() <= 1e-6 * np.abs(expected).max()
    assert np.abs(expected).max() > 100.0  # of the springs


@pytest.mark.compiled
def test_specialised_code_has_the_springs():
    q, qd, tau = STATES
    own = leg().compiled()
    for method, vectors in (('forward_dynamics', (q, qd, tau)), ('spring_torque', (q, qd))):
        assert (getattr(own, method)(*vectors) == getattr(leg(), method)(*vectors)).all()
    by_bodies = leg().forward_dynamics(q, qd, tau, method='articulated')
    assert (own.forward_dynamics(q, qd, tau, method='articulated') == by_bodies).all()


def chain_of_springs(count) -> str:
    """Return MJCF of hinges with springs in a row, their axes x, y and z in turn."""
    body = '<body name="link_{}" pos="0.1 0 0.1"><joint axis="{}" stiffness="{}" armature="0.02"/>'
    body += '<geom type="capsule" size="0.03" fromto="0 0 0 0.1 0 0.1"/>'
    axes = '1 0 0', '0 1 0', '0 0 1'
    bodies = [body.format(k, axes[k % 3], 5 + k) for k in range(count)]
    return f'<mujoco><worldbody>{"".join(bodies)}{"</body>" * count}</worldbody></mujoco>'


@pytest.mark.parametrize('count', [12, 13])
def test_operational_space_leaves_out_springs_as_mujocos_bias_does(count):
    """By factors of the mass matrix up to 12 joints, by propagation of forces beyond."""
    text, link = chain_of_springs(count), f'link_{count - 1}'
    robot, plant = Robot.from_mjcf(text), mujoco.MjModel.from_xml_string(text)
    data, J, J_M_inv = mujoco.MjData(plant), np.zeros((6, count)), np.zeros((6, count))
    data.qpos[:] = q = np.random.default_rng(0).uniform(-1.0, 1.0, count)
    mujoco.mj_forward(plant, data)
    mujoco.mj_jacBody(plant, data, J[3:], J[:3], plant.body(link).id)
    assert np.abs(data.qfrc_spring).max() > 5.0
    mujoco.mj_solveM(plant, data, J_M_inv, J)
    expected = np.linalg.solve(J_M_inv @ J.T, J_M_inv @ data.qfrc_bias)
    agree(robot.operational_space_gravity(q, link), expected)


def test_a_mass_on_a_spring_swings_in_a_simulation():
    text = """<mujoco><option gravity="0 0 0"/><worldbody><body>
      <joint name="slide" type="slide" stiffness="8"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
      </body></worldbody></mujoco>"""
    swinging = Robot.from_mjcf(text)
    result = simulate(swinging, [0.3], [0.0], duration=2.0, step=1e-3)
    assert np.abs(result.q[:, 0] - 0.3 * np.cos(2.0 * result.t)).max() < 1e-9


def test_forces_of_loops_leave_out_those_of_springs():
    lock = '<equality><joint joint1="twist" joint2="ankle"/></equality>'
    robot = Robot.from_mjcf(LEG.format(outside=lock))
    q, qd, tau = (rows[0].copy() for rows in STATES)
    q[2], qd[2] = q[3], qd[3]
    qdd, force = robot.forward_dynamics(q, qd, tau), robot.constraint_forces(q, qd, tau)
    J = robot.loop_jacobian(q)
    agree(robot.inverse_dynamics(q, qd, qdd), tau + robot.spring_torque(q, qd) + J.T @ force)
    assert abs(qdd[2] - qdd[3]) < 1e-9


def test_springs_are_left_out_on_request():
    assert not leg(springs=False).spring_torque(*STATES[:2]).any()
    named = [str(it) for it in leg(springs=False).findings if 'spring' in it.message]
    assert named == [f"warning: joint '{joint}': its spring is left out" for joint in ('lift', 'swing', 'ankle')]
    assert not [it for it in leg().findings if 'spring' in it.message]


def test_yaml_keeps_springs_and_a_urdf_refuses_them():
    again = Robot.from_yaml(leg().to_yaml())
    assert leg().digest != leg(springs=False).digest
    assert (again.spring_torque(*STATES[:2]) == leg().spring_torque(*STATES[:2])).all()
    with pytest.raises(ModelError, match=r"^joint 'lift': a URDF cannot hold a spring$"):
        leg().to_urdf()
    assert 'stiffness' not in leg(springs=False).to_yaml()
    leg(springs=False).to_urdf()


def test_locked_and_attached_joints_keep_the_other_springs():
    locked = leg().with_locked_joints({'twist': 0.3})
    q, qd = (np.delete(rows, 2, axis=1) for rows in STATES[:2])
    agree(locked.spring_torque(q, qd), np.delete(leg().spring_torque(*STATES[:2]), 2, axis=1))


def test_a_spring_belongs_to_a_joint_of_one_coordinate():
    ball = Joint('b', 'arm', 'base', 'spherical', np.eye(3)[2], np.eye(3), np.zeros(3), np.zeros(10), stiffness=1.0)
    with pytest.raises(ModelError, match=r"^joint 'b': springs are supported for revolute and prismatic and helical"):
        Model.of('r', 'base', [ball])


TENDON = '<tendon><fixed name="rope" {}><joint joint="ankle" coef="1"/></fixed></tendon>'
LEFT_OUT = {
    'limit': (TENDON.format('limited="true" range="-1 1"'), "tendon 'rope': its limit is left out"),
    'spring': (TENDON.format('stiffness="1"'), "tendon 'rope': its spring is left out"),
    'damping': (TENDON.format('damping="1"'), "tendon 'rope': its damping is left out"),
    'friction': (TENDON.format('frictionloss="1"'), "tendon 'rope': its friction is left out"),
    'medium': ('<option density="1.2"/>', 'option: its medium (density, viscosity) is left out'),
}


@pytest.mark.parametrize('what', LEFT_OUT)
def test_what_leaves_mass_matrix_and_torques_as_they_are_is_left_out_with_a_finding(what):
    outside, finding = LEFT_OUT[what]
    robot = Robot.from_mjcf(LEG.format(outside=outside))
    assert [it for it in map(str, robot.findings) if it.startswith(f'warning: {finding}')]
    q, qd, qdd = STATES
    assert (robot.inverse_dynamics(q, qd, qdd) == leg().inverse_dynamics(q, qd, qdd)).all()


def test_sizes_of_work_memory_and_pictures_are_no_elements():
    outside = """<size nstack="300000" njmax="1000" nuser_geom="1"/>
      <asset><texture name="sky" type="2d" builtin="flat" width="1000" height="1278"/></asset>"""
    assert Robot.from_mjcf(LEG.format(outside=outside)).joint_names == leg().joint_names
