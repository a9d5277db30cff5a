"""Robots with mimic joints in the coordinates of their driven joints, also against Pinocchio's mimic joints."""

import inspect
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from support.robots.facade_robots import TREE, same_bits

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, Payload, Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot, following_mimics
from robot_dynamics_ros.control.arm.following.mimic_joints import MimicJoints, with_followers
from robot_dynamics_ros.control.terms.compensation import TERMS, Compensation
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.model.model import Model

OFFSET, MULTIPLIER = 0.3, -2.0
MIMIC = f'<mimic joint="z_turn" multiplier="{MULTIPLIER}" offset="{OFFSET}"/>'


def mimicking(text=TREE) -> str:
    """Return the tree of the facade's tests, in which a_wag mimics z_turn."""
    before, tag, after = text.partition('<joint name="a_wag"')
    return before + tag + after.replace('</joint>', MIMIC + '</joint>', 1)


def arm() -> DrivenRobot:
    robot = Robot.from_urdf(mimicking(), mimic='couple')
    return DrivenRobot(robot.with_loops([]), MimicJoints(robot.with_loops([]), robot.loops.couplings))


ARM = arm()
WHOLE = ARM.robot
G = np.array([[1.0, 0.0], [0.0, 1.0], [MULTIPLIER, 0.0]])
Y, YD, YDD, TAU = np.random.default_rng(0).uniform(-1.0, 1.0, (4, 6, 2))


def test_locking_the_leader_of_a_coupled_robot_locks_its_followers():
    coupled = Robot.from_urdf(mimicking(), mimic='couple')
    held = coupled.with_locked_joints({'z_turn': 0.4})
    assert held.joint_names == ('m_slide',)
    expected = WHOLE.with_locked_joints({'z_turn': 0.4, 'a_wag': OFFSET + MULTIPLIER * 0.4})
    assert held.torque([0.2], [0.1], [0.3]) == expected.torque([0.2], [0.1], [0.3])
    with pytest.raises(ModelError, match=r"^torque: .* coupling of joint 'a_wag'; .*in_driven_joints$"):
        coupled.torque(np.zeros(3), np.zeros(3), np.zeros(3))
    with pytest.raises(ModelError, match=r"coupling of joint 'a_wag'$"):
        coupled.with_loops([Coupling('a_wag', 'z_turn', (0.0, 0.0, 1.0))]).torque(np.zeros(3), np.zeros(3), np.zeros(3))


