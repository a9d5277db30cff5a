"""Each joint-space control law and the hold against their formulas, and the error that computed torque leaves."""

import re

from support.robots.small_robots import mixed

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.laws.joint_space_control import LAWS, Hold, JointSpaceControl, gains
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formats.library import named_urdf

ROBOT = Robot.named('aubo_i5')
STIFFNESS = np.array([300.0, 400.0, 300.0, 60.0, 50.0, 40.0])
DAMPING = np.array([30.0, 40.0, 20.0, 4.0, 3.0, 0.0])
BANDWIDTH = 7.0


def drawn(seed=0):
    """Return a measured state (q, qd), a desired one (q, qd, qdd), and a feedforward torque."""
    numbers = np.random.default_rng(seed).uniform(-2.0, 2.0, (6, 6))
    return numbers[:2], numbers[2:5], 20.0 * numbers[5]


def torque(law, state, desired, feedforward=None, robot=ROBOT):
    out = np.full(6, np.nan)
    assert (
        JointSpaceControl(robot, law, STIFFNESS, DAMPING, BANDWIDTH).torque(*state, desired, feedforward, out) is None
    )
    return out


def formula(law, state, desired, feedforward):
    (q, qd), (q_d, qd_d, qdd_d) = state, desired
    if law == 'computed_torque':
        wanted = qdd_d + BANDWIDTH**2 * (q_d - q) + 2 * BANDWIDTH * (qd_d - qd)
        return ROBOT.mass_matrix(q) @ wanted + ROBOT.bias_torque(q, qd) + ROBOT.friction_torque(qd_d)
    added = {'pd': 0.0, 'pd_gravity': ROBOT.gravity_torque(q), 'pd_feedforward': feedforward}
    return STIFFNESS * (q_d - q) + DAMPING * (qd_d - qd) + added[law]


def test_there_are_four_laws():
    assert LAWS == ('pd', 'pd_gravity', 'pd_feedforward', 'computed_torque')


@pytest.mark.parametrize('law', LAWS)
@pytest.mark.parametrize('seed', range(3))
def test_each_law_is_its_formula(law, seed):
    state, desired, feedforward = drawn(seed)
    wanted = formula(law, state, desired, feedforward)
    assert torque(law, state, desired, feedforward) == pytest.approx(wanted, rel=1e-12, abs=1e-10)


@pytest.mark.parametrize('law', LAWS)
def test_each_call_is_for_itself_and_changes_no_argument(law):
    control, out = JointSpaceControl(ROBOT, law, STIFFNESS, DAMPING, BANDWIDTH), np.empty(6)
    for seed in (1, 2, 1):
        state, desired, feedforward = drawn(seed)
        control.torque(*state, desired, feedforward, out)
        assert np.array_equal(out, torque(law, *drawn(seed)))
        assert all(np.array_equal(*pair) for pair in zip((state, desired, feedforward), drawn(seed), strict=True))


@pytest.mark.parametrize('law', [law for law in LAWS if law != 'pd_feedforward'])
def test_feedforward_counts_in_its_own_law_only(law):
    state, desired, feedforward = drawn()
    assert np.array_equal(torque(law, state, desired, feedforward), torque(law, state, desired, None))


@pytest.mark.parametrize('law', LAWS)
def test_gains_are_copied(law):
    stiffness, damping = STIFFNESS.copy(), DAMPING.copy()
    control, out = JointSpaceControl(ROBOT, law, stiffness, damping, BANDWIDTH), np.empty(6)
    stiffness[:], damping[:] = 0.0, 0.0
    state, desired, feedforward = drawn()
    control.torque(*state, desired, feedforward, out)
    assert np.array_equal(out, torque(law, state, desired, feedforward))


def without_friction() -> Robot:
    text = re.sub(r'<dynamics[^>]*>', '', named_urdf('aubo_i5').read_text(encoding='utf-8'))
    return Robot.from_urdf(text)


