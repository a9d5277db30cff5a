"""Flat lists in any joint order become batches, and results go back in the same order."""

from itertools import permutations

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.terms import dynamics_query
from robot_dynamics_ros.control.terms.dynamics_query import PART, DynamicsQuery
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.robot.quantity import PAYS

ROBOT = Robot.named('aubo_i5')
NAMES = ROBOT.joint_names
ORDERS = [order for k, order in enumerate(permutations(range(6))) if k % 97 == 5]  # most are not their own inverse
ORDERS += [(1, 2, 3, 4, 5, 0), (5, 4, 3, 2, 1, 0)]  # and here no joint stands where the robot has it
FIRST, SECOND, THIRD = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 4, 6))


def query(order, **batches):
    """Return the query of batches (count, 6) in the robot's order, asked in another one."""
    lists = {name: np.asarray(rows)[:, order].ravel().tolist() for name, rows in batches.items()}
    return DynamicsQuery(ROBOT, [NAMES[k] for k in order], **lists)


def test_the_orders_distinguish_a_permutation_from_its_inverse():
    assert sum(tuple(np.argsort(order)) != order for order in ORDERS) >= 5


@pytest.mark.parametrize('order', ORDERS, ids=str)
def test_mass_matrices_in_the_order_asked(order):
    asked = query(order, positions=FIRST)
    assert asked.joint_names == [NAMES[k] for k in order]
    wanted = ROBOT.mass_matrix(FIRST)[:, order, :][:, :, order]
    assert np.array_equal(asked.mass_matrix(), wanted)


@pytest.mark.parametrize('order', ORDERS, ids=str)
def test_accelerations_in_the_order_asked(order):
    asked = query(order, positions=FIRST, velocities=SECOND, efforts=THIRD)
    assert np.array_equal(asked.forward_dynamics(), ROBOT.forward_dynamics(FIRST, SECOND, THIRD)[:, order])