def test_joints_are_the_driven_ones():
    assert (ARM.joint_names, ARM.followers, ARM.nv, ARM.nq) == (('z_turn', 'm_slide'), ('a_wag',), 2, 2)
    assert ARM.limits.effort.tolist() == [50.0, 80.0]
    np.testing.assert_allclose(ARM.positions(Y), Y @ G.T + (0.0, 0.0, OFFSET), rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize(
    ('quantity', 'states'),
    [
        ('gravity_torque', ()),
        ('bias_torque', (YD,)),
        ('coriolis_torque', (YD,)),
        ('inertia_torque', (YDD,)),
        ('inverse_dynamics', (YD, YDD)),
    ],
)
def test_torques_are_those_of_virtual_work(quantity, states):
    whole = getattr(WHOLE, quantity)(Y @ G.T + (0.0, 0.0, OFFSET), *(state @ G.T for state in states))
    found = getattr(ARM, quantity)(Y, *states)
    np.testing.assert_allclose(found, whole @ G, rtol=1e-12, atol=1e-12)
    for k in range(len(Y)):  # single states, with and without an array for the result
        out = np.empty(2)
        assert getattr(ARM, quantity)(Y[k], *(state[k] for state in states), out=out) is out
        np.testing.assert_allclose(out, found[k], rtol=1e-12, atol=1e-12)
        single = getattr(ARM, quantity)(Y[k], *(state[k] for state in states))
        assert single.tolist() == out.tolist()


def test_pinocchio_has_the_same_torques():
    pin = pytest.importorskip(
        'pinocchio',
        minversion='3.7',  # earlier ones know no <mimic>
        reason='the outside source, Pinocchio (package pin), is not installed',
    )
    text = mimicking().replace('a_wag', 'wag')  # Pinocchio has joints depth first, children by name
    twin = pin.buildModelFromXML(text, True)
    data = twin.createData()
    place = [[name for name in twin.names[1:] if name != 'wag'].index(name) for name in ARM.joint_names]
    for y, yd, ydd in zip(Y, YD, YDD, strict=True):
        q, qd, qdd = (np.empty(2) for _ in range(3))
        q[place], qd[place], qdd[place] = y, yd, ydd
        np.testing.assert_allclose(
            ARM.inverse_dynamics(y, yd, ydd), pin.rnea(twin, data, q, qd, qdd)[place], rtol=1e-12, atol=1e-12
        )
        g = pin.rnea(twin, data, q, np.zeros(2), np.zeros(2))[place]
        np.testing.assert_allclose(ARM.gravity_torque(y), g, rtol=1e-12, atol=1e-12)


def test_accelerations_invert_torques():
    tau = ARM.inverse_dynamics(Y, YD, YDD)
    np.testing.assert_allclose(ARM.forward_dynamics(Y, YD, tau), YDD, rtol=1e-10, atol=1e-10)
    M = ARM.mass_matrix(Y)
    np.testing.assert_allclose((M @ YDD[..., None])[..., 0], ARM.inertia_torque(Y, YDD), rtol=1e-12, atol=1e-12)
    out = np.empty_like(M)
    assert ARM.mass_matrix(Y, out=out) is out and out.tolist() == M.tolist()


def test_the_inverse_of_the_mass_matrix_is_one():
    M, out = ARM.mass_matrix(Y), np.empty((len(Y), 2, 2))
    assert ARM.mass_matrix_inverse(Y, out=out) is out
    np.testing.assert_allclose(out @ M, np.broadcast_to(np.eye(2), M.shape), rtol=0.0, atol=1e-12)


def test_methods_take_what_those_of_robot_take():
    """A law or node does not know which of both it computes with."""
    shared = [name for name in vars(DrivenRobot) if callable(getattr(Robot, name, None)) and not name.startswith('_')]
    assert {'neutral', 'link_pose', 'jacobian', 'mass_matrix_inverse', 'inverse_dynamics'} <= set(shared)
    for name in shared:
        ours, theirs = (
            {it.name: it.default for it in inspect.signature(getattr(kind, name)).parameters.values()}
            for kind in (DrivenRobot, Robot)
        )
        assert ours.items() <= theirs.items(), name


def test_the_regressor_times_the_parameters_of_all_links_is_the_torque_without_rotors():
    turning = WHOLE.rotor_inertia * (YDD @ G.T)
    wanted = ARM.inverse_dynamics(Y, YD, YDD) - turning @ G
    found = ARM.torque_regressor(Y, YD, YDD) @ WHOLE.inertial_parameters
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)
    for k in range(len(Y)):
        out = np.empty((2, len(WHOLE.inertial_parameters)))
        assert ARM.torque_regressor(Y[k], YD[k], YDD[k], out=out) is out
        np.testing.assert_allclose(out @ WHOLE.inertial_parameters, wanted[k], rtol=1e-11, atol=1e-11)


def test_a_jacobian_is_that_of_the_driven_joints():
    step = 1e-6
    for k in range(2):
        ahead, behind = (ARM.link_pose(Y[0] + sign * step * np.eye(2)[k], 'flag')[:3, 3] for sign in (1.0, -1.0))
        column = ARM.jacobian(Y[0], 'flag', 'local_world_aligned')[3:, k]
        np.testing.assert_allclose(column, (ahead - behind) / (2.0 * step), atol=1e-8)


def test_payload_and_gravity_are_those_of_the_whole_robot():
    carried = Payload(1.2, (0.1, 0.0, 0.05))
    found = ARM.with_gravity((1.0, 2.0, -9.0)).with_payload(carried, 'flag')
    whole = WHOLE.with_gravity((1.0, 2.0, -9.0)).with_payload(carried, 'flag')
    np.testing.assert_allclose(
        found.gravity_torque(Y), whole.gravity_torque(ARM.positions(Y)) @ G, rtol=1e-12, atol=1e-12
    )
    assert found.payloads.keys() == {'flag'} and found.gravity.tolist() == [1.0, 2.0, -9.0]


def test_friction_of_followers_counts_at_their_leader():
    text = mimicking(
        TREE.replace(
            'velocity="2" effort="0"/>', 'velocity="2" effort="0"/><dynamics damping="0.25" friction="0.125"/>'
        )
    )
    whole = Robot.from_urdf(text, mimic='couple')
    found = DrivenRobot(whole.with_loops([]), MimicJoints(whole.with_loops([]), whole.loops.couplings))
    assert found.friction.viscous.tolist() == [0.8 + 4 * 0.25, 5.0]
    assert found.friction.coulomb.tolist() == [1.5 + 2 * 0.125, 3.0]
    fast = np.array([[3.0, -2.0], [-4.0, 5.0]])  # far above the transition velocity
    expected = found.friction.viscous * fast + found.friction.coulomb * np.sign(fast)
    np.testing.assert_allclose(found.friction_torque(fast), expected, rtol=1e-4)
    with pytest.raises(ArgumentError, match=r'qd: expected shape \(\.\.\., 2\), got \(2, 3\)'):
        found.friction_torque(np.zeros((2, 3)))