def test_computed_torque_closes_the_loop_to_a_linear_one():
    """Of its own model, e'' = -w^2 e - 2 w e' at any state."""
    robot, (state, desired, _) = without_friction(), drawn()
    assert not robot.friction_torque(np.ones(6)).any()
    qdd = robot.forward_dynamics(*state, torque('computed_torque', state, desired, robot=robot))
    error, rate = desired[0] - state[0], desired[1] - state[1]
    assert desired[2] - qdd == pytest.approx(-(BANDWIDTH**2) * error - 2 * BANDWIDTH * rate, rel=1e-10)


@pytest.mark.compiled
def test_the_error_under_computed_torque_dies_out_critically_damped():
    """Along a sine, Runge-Kutta of 60 steps of 5 ms: e = (e_0 + (e'_0 + w e_0) t) exp(-w t)."""
    robot, step = without_friction(), 0.005
    control, tau = JointSpaceControl(robot, 'computed_torque', STIFFNESS, DAMPING, BANDWIDTH), np.empty(6)
    size, pace = np.linspace(0.2, 0.7, 6), np.linspace(1.0, 3.0, 6)

    def desired(t):
        return size * np.sin(pace * t), size * pace * np.cos(pace * t), -size * pace**2 * np.sin(pace * t)

    def rate(t, state):
        control.torque(*state, desired(t), None, tau)
        return np.array([state[1], robot.forward_dynamics(*state, tau)])

    first = np.random.default_rng(5).uniform(-0.3, 0.3, (2, 6))
    state = np.array(desired(0.0)[:2]) - first
    for t in np.arange(60) * step:
        k1 = rate(t, state)
        k2 = rate(t + step / 2, state + step / 2 * k1)
        k3 = rate(t + step / 2, state + step / 2 * k2)
        k4 = rate(t + step, state + step * k3)
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += step
        wanted = (first[0] + (first[1] + BANDWIDTH * first[0]) * t) * np.exp(-BANDWIDTH * t)
        assert desired(t)[0] - state[0] == pytest.approx(wanted, abs=1e-7)
    assert abs(wanted).max() < 0.5 * abs(first[0]).max()


@pytest.mark.parametrize('law', ['PD', 'pid', '', None, ['pd']], ids=str)
def test_an_unknown_law_is_refused(law):
    with pytest.raises(ArgumentError) as error:
        JointSpaceControl(ROBOT, law, STIFFNESS, DAMPING, BANDWIDTH)
    laws = 'pd, pd_gravity, pd_feedforward, computed_torque'
    assert str(error.value) == f'control law: expected one of {laws}, got {law!r}'


@pytest.mark.parametrize('name', ['stiffness', 'damping'])
@pytest.mark.parametrize(
    'values', [[1.0] * 5, [], [[1.0] * 6], [1, 1, 1, -1e-9, 1, 1], [np.nan] * 6, [np.inf] * 6, 1.0], ids=str
)
def test_wrong_gains_are_refused_by_name(name, values):
    given = {'stiffness': STIFFNESS, 'damping': DAMPING, name: values}
    with pytest.raises(ArgumentError, match=f'^{name}: expected 6 numbers >= 0, got '):
        JointSpaceControl(ROBOT, 'pd', **given, bandwidth=BANDWIDTH)


@pytest.mark.parametrize('terms', [('coriolis', 'inertia', 'friction'), ('coriolis', 'inertia'), ('gravity',)], ids=str)
def test_computed_torque_leaves_out_what_the_robot_adds_itself(terms):
    (q, qd), (q_d, qd_d, qdd_d), _ = drawn()
    out = np.empty(6)
    control = JointSpaceControl(ROBOT, 'computed_torque', STIFFNESS, DAMPING, BANDWIDTH, terms)
    control.torque(q, qd, (q_d, qd_d, qdd_d), None, out)
    left_out = {'gravity': ROBOT.gravity_torque(q), 'friction': ROBOT.friction_torque(qd_d)}
    whole = formula('computed_torque', (q, qd), (q_d, qd_d, qdd_d), None)
    wanted = whole - sum(torque for term, torque in left_out.items() if term not in terms)
    assert out == pytest.approx(wanted, rel=1e-12, abs=1e-10)