@pytest.mark.parametrize('order', ORDERS, ids=str)
def test_torques_by_their_terms_in_the_order_asked(order):
    terms = query(order, positions=FIRST, velocities=SECOND, accelerations=THIRD).inverse_dynamics()
    assert list(terms) == ['gravity', 'coriolis', 'inertia', 'friction']
    assert np.array_equal(terms['gravity'], ROBOT.gravity_torque(FIRST)[:, order])
    assert np.array_equal(terms['coriolis'], ROBOT.coriolis_torque(FIRST, SECOND)[:, order])
    assert np.array_equal(terms['inertia'], ROBOT.inertia_torque(FIRST, THIRD)[:, order])
    assert np.array_equal(terms['friction'], ROBOT.friction_torque(SECOND)[:, order])
    total = ROBOT.inverse_dynamics(FIRST, SECOND, THIRD) + ROBOT.friction_torque(SECOND)
    assert sum(terms.values()) == pytest.approx(total[:, order], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize('order', ORDERS, ids=str)
def test_columns_of_jacobians_in_the_order_asked(order):
    wanted = ROBOT.jacobian(FIRST, 'wrist2_Link', 'local')
    assert query(order, positions=FIRST).jacobian('wrist2_Link', 'local') == pytest.approx(
        wanted[..., order], abs=1e-12
    )


def test_without_names_the_order_is_the_robots():
    asked = DynamicsQuery(ROBOT, [], positions=FIRST.ravel())
    assert asked.joint_names == list(NAMES)
    assert np.array_equal(asked.mass_matrix(), ROBOT.mass_matrix(FIRST))


@pytest.mark.compiled
@pytest.mark.parametrize('count', [0, 1, 1000])
def test_any_number_of_states(count):
    rows = np.random.default_rng(1).uniform(-2.0, 2.0, (count, 6))
    asked = DynamicsQuery(ROBOT, [], positions=rows.ravel(), velocities=rows.ravel(), efforts=rows.ravel())
    assert np.array_equal(asked.mass_matrix(), ROBOT.mass_matrix(rows))
    assert np.array_equal(asked.forward_dynamics(), ROBOT.forward_dynamics(rows, rows, rows))
    assert asked.mass_matrix().shape == (count, 6, 6)


class Counting:
    """The robot, and in ``counts`` how many states its methods got at once."""

    def __init__(self):
        self.counts = []

    def __getattr__(self, name):
        found = getattr(ROBOT, name)
        if not callable(found):
            return found
        return lambda rows, *given, **named: (self.counts.append(len(rows)), found(rows, *given, **named))[1]


@pytest.mark.parametrize('order', [range(6), [3, 0, 5, 1, 4, 2]])
def test_a_large_request_is_computed_in_parts(monkeypatch, order):
    """Or it would have code of the robot's own compiled."""
    assert PART < PAYS
    monkeypatch.setattr(dynamics_query, 'PART', 3)
    names, robot, columns = ('positions', 'velocities', 'accelerations', 'efforts'), Counting(), list(order)
    q, qd, qdd, tau = rows = np.random.default_rng(1).uniform(-2.0, 2.0, (4, 7, 6))
    lists = {name: row[:, columns].ravel() for name, row in zip(names, rows, strict=True)}
    asked = DynamicsQuery(robot, [NAMES[k] for k in order], **lists)
    terms = asked.inverse_dynamics()
    assert np.array_equal(asked.mass_matrix(), ROBOT.mass_matrix(q)[:, columns][:, :, columns])
    assert np.array_equal(asked.jacobian('ee_link', 'local'), ROBOT.jacobian(q, 'ee_link', 'local')[..., columns])
    assert np.array_equal(asked.forward_dynamics(), ROBOT.forward_dynamics(q, qd, tau)[:, columns])
    assert np.array_equal(terms['gravity'], ROBOT.gravity_torque(q)[:, columns])
    assert np.array_equal(terms['coriolis'], ROBOT.coriolis_torque(q, qd)[:, columns])
    assert np.array_equal(terms['inertia'], ROBOT.inertia_torque(q, qdd)[:, columns])
    assert np.array_equal(terms['friction'], ROBOT.friction_torque(qd)[:, columns])
    assert sorted(robot.counts) == [*[1] * 7, *[3] * 14]


def test_a_state_of_a_later_part_is_named_by_its_place_in_the_request(monkeypatch):
    monkeypatch.setattr(dynamics_query, 'PART', 3)
    positions = np.zeros((7, 6))
    positions[4, 3] = 1e200
    with pytest.raises(ArgumentError, match=r'^positions\[4, 3\]: the angle 1e\+200 rad'):
        DynamicsQuery(ROBOT, [], positions=positions.ravel()).mass_matrix()


def test_the_lists_are_not_changed():
    lists = FIRST.ravel().copy(), SECOND.ravel().copy(), THIRD.ravel().copy()
    asked = DynamicsQuery(ROBOT, NAMES[::-1], positions=lists[0], velocities=lists[1], accelerations=lists[2])
    asked.inverse_dynamics()
    assert all(np.array_equal(given, rows.ravel()) for given, rows in zip(lists, (FIRST, SECOND, THIRD), strict=True))


def test_wrong_names_are_named():
    rest = np.zeros(6)
    with pytest.raises(UnknownNameError, match=r"^unknown joint 'elbow'; there are shoulder_joint, upperArm_joint"):
        DynamicsQuery(ROBOT, [*NAMES[:5], 'elbow'], positions=rest)
    with pytest.raises(UnknownNameError, match=r"^joint 'wrist3_joint' is missing; given: shoulder_joint"):
        DynamicsQuery(ROBOT, NAMES[:5], positions=rest)
    with pytest.raises(ArgumentError, match=r"^joint 'wrist2_joint' is given twice$"):
        DynamicsQuery(ROBOT, [*NAMES, 'wrist2_joint'], positions=rest)


@pytest.mark.parametrize('length', [1, 5, 7, 11])
def test_a_list_of_no_whole_state_is_named(length):
    with pytest.raises(
        ArgumentError, match=f'^positions: expected a multiple of 6 numbers, one for each joint, got {length}$'
    ):
        DynamicsQuery(ROBOT, [], positions=[0.0] * length, velocities=[0.0] * length)


@pytest.mark.parametrize('length', [0, 5, 6, 18])
def test_a_list_of_other_length_is_named(length):
    with pytest.raises(ArgumentError, match=f'^velocities: expected 12 numbers like positions, got {length}$'):
        DynamicsQuery(ROBOT, [], positions=[0.0] * 12, velocities=[0.0] * length)


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_a_number_that_is_none_is_named_by_list_joint_and_state(value):
    efforts = np.zeros(18)
    efforts[6 + 2] = value
    with pytest.raises(ArgumentError) as error:
        DynamicsQuery(ROBOT, NAMES[::-1], positions=np.zeros(18), efforts=efforts)
    assert str(error.value) == f"efforts: {value} for joint 'wrist1_joint' in state 1 is not finite"


def test_no_joints_no_question():
    """A robot of one link alone is a robot; an answer or an error of our own, but no other."""
    alone = Robot.from_urdf('<robot name="alone"><link name="base"/></robot>')
    with pytest.raises(ArgumentError, match=r'^positions: '):
        DynamicsQuery(alone, [], positions=[])


def test_torques_too_large_for_their_friction_are_refused():
    lists = {name: np.zeros(6) for name in ('positions', 'velocities', 'accelerations')}
    lists['velocities'][3] = 1e145  # of which Coriolis torques are finite
    with pytest.raises(ArgumentError, match=r'^inverse_dynamics: the torque overflows'):
        DynamicsQuery(ROBOT.with_friction(quadratic=1e20), [], **lists).inverse_dynamics()


def test_friction_that_grows_with_the_load_is_that_of_the_whole_torque():
    loaded = ROBOT.with_actuators({'friction_load': dict.fromkeys(ROBOT.joint_names, 0.2)})
    terms = DynamicsQuery(loaded, [], positions=FIRST.ravel(), velocities=SECOND.ravel(), accelerations=THIRD.ravel())
    whole = ROBOT.inverse_dynamics(FIRST, SECOND, THIRD)
    friction = terms.inverse_dynamics()['friction']
    assert friction == pytest.approx(loaded.friction_torque(SECOND, whole), rel=1e-12)
    assert abs(friction - ROBOT.friction_torque(SECOND)).max() > 1.0


@pytest.mark.parametrize('count', [0, 1, 3])
def test_states_are_counted(count):
    assert DynamicsQuery(ROBOT, [], positions=np.zeros(6 * count)).count == count


@pytest.mark.parametrize(
    ('query', 'huge', 'message'),
    [
        ('mass_matrix', 'positions', r"^positions\[0, 3\]: the angle 1e\+200 rad of joint 'wrist1_joint' is not below"),
        ('forward_dynamics', 'efforts', '^forward_dynamics: .* some of positions, velocities, efforts are too large$'),
        ('inverse_dynamics', 'velocities', '^bias_torque: .* some of positions, velocities are too large$'),
    ],
)
def test_errors_name_the_lists_of_the_query(query, huge, message):
    """And not the arguments of the library that they become."""
    lists = {name: np.zeros(6) for name in ('positions', 'velocities', 'accelerations', 'efforts')}
    lists[huge][3] = 1e200 if huge in ('positions', 'velocities') else 1.7e308
    with pytest.raises(ArgumentError, match=message):
        getattr(DynamicsQuery(ROBOT, [], **lists), query)()


def test_the_field_of_an_unknown_link_is_named():
    with pytest.raises(UnknownNameError, match=r"^link: no link 'ee_lnk'; did you mean 'ee_link'\? There are "):
        DynamicsQuery(ROBOT, [], positions=np.zeros(6)).jacobian('ee_lnk', 'local')


def test_locked_joints_are_ignored_and_not_in_the_result():
    order = [3, 0, 5, 1, 4, 2]
    names = [NAMES[k] for k in order]
    names.insert(2, 'finger')
    lists = {}
    for name, rows in (('positions', FIRST), ('velocities', SECOND), ('efforts', THIRD)):
        lists[name] = np.insert(rows[:, order], 2, np.nan, axis=1).ravel().tolist()
    asked = DynamicsQuery(ROBOT, names, ('finger', 'thumb'), **lists)
    assert (asked.joint_names, asked.count) == ([NAMES[k] for k in order], 4)
    assert np.array_equal(asked.forward_dynamics(), ROBOT.forward_dynamics(FIRST, SECOND, THIRD)[:, order])
    in_order = DynamicsQuery(ROBOT, ['finger', *NAMES], ('finger',), positions=np.insert(FIRST, 0, 0.0, axis=1).ravel())
    assert np.array_equal(in_order.mass_matrix(), ROBOT.mass_matrix(FIRST))
    with pytest.raises(
        ArgumentError, match=r'^positions: expected a multiple of 7 numbers, one for each joint, got 24$'
    ):
        DynamicsQuery(ROBOT, ['finger', *NAMES], ('finger',), positions=FIRST.ravel())
    with pytest.raises(UnknownNameError, match=r"^unknown joint 'finger'"):
        DynamicsQuery(ROBOT, ['finger', *NAMES], ('thumb',), positions=FIRST.ravel())
    with pytest.raises(ArgumentError, match=rf"^positions: nan for joint '{NAMES[1]}' in state 2 is not finite$"):
        broken = FIRST.copy()
        broken[2, 1] = np.nan
        DynamicsQuery(ROBOT, ['finger', *NAMES], ('finger',), positions=np.insert(broken, 0, 0.0, axis=1).ravel())