def test_friction_of_a_batch_is_that_of_its_states():
    robot, (y, yd, tau) = sprung(True), np.random.default_rng(3).normal(size=(3, 4, 5, 2))
    for loads in (None, tau, tau[0, 0], tau[:, :1]):
        found = robot.friction_torque(yd, loads)
        shape = yd.shape if loads is None else np.broadcast_shapes(yd.shape, loads.shape)
        given = np.broadcast_to(np.zeros(2) if loads is None else loads, shape)
        for state in np.ndindex(shape[:-1]):
            assert same_bits(found[state], robot.friction_torque(yd[state], given[state]))
    assert same_bits(robot.friction_torque(yd[0], tau[:, :1]), robot.friction_torque(yd[0] + 0.0 * y, tau[:, :1]))


def test_followers_of_followers_and_constants():
    chain = [Coupling('m_slide', 'a_wag', (0.5, 2.0)), Coupling('a_wag', 'z_turn', (0.1, -1.0))]
    arm = DrivenRobot(WHOLE, MimicJoints(WHOLE, chain))
    assert arm.joint_names == ('z_turn',)
    np.testing.assert_allclose(arm.positions([0.4]), [0.4, 0.5 + 2.0 * (0.1 - 0.4), 0.1 - 0.4], rtol=1e-15)
    held = DrivenRobot(WHOLE, MimicJoints(WHOLE, [Coupling('m_slide', None, (0.2,))]))
    assert held.positions([0.4, 0.6]).tolist() == [0.4, 0.2, 0.6]
    np.testing.assert_allclose(
        held.gravity_torque([0.4, 0.6]), WHOLE.gravity_torque([0.4, 0.2, 0.6])[[0, 2]], rtol=1e-14
    )


REFUSED = {
    'not linear': ([Coupling('a_wag', 'z_turn', (0.0, 1.0, 0.5))], "coupling of joint 'a_wag': it is not linear"),
    'all': ([Coupling(name, None, (0.0,)) for name in WHOLE.joint_names], 'tree: every joint follows another one'),
    'a circle': (
        [Coupling('a_wag', 'z_turn', (0.0, 1.0)), Coupling('z_turn', 'a_wag', (0.0, 1.0))],
        "joint 'z_turn': it mimics itself, by 'z_turn'",
    ),
}


def test_the_coriolis_matrix_has_the_coriolis_torque_and_the_derivative_of_the_mass_matrix():
    for y, yd in zip(Y, YD, strict=True):
        out = np.empty((2, 2))
        assert ARM.coriolis_matrix(y, yd, out=out) is out
        np.testing.assert_allclose(out @ yd, ARM.coriolis_torque(y, yd), rtol=1e-11, atol=1e-12)
        h = 1e-6
        change = (ARM.mass_matrix(y + h * yd) - ARM.mass_matrix(y - h * yd)) / (2.0 * h)
        np.testing.assert_allclose(out + out.T, change, atol=1e-6)


