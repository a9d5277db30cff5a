"""Elastic joints: Spong's equations, closed forms, MuJoCo with tendons, the rigid arm as limit, and what is refused."""

import re
from dataclasses import replace

from support.robots import random_trees as trees
from support.robots.simulated_robots import limited, with_friction

import mujoco
import numpy as np
import pytest
from scipy.linalg import block_diag, eigh, expm

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.law import TORQUE, Outcome, Result
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.payload import Payload
from robot_dynamics_ros.simulation import simulate
from robot_dynamics_ros.simulation.elastic_joints import STABLE, ElasticJoints
from robot_dynamics_ros.simulation.plant.mujoco_arm import MujocoArm

URDF = re.sub(r'<dynamics[^>]*>', '', named_urdf('aubo_i5').read_text(encoding='utf-8'))
B = np.array([1.39, 1.3, 0.76, 0.2, 0.2, 0.2])  # kg m^2
ARM = Robot.from_urdf(URDF).with_gravity((1.0, -2.0, -9.0)).with_rotor_inertia(B)
K = np.array([2e4, 2e4, 1.2e4, 4e3, 4e3, 4e3])  # N m/rad
D = np.array([20.0, 20.0, 20.0, 3.0, 1.0, 0.1])  # N m s/rad
ELASTIC = ElasticJoints(ARM, K)
START, REST = np.array([0.3, 0.8, -1.2, 0.5, 0.9, -0.4]), np.zeros(6)
PUSH = ARM.gravity_torque(START) + np.array([20.0, 30.0, -10.0, 3.0, 2.0, 1.0])
FOREARM = ARM.link_names[3]


def pairs(motors, springs):
    """Return numbers of motors and springs in the order of the tree."""
    return np.stack([motors, springs], -1).reshape(*np.shape(motors)[:-1], -1)


def one_joint(damping) -> ElasticJoints:
    """Return one joint of two equal inertias; 100 is the eigenvalue of its undamped mode."""
    model = limited().model
    joint = replace(model.joints[0], rotor=0.02 + 0.25, lower=-np.inf, upper=np.inf)
    robot = Robot(Model.of('one', 'base', [joint])).with_gravity((0.0, 0.0, 0.0))
    return ElasticJoints(robot, 0.5 * 0.27 * 100.0**2, damping)


@pytest.mark.parametrize('seed', range(3))
def test_forward_dynamics_are_spongs_equations(seed):
    """On trees of revolute, prismatic and helical joints, by M, c and g of the links alone; with payload and wrench."""
    rng = np.random.default_rng(seed)
    joints = trees.random_joints(seed, count=7)
    joints[3] = replace(joints[3], kind='helical', pitch=0.2)
    tree = with_friction(Robot(Model.of('tree', trees.BASE, joints)), load=0.0)
    payload = Payload(2.0, (0.1, 0.0, 0.2), 0.01 * np.eye(3))
    robot = (
        tree.with_rotor_inertia(rng.uniform(0.1, 2.0, 7)).with_payload(payload, 'link_7').with_gravity((1.0, 2.0, -9.0))
    )
    stiffness, damping = rng.uniform(1e3, 1e4, 7), rng.uniform(1.0, 20.0, 7)
    elastic = ElasticJoints(robot, stiffness, damping)
    theta, theta_d, tau, deflection, rate = rng.normal(size=(5, 7))
    q, qd, wrench = theta + 0.05 * deflection, theta_d + 0.3 * rate, {robot.link_names[4]: rng.normal(size=6)}
    transmitted = stiffness * (theta - q) + damping * (theta_d - qd)
    qdd = robot.with_rotor_inertia(np.zeros(7)).forward_dynamics(q, qd, transmitted, wrench)
    theta_dd = (tau - robot.friction_torque(theta_d) - transmitted) / robot.rotor_inertia
    v = pairs(theta_d, qd - theta_d)
    of_tree = elastic.tree.forward_dynamics(
        pairs(theta, q - theta), v, pairs(tau, 0.0 * tau) - elastic.tree.friction_torque(v), wrench
    )
    np.testing.assert_allclose(of_tree[::2], theta_dd, rtol=1e-9, atol=1e-9 * abs(theta_dd).max())
    np.testing.assert_allclose(of_tree[::2] + of_tree[1::2], qdd, rtol=1e-9, atol=1e-9 * abs(qdd).max())
    friction = elastic.moving(friction=False).friction_torque(v)
    assert not friction[::2].any()
    np.testing.assert_allclose(friction[1::2], damping * (qd - theta_d), rtol=1e-14)