@pytest.mark.parametrize('law', LAWS)
def test_gravity_is_not_carried_twice(law):
    """Where the robot carries the arm itself only pd_gravity has nothing left to say."""
    figures = STIFFNESS, DAMPING, BANDWIDTH
    if law == 'pd_gravity':
        with pytest.raises(ArgumentError, match=r'^control law pd_gravity: gravity would be added twice'):
            JointSpaceControl(ROBOT, law, *figures, terms=('coriolis', 'inertia', 'friction'))
    else:
        assert JointSpaceControl(ROBOT, law, *figures, terms=('coriolis', 'inertia', 'friction')).law == law
    assert JointSpaceControl(ROBOT, law, *figures, terms=('gravity',)).law == law


def test_a_slow_bandwidth_is_allowed():
    assert JointSpaceControl(ROBOT, 'computed_torque', STIFFNESS, DAMPING, 0.2).law == 'computed_torque'


@pytest.mark.parametrize('bandwidth', [0.0, -1.0, np.nan, np.inf])
def test_a_wrong_bandwidth_is_refused(bandwidth):
    with pytest.raises(ArgumentError, match=f'^bandwidth: expected a positive number of rad/s, got {bandwidth}$'):
        JointSpaceControl(ROBOT, 'computed_torque', STIFFNESS, DAMPING, bandwidth)


@pytest.mark.parametrize('law', ['pd_gravity', 'computed_torque'])
def test_a_state_that_is_none_is_refused(law):
    (q, qd), desired, feedforward = drawn()
    with pytest.raises(ArgumentError, match=r'^q\[0\]: nan is not finite$'):
        torque(law, (np.where(np.arange(6) == 0, np.nan, q), qd), desired, feedforward)


def test_computed_torque_overcomes_friction_that_grows_with_its_own_torque():
    load = {'friction_load': dict(zip(ROBOT.joint_names, (0.1, 0.0, 0.05, 0.2, 0.0, 0.3), strict=True))}
    loaded, (state, desired, _) = ROBOT.with_actuators(load), drawn()
    more = torque('computed_torque', state, desired, robot=loaded) - torque('computed_torque', state, desired)
    whole = formula('computed_torque', state, desired, None) - ROBOT.friction_torque(desired[1])
    friction = loaded.friction_torque(desired[1], whole) - ROBOT.friction_torque(desired[1])
    assert more == pytest.approx(friction, rel=1e-9, abs=1e-10) and abs(more).max() > 1.0


def test_gains_are_numbers_for_each_joint():
    assert gains('stiffness', [1, 0, 2.5], 3).tolist() == [1.0, 0.0, 2.5]
    with pytest.raises(ArgumentError, match=r'^stiffness: expected 3 numbers >= 0, got \[1, 2\]$'):
        gains('stiffness', [1, 2], 3)


# Hold


def hold(q, qd, q_hold, **more):
    out = np.full(6, np.nan)
    assert Hold(ROBOT, STIFFNESS, DAMPING, **more).torque(q, qd, q_hold, out) is None
    return out


@pytest.mark.parametrize('seed', range(3))
def test_the_hold_is_its_formula(seed):
    (q, qd), (q_hold, *_), _ = drawn(seed)
    wanted = STIFFNESS * (q_hold - q) - DAMPING * qd
    assert hold(q, qd, q_hold) == pytest.approx(wanted + ROBOT.gravity_torque(q), rel=1e-12, abs=1e-10)
    for terms in (('gravity',), ('gravity', 'inertia')):
        assert hold(q, qd, q_hold, terms=terms).tolist() == hold(q, qd, q_hold).tolist()