@pytest.mark.parametrize(('couplings', 'message'), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_followed_is_refused_by_name(couplings, message):
    with pytest.raises(ModelError) as error:
        DrivenRobot(WHOLE, MimicJoints(WHOLE, couplings))
    assert str(error.value).startswith(message)


def test_measured_followers_are_where_they_were_measured():
    arm = DrivenRobot(WHOLE, MimicJoints(WHOLE, ARM.couplings))
    loaded = arm.with_payload(Payload(1.0, (0.0, 0.1, 0.0)), 'flag').with_gravity((0.0, 0.0, -9.0))
    y, measured = np.array([0.4, 0.1]), 0.7
    mimicked = OFFSET + MULTIPLIER * 0.4
    for position, expected in ((measured, measured), (np.nan, mimicked)):
        arm.following.measure(y, [position], 0)
        np.testing.assert_allclose(arm.positions(y), [*y, expected], rtol=1e-15)
        whole = loaded.robot.gravity_torque([*y, expected])
        np.testing.assert_allclose(loaded.gravity_torque(y), whole @ G, rtol=1e-13, atol=1e-13)


def test_followers_of_locked_joints_are_locked():
    couplings = [Coupling('b', 'a', (0.1, -2.0)), Coupling('c', 'b', (0.0, 3.0))]
    assert with_followers(couplings, {'a': 0.5}) == {'a': 0.5, 'b': 0.1 - 1.0, 'c': 3.0 * (0.1 - 1.0)}
    assert with_followers(couplings, {'b': 0.5}) == {'b': 0.5, 'c': 1.5}  # its leader stays free
    assert with_followers(couplings, {'a': 0.5, 'b': 0.2}) == {'a': 0.5, 'b': 0.2, 'c': 3.0 * 0.2}
    assert with_followers(couplings, {}) == {}


STIFFNESS, REST = {'z_turn': 12.0, 'a_wag': 30.0}, 0.1
MOTOR_FRICTION = {'viscous': 3.0, 'coulomb': 2.0, 'offset': 0.3, 'load': 0.1, 'stribeck': 0.5, 'quadratic': 0.2}


def sprung(mimicking_joints: bool) -> DrivenRobot:
    """Return the arm with springs and friction, with its mimic joint or with three driven joints."""
    joints = [
        replace(it, stiffness=STIFFNESS.get(it.name, 0.0), rest=REST if it.name in STIFFNESS else 0.0)
        for it in WHOLE.model.joints
    ]
    tree = Robot(Model.of('sprung', WHOLE.link_names[0], joints)).with_friction(**MOTOR_FRICTION)
    found = following_mimics(tree, ARM.couplings if mimicking_joints else ())
    assert isinstance(found, DrivenRobot) and found.nv == (2 if mimicking_joints else 3)
    return found


SPRUNG = pytest.mark.parametrize('robot', [sprung(True), sprung(False)], ids=['mimic', 'all driven'])


def driven_states(robot: DrivenRobot) -> np.ndarray:
    """Return y, yd and ydd (3, 5, m)."""
    return np.random.default_rng(5).uniform(-1.0, 1.0, (3, 5, robot.nv))


@SPRUNG
def test_springs_hold_with_gravity_the_gradient_of_the_energy(robot):
    k, tree = np.array([STIFFNESS.get(name, 0.0) for name in robot.robot.joint_names]), robot.robot

    def energy(y):
        q = robot.positions(y)
        return tree.potential_energy(q) + 0.5 * (k * (q - REST) ** 2).sum(-1)

    y, yd, ydd = driven_states(robot)
    h = 1e-5 * np.eye(robot.nv)
    gradient = np.stack([(energy(y + step) - energy(y - step)) / 2e-5 for step in h], -1)
    np.testing.assert_allclose(robot.gravity_torque(y), gradient, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(robot.gravity_torque(y[0]), gradient[0], rtol=0.0, atol=1e-6)
    g = robot.gravity_torque(y)
    np.testing.assert_allclose(robot.bias_torque(y, yd), robot.coriolis_torque(y, yd) + g, rtol=1e-11, atol=1e-11)
    expected = robot.inertia_torque(y, ydd) + robot.bias_torque(y, yd)
    np.testing.assert_allclose(robot.inverse_dynamics(y, yd, ydd), expected, rtol=1e-11, atol=1e-11)


@SPRUNG
def test_the_whole_torque_is_what_nodes_add_up_and_its_inverse_the_acceleration(robot):
    y, yd, ydd = driven_states(robot)
    tau, out, of_node = robot.torque(y, yd, ydd), np.empty(robot.nv), Compensation(robot, TERMS)
    for k in range(len(y)):
        of_node.torque(y[k], yd[k], ydd[k], out)
        np.testing.assert_allclose(tau[k], out, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(robot.torque(y[k], yd[k], ydd[k]), out, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(robot.acceleration(y, yd, tau), ydd, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(robot.acceleration(y[0], yd[0], tau[0]), ydd[0], rtol=1e-9, atol=1e-9)
    locked = following_mimics(robot.robot.with_friction(load=1.0), robot.couplings)
    with pytest.raises(ModelError, match=r"acceleration: joint 'z_turn' cannot move"):
        locked.acceleration(y, yd, tau)


def test_without_followers_and_springs_a_tree_stays_itself():
    assert following_mimics(WHOLE, ()) is WHOLE


@pytest.mark.parametrize(
    ('quantity', 'last', 'link'),
    [
        ('gravity_torque', '_driven_torque', ()),
        ('jacobian', '_driven_jacobian', ('tool',)),
        ('mass_matrix_inverse', '_driven_inverse', ()),
    ],
)
def test_threads_share_a_robot(quantity, last, link, monkeypatch):
    """As they share a ``Robot``: another thread computes before the last step of the first one."""
    robot = arm()
    one, step = getattr(robot, quantity), getattr(robot, last)
    alone = [one(y, *link).copy() for y in Y[:2]]

    def interrupted(*arguments) -> None:
        monkeypatch.setattr(robot, last, step)
        with ThreadPoolExecutor(1) as pool:
            others.append(pool.submit(one, Y[1], *link).result())
        step(*arguments)

    others = []
    monkeypatch.setattr(robot, last, interrupted)
    assert same_bits(one(Y[0], *link), alone[0]) and same_bits(others[0], alone[1])