@pytest.mark.compiled
def test_small_vibrations_have_the_eigenfrequencies_of_scipy():
    """Each mode of K, B and M in weightless space, excited alone at an amplitude of 1e-6 rad, is a cosine of time."""
    arm = ARM.with_gravity((0.0, 0.0, 0.0))
    M = arm.with_rotor_inertia(REST).mass_matrix(START)
    springs = np.block([[np.diag(K), -np.diag(K)], [-np.diag(K), np.diag(K)]])
    squares, modes = eigh(springs, block_diag(np.diag(B), M))
    assert abs(squares[:6]).max() < 1e-9 * squares[6]  # the arm as a whole
    modes = 1e-6 * modes[:, 6:].T / abs(modes[:, 6:]).max(0)[:, None]
    elastic, omega = ElasticJoints(arm, K), np.sqrt(squares[6:])
    x = pairs(START + modes[:, :6], modes[:, 6:] - modes[:, :6])
    motion = simulate(elastic.moving(friction=False), x, 0.0 * x, duration=0.05, step=1e-5, every=100)
    deflection = motion.q[..., 1::2]
    expected = np.cos(omega[:, None] * motion.t)[..., None] * deflection[:, :1]
    np.testing.assert_allclose(deflection, expected, rtol=0, atol=1e-4 * 1e-6)
    inverse = np.linalg.inv(M) + np.diag(1.0 / B)
    assert elastic.stiffest_mode(inverse[None]) == (pytest.approx(omega[-1], rel=1e-10), 'wrist3_joint')


@pytest.mark.compiled
def test_energy_of_ten_seconds_is_constant_to_a_hundred_millionth_of_that_of_the_springs():
    """By Runge-Kutta steps of 40 us; the links exchange 400 times as much with gravity."""
    stiffness = np.append(K[:3], [1e3] * 3)
    motion = simulate(ElasticJoints(ARM, stiffness), START, REST, duration=10.0, step=4e-5, every=25)
    of_springs = 0.5 * np.sum(stiffness * (motion.q - motion.motor_q) ** 2, -1)
    assert np.ptp(of_springs) > 0.1 and np.ptp(ARM.potential_energy(motion.q)) > 400 * np.ptp(of_springs)
    assert abs(motion.energy_drift).max() < 1e-8 * np.ptp(of_springs)