def test_the_hold_leaves_gravity_to_a_robot_that_adds_it_itself():
    (q, qd), (q_hold, *_), _ = drawn()
    found = hold(q, qd, q_hold, terms=('coriolis', 'inertia', 'friction'))
    assert found == pytest.approx(STIFFNESS * (q_hold - q) - DAMPING * qd, rel=1e-12, abs=1e-10)


def test_a_hold_copies_its_gains_and_changes_no_argument():
    stiffness, damping, out = STIFFNESS.copy(), DAMPING.copy(), np.empty(6)
    holding = Hold(ROBOT, stiffness, damping)
    stiffness[:], damping[:] = 0.0, 0.0
    for seed in (1, 2, 1):
        (q, qd), (q_hold, *_), _ = drawn(seed)
        holding.torque(q, qd, q_hold, out)
        assert np.array_equal((q, qd, q_hold), (*drawn(seed)[0], drawn(seed)[1][0]))
        assert np.array_equal(out, hold(q, qd, q_hold))


@pytest.mark.parametrize('name', ['stiffness', 'damping'])
def test_wrong_gains_of_a_hold_are_refused_by_name(name):
    given = {'stiffness': STIFFNESS, 'damping': DAMPING, name: [-1.0] * 6}
    with pytest.raises(ArgumentError, match=f'^{name}: expected 6 numbers >= 0, got '):
        Hold(ROBOT, **given)


# Continuous joints: the first of the three turns, the others do not

MIXED = mixed().with_gravity((0.0, 0.0, 0.0))
GAINS = np.array([10.0, 20.0, 30.0]), np.array([1.0, 2.0, 3.0])
STILL = np.zeros(3)
TURN = 2.0 * np.pi


def mixed_torque(law, q, q_desired):
    out = np.full(3, np.nan)
    control = JointSpaceControl(MIXED, law, *GAINS, 2.0)
    control.torque(np.array(q), STILL, (np.array(q_desired), STILL, STILL), STILL, out)
    return out


@pytest.mark.parametrize('law', LAWS)
def test_positions_of_continuous_joints_are_compared_modulo_a_turn(law):
    """3.141 and -3.141 are next to one another."""
    found = mixed_torque(law, [3.141, 0.0, 0.0], [-3.141, 0.0, 0.0])
    wanted = np.array([TURN - 6.282, 0.0, 0.0])
    if law == 'computed_torque':
        wanted = MIXED.mass_matrix([3.141, 0.0, 0.0]) @ (4.0 * wanted)
    assert found == pytest.approx(wanted if law == 'computed_torque' else GAINS[0] * wanted, abs=1e-9)
    assert found[0] > 0.0  # onwards, and not back through zero


@pytest.mark.parametrize('error', [-3.1, -0.2, 0.0, 1.0, 3.1])
@pytest.mark.parametrize('turns', [-7, -1, 0, 1, 100])
def test_the_way_is_the_shortest_after_any_number_of_turns(error, turns):
    found = mixed_torque('pd', [0.5 + turns * TURN, 0.5, 0.5], [0.5 + error, 0.5 + error, 0.5 + error])
    assert found == pytest.approx(GAINS[0] * error, abs=1e-9)


def test_joints_with_limits_have_no_turns():
    found = mixed_torque('pd', [0.0, -3.0, -4.0], [0.0, 3.0, 4.0])
    assert found.tolist() == [0.0, 20.0 * 6.0, 30.0 * 8.0]


def test_a_continuous_joint_is_held_modulo_a_turn():
    out, holding = np.full(3, np.nan), Hold(MIXED, *GAINS)
    holding.torque(np.array([3.141, 0.1, 0.2]), np.array([0.5, 0.0, 1.0]), np.array([-3.141, 0.0, 0.0]), out)
    assert out == pytest.approx([10.0 * (TURN - 6.282) - 0.5, -2.0, -9.0], abs=1e-9)