@pytest.mark.compiled
def test_the_distance_to_the_rigid_arm_is_proportional_to_the_compliance():
    rigid = simulate(ARM, START, REST, PUSH, duration=0.5, step=1e-3, every=50)
    factors, distances = (1.0, 10.0, 100.0, 1000.0), []
    for factor in factors:
        elastic = ElasticJoints(ARM, factor * 0.2 * K, np.sqrt(factor) * D)
        steps = 10 * round(50 * factor**0.5)
        motion = simulate(elastic, START, REST, PUSH, duration=0.5, step=0.5 / steps, every=steps // 10)
        distances.append(abs(motion.q - rigid.q)[-1].max())
    assert distances[0] > 1e-3
    assert np.diff(np.log10(distances)) == pytest.approx(-np.ones(3), abs=0.03)


def tendons() -> mujoco.MjModel:
    """Return the arm in MuJoCo with rotors on the base, and a tendon with spring and damper for each joint."""
    spec = mujoco.MjSpec.from_string(URDF)
    for name, inertia in zip(ARM.joint_names, B, strict=True):
        rotor = spec.worldbody.add_body(name=f'{name}_rotor', mass=1.0, inertia=[inertia] * 3)
        rotor.add_joint(name=f'{name}_motor', type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
        tendon = spec.add_tendon(name=name)
        tendon.wrap_joint(f'{name}_motor', 1.0)
        tendon.wrap_joint(name, -1.0)
    model = spec.compile()
    model.tendon_stiffness[:], model.tendon_damping[:], model.tendon_lengthspring[:] = K, D, 0.0
    model.dof_damping[:] = model.dof_frictionloss[:] = model.dof_armature[:] = 0.0
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.gravity[:] = ARM.gravity
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    return model


@pytest.mark.compiled
def test_rotors_and_tendons_in_mujoco_move_the_same():
    motion = simulate(ElasticJoints(ARM, K, D), START, REST, PUSH, duration=0.3, step=1e-4, every=3000)
    model = tendons()
    data = mujoco.MjData(model)
    motors, links = (
        np.array([model.joint(f'{name}{end}').dofadr[0] for name in ARM.joint_names]) for end in ('_motor', '')
    )
    data.qpos[motors], data.qpos[links], data.qfrc_applied[motors] = motion.motor_q[0], motion.q[0], PUSH
    mujoco.mj_step(model, data, 3000)
    np.testing.assert_allclose(motion.q[-1], data.qpos[links], rtol=0, atol=1e-7)
    np.testing.assert_allclose(motion.motor_q[-1], data.qpos[motors], rtol=0, atol=1e-7)
    np.testing.assert_allclose(motion.motor_qd[-1], data.qvel[motors], rtol=0, atol=1e-5)
    assert abs(motion.q[-1] - START).max() > 0.3 and abs(motion.q - motion.motor_q)[-1].max() > 1e-3


@pytest.mark.compiled
def test_the_plant_of_simulated_arm_moves_the_same():
    """MuJoCo's steps of 0.1 ms are of first order, so its motors differ by about 1e-4 rad of 0.2 after 0.2 s."""
    elastic = ElasticJoints(ARM, K, D)
    arm = MujocoArm(ARM, 1e-3, START, elastic=elastic)
    assert arm.position.tolist() == START.tolist() and arm._steps == 10
    arm.brakes = False
    deflection = arm._data.qpos[arm._springs._q].copy()
    arm.torque[:] = ARM.gravity_torque(START + deflection)
    arm.step(100)
    np.testing.assert_allclose(arm.position, START, rtol=0, atol=1e-10)  # motors and springs were at rest
    arm.torque[:] = PUSH
    arm.step(200)
    motion = simulate(elastic, START + deflection, REST, PUSH, duration=0.2, step=1e-4, every=2000)
    np.testing.assert_allclose(motion.motor_q[0], START, rtol=0, atol=1e-12)
    np.testing.assert_allclose(arm.position, motion.motor_q[-1], rtol=0, atol=3e-4)
    np.testing.assert_allclose(arm._data.qpos[arm._springs._q], (motion.q - motion.motor_q)[-1], rtol=0, atol=3e-6)
    assert abs(motion.motor_q[-1] - START).max() > 0.2
    assert abs(motion.q[-1] - motion.motor_q[-1]).max() > 1e-3


def test_closed_brakes_leave_the_links_at_rest_on_their_springs():
    arm = MujocoArm(ARM, 1e-3, START, elastic=ElasticJoints(ARM, K, D))
    arm.brakes = False
    arm.torque[:] = 40.0
    arm.step(20)
    arm.close_brakes()
    stopped = arm.position
    arm.brakes = False
    arm.torque[:] = ARM.gravity_torque(stopped + arm._data.qpos[arm._springs._q])
    arm.step(20)
    assert abs(stopped - START).max() > 1e-3
    np.testing.assert_allclose(arm.position, stopped, rtol=0, atol=1e-10)


def test_springs_that_need_too_many_steps_of_mujoco_are_refused():
    message = (
        r"stiffest mode, \S+ Hz at joint 'wrist3_joint', needs steps of at most \S+e-06 s, more than 50 in 0.001 s"
    )
    with pytest.raises(ArgumentError, match=message):
        MujocoArm(ARM, 1e-3, START, elastic=ElasticJoints(ARM, 1e6))


@pytest.mark.compiled
def test_motors_with_the_torque_of_gravity_stay_and_their_torque_reaches_the_links():
    for robot in (ARM, ARM.with_gravity((3.0, 4.0, 5.0))):
        motion = simulate(ElasticJoints(robot, K), START, REST, robot.gravity_torque(START), duration=0.01, step=1e-4)
        np.testing.assert_allclose(motion.q, np.broadcast_to(START, motion.q.shape), rtol=0, atol=1e-12)
        weight = np.broadcast_to(robot.gravity_torque(START), motion.q.shape)
        np.testing.assert_allclose(motion.joint_torque, weight, rtol=1e-9, atol=1e-9)


class Pull:
    """A law that pulls the motors to the start; ``seen`` are the states that it was given."""

    def __init__(self):
        self.seen = []

    def torque(self, state, out):
        self.seen.append((state.stamp, state.q.copy(), state.qd.copy(), state.resumed))
        out[:] = PUSH - 50.0 * (state.q - START) - 5.0 * state.qd
        return TORQUE

    def stop_following(self):
        self.seen.clear()

    def set_back(self, now):
        raise AssertionError


@pytest.mark.compiled
@pytest.mark.parametrize('friction', [False, True])
def test_all_kinds_of_torque_act_on_the_motors(friction):
    """The law measures the motors; a function has motors and links of the result."""
    elastic = ElasticJoints(with_friction(ARM).with_rotor_inertia(B), K, D)
    more = {'duration': 5e-3, 'step': 1e-4, 'friction': friction}
    seen: list = []
    law = Pull()
    by_law = simulate(elastic, START, REST, law, **more)
    assert np.array_equal([q for _, q, _, _ in law.seen], by_law.motor_q[:-1])
    assert np.array_equal([qd for _, _, qd, _ in law.seen], by_law.motor_qd[:-1])
    assert [(stamp, resumed) for stamp, _, _, resumed in law.seen[:2]] == [(0, True), (100_000, False)]
    tau = np.array([PUSH - 50.0 * (q - START) - 5.0 * qd for _, q, qd, _ in law.seen])
    by_rows = simulate(elastic, START, REST, tau, **more)
    np.testing.assert_allclose(by_law.q, by_rows.q, rtol=0, atol=1e-12)
    by_function = simulate(elastic, START, REST, lambda *state: seen.append(state) or PUSH, **more)
    sides = by_function.motor_q, by_function.motor_qd, by_function.q, by_function.qd
    assert np.array_equal(np.array(seen[4 * 20][1:]), np.array([side[20] for side in sides]))
    np.testing.assert_allclose(by_function.q, simulate(elastic, START, REST, PUSH, **more).q, rtol=0, atol=1e-12)
    transmitted = K * (by_rows.motor_q - by_rows.q) + D * (by_rows.motor_qd - by_rows.qd)
    np.testing.assert_allclose(by_rows.joint_torque, transmitted, rtol=1e-12)
    assert abs(by_rows.energy_drift).max() < 1e-6 * abs(by_rows.work).max()
    same = simulate(elastic, START, REST, tau, **more | {'friction': not friction})
    assert abs(same.motor_q - by_rows.motor_q).max() > 1e-7


def test_an_idle_law_applies_no_torque():
    class Idle(Pull):
        def torque(self, state, out):
            out[:] = 1e3
            return Result(Outcome.IDLE, 'nothing to follow')

    motions = [simulate(ELASTIC, START, REST, law, duration=2e-4, step=1e-4) for law in (None, Idle())]
    assert np.array_equal(motions[0].q, motions[1].q)
    np.testing.assert_allclose(motions[1].joint_torque[0], ARM.gravity_torque(START), rtol=1e-9)
    assert abs(motions[1].energy_drift).max() < 1e-9 and abs(np.diff(motions[1].motor_q, axis=0)).max() > 1e-8


@pytest.mark.compiled
def test_a_batch_with_wrenches_has_the_numbers_of_single_states():
    rng, links = np.random.default_rng(4), len(ARM.link_names)
    q, wrenches = START + 0.1 * rng.normal(size=(3, 6)), np.zeros((3, links, 6))
    wrenches[:, 3] = rng.normal(size=(3, 6))
    more = {'duration': 0.01, 'step': 1e-4}
    motion = simulate(ELASTIC, q, REST, PUSH, wrenches=wrenches, **more)
    assert motion.q.shape == motion.motor_q.shape == motion.joint_torque.shape == (3, 101, 6)
    assert motion.energy.shape == (3, 101)
    for k in range(3):
        single = simulate(ELASTIC, q[k], REST, PUSH, wrenches={FOREARM: wrenches[k, 3]}, **more)
        np.testing.assert_allclose(motion.q[k], single.q, rtol=0, atol=1e-12)
    assert abs(motion.q - simulate(ELASTIC, q, REST, PUSH, **more).q).max() > 1e-6


@pytest.mark.compiled
@pytest.mark.parametrize('method', STABLE)
@pytest.mark.parametrize('ratio', [0.0, 0.1, 1.0, 10.0])
def test_the_longest_step_is_stable_for_any_damping_ratio(method, ratio):
    elastic = one_joint(2.0 * ratio * 0.5 * 0.27 * 100.0)
    rate, joint = elastic.stiffest_mode(np.array([[[2.0 / 0.27]]]), elastic.damping)
    expected = 100.0 * (ratio + np.sqrt(max(ratio**2, 1.0) - 1.0)) if ratio >= 1.0 else 100.0
    assert rate == pytest.approx(expected, rel=1e-5) and joint == 'one'
    step = 0.999 * STABLE[method] / rate
    x, v = np.array([0.0, 0.1]), np.zeros(2)
    motion = simulate(elastic.tree, x, v, duration=500 * step, step=step, method=method, friction=True)
    assert abs(motion.q[400:, 1]).max() < 0.15
    elastic.check_step([0.0], step, method)
    with pytest.raises(ArgumentError, match=r"^step: \S+ s is too long for the stiffest mode, \S+ Hz at joint 'one'"):
        simulate(elastic, [0.0], [0.0], duration=1.002 * step, step=1.002 * step, method=method)


@pytest.mark.parametrize(('share', 'is_stable'), [(0.5, True), (1.03, False)])
def test_a_sampled_damping_of_the_springs_is_stable_up_to_the_gain_of_its_page(share, is_stable):
    zero, one, radii = np.zeros((6, 6)), np.eye(6), []
    for q in (ARM.random(np.random.default_rng(seed)) for seed in range(20)):
        inverse = ELASTIC.tree.mass_matrix_inverse(pairs(q, 0.0 * q))[1::2, 1::2]
        period = 2.0 * np.pi / 3.0 / ELASTIC.stiffest_mode(inverse[None])[0]
        # delta'' = -(M^-1 + B^-1) K delta - B^-1 K_v delta'(of the last sample), K_v = 2 share B / T
        system = np.block([[zero, one, zero], [-inverse * K, zero, -2.0 * share / period * one], [zero, zero, zero]])
        after = expm(period * system)[:12]
        after[:, 6:12] += after[:, 12:]
        radii.append(np.abs(np.linalg.eigvals(after[:, :12])).max())
    assert max(radii) < 1.0 if is_stable else min(radii) > 1.0


def test_the_message_names_joint_frequency_and_longest_step():
    with pytest.raises(ArgumentError, match=r"747\.\d Hz at joint 'wrist3_joint'; expected up to 0\.000\d+ s with rk4"):
        simulate(ELASTIC, START, REST, step=1e-3)
    with pytest.raises(ArgumentError, match=r"^method: 'euler' adds energy to vibrations of elastic joints"):
        simulate(ELASTIC, START, REST, step=1e-6, method='euler')


@pytest.mark.compiled
def test_the_mode_is_that_of_the_start_where_the_arm_is_lightest_there():
    rng = np.random.default_rng(1)
    positions = np.array([ARM.random(rng) for _ in range(1000)])
    inverse = ELASTIC.tree.mass_matrix_inverse(pairs(positions, 0.0 * positions))[:, 1::2, 1::2]
    rates = [ELASTIC.stiffest_mode(one[None])[0] for one in inverse]
    lightest, hertz = positions[np.argmax(rates)], []
    for q in (START, np.stack([START, lightest])):
        with pytest.raises(ArgumentError) as error:
            ELASTIC.check_step(q, 1.0, 'rk4')
        hertz.append(float(re.search(r'mode, (\S+) Hz', str(error.value))[1]))
    assert hertz[1] == pytest.approx(max(rates) / (2.0 * np.pi), rel=1e-3) and hertz[0] < hertz[1]


def test_adaptive_steps_need_no_check():
    motions = [
        simulate(ELASTIC, START, REST, PUSH, duration=1e-4, step=step, method=method, tolerance=1e-10)
        for step, method in ((1e-4, 'adaptive'), (2e-5, 'rk4'))
    ]
    np.testing.assert_allclose(motions[0].q[-1], motions[1].q[-1], rtol=0, atol=1e-12)


def test_motors_and_links_that_move_together_have_the_dynamics_of_the_robot():
    """At deflections of zero the torques of the motors are those of the arm, gyroscopic torques of rotors included."""
    gears = {'motor_inertia': 1e-3, 'gear_ratio': 20.0, 'rotor_direction': -1}
    arm = ARM.with_actuators({name: dict.fromkeys(ARM.joint_names, value) for name, value in gears.items()})
    tree, (q, qd, qdd) = ElasticJoints(arm, K).tree, np.random.default_rng(5).normal(size=(3, 6))
    together = [pairs(of_motors, REST) for of_motors in (q, qd, qdd)]
    expected = arm.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(tree.inverse_dynamics(*together)[::2], expected, rtol=0, atol=1e-10)
    assert abs(expected - ARM.with_rotor_inertia(arm.rotor_inertia).inverse_dynamics(q, qd, qdd)).max() > 1e-3


def test_frames_are_those_of_the_robot():
    theta = pairs(START - 0.01, np.full(6, 0.01))
    for frame in ARM.frame_names:
        np.testing.assert_allclose(ELASTIC.tree.link_pose(theta, frame), ARM.link_pose(START, frame), atol=1e-13)
    assert ELASTIC.tree.joint_names[::2] == ARM.joint_names
    assert ELASTIC.tree.limits.upper[::2].tolist() == ARM.limits.upper.tolist()
