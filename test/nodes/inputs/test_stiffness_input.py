"""torque_controller changes the stiffness of its frame on request, and names what it refuses."""

from support.nodes import graph as ros
from support.nodes.feedforward import CONTROLLER as NODE
from support.nodes.feedforward import REST, ROBOT, at, command
from support.nodes.impedance import BASE, BENT, LINK, hold, run

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import WrenchStamped

from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import CartesianHold, Impedance

LARGEST = np.array([20.0, 30.0, 40.0, 300.0, 400.0, 500.0])
PUSHED = BENT + 0.02
REFUSED = 'stiffness refused last'
IN_FORCE = 'rotational stiffness in force, N m/rad', 'translational stiffness in force, N/m'


@pytest.fixture(scope='module')
def graph(file_graph):
    more = {'stiffness': [0.0] * 6, 'damping': [0.0] * 6, 'translational_damping': [0.0, 0.0, 50.0]}
    return run(file_graph, LARGEST.tolist(), **more)


@pytest.fixture
def start(graph):
    """Hold the arm; the time of its first state."""
    return hold(graph)


def stiffness(numbers, frame=BASE) -> WrenchStamped:
    message = WrenchStamped()
    message.header.frame_id = frame
    for part, values in ((message.wrench.torque, numbers[:3]), (message.wrench.force, numbers[3:])):
        part.x, part.y, part.z = map(float, values)
    return message


def in_force(status):
    return np.array([float(number) for name in IN_FORCE for number in status.fields[name].split()])


class Arm:
    """The arm in states 50 ms apart."""

    def __init__(self, graph, start):
        self._graph, self.start, self.t = graph, start, 0.0

    def state(self, q):
        """Let one state come; its torque."""
        self.t += 0.05
        return command(self._graph, at(self.start, self.t), q)

    def until(self, condition, q):
        """Let states come at ``q`` until the diagnostics fulfil a condition; they."""
        for _ in range(30):
            for _ in range(20):
                self.state(q)
            status = self._graph.diagnostics(NODE)
            if condition(status):
                return status
        raise AssertionError(f'{status.message} {status.fields}')

    def reaches(self, numbers, q=BENT):
        """Let states come until a stiffness is in force."""
        self.until(lambda status: np.allclose(in_force(status), numbers), q)


@pytest.fixture
def arm(graph, start):
    return Arm(graph, start)


def held(numbers, q):
    """Return the torque that holds the arm at BENT where it is at ``q``."""
    damping = [0.0, 0.0, 0.0, 0.0, 0.0, 50.0]
    law, out = CartesianHold(ROBOT, Impedance(numbers, REST, REST, damping=damping, farthest=(0.5, 0.1))), np.empty(6)
    law.torque(q, REST, BENT, out)
    return out


def counted(graph):
    """Return how many messages were taken and refused."""
    fields = graph.diagnostics(NODE).fields
    return int(fields['stiffnesses taken']), int(fields['stiffnesses refused'])


def test_a_stiffness_is_followed(graph, arm):
    softer = 0.5 * LARGEST
    arm.reaches(LARGEST)
    taken, refused = counted(graph)
    graph.publish('target_stiffness', stiffness(softer))
    arm.reaches(softer)
    assert counted(graph) == (taken + 1, refused)
    np.testing.assert_allclose(arm.state(PUSHED), held(softer, PUSHED), rtol=0.0, atol=1e-6)


def test_pushed_away_it_grows_as_far_as_its_energy_reaches_and_says_so(graph, arm):
    graph.publish('target_stiffness', stiffness(0.01 * LARGEST))
    arm.reaches(0.01 * LARGEST)
    far = BENT + 0.05
    arm.until(lambda status: status.fields['energy that stiffness may add, J'] == '0.2', far)
    graph.publish('target_stiffness', stiffness(LARGEST))
    told = 'stiffness grows no further: its springs would give'
    status = arm.until(lambda status: told in status.message, far)
    assert (in_force(status) < 0.8 * LARGEST).any() and status.fields['energy that stiffness may add, J'] == '0'
    arm.reaches(LARGEST)
    assert told not in graph.diagnostics(NODE).message


def test_an_axis_with_a_damping_of_its_own_may_be_free_and_is_held_where_it_was_guided_to(graph, arm):
    free = LARGEST * [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    graph.publish('target_stiffness', stiffness(free))
    arm.reaches(free)
    np.testing.assert_allclose(arm.state(PUSHED), held(free, PUSHED), rtol=0.0, atol=1e-6)
    graph.publish('target_stiffness', stiffness(LARGEST))
    arm.reaches(LARGEST, PUSHED)
    # the other axes push as before, and this one does not
    np.testing.assert_allclose(arm.state(PUSHED), held(free, PUSHED), rtol=0.0, atol=1e-6)
    # a trajectory begins there, and they go on
    points = (8.0, PUSHED, REST, REST), (9.0, PUSHED, REST, REST)
    graph.follow(NODE, ros.trajectory(ROBOT.joint_names, at(arm.start, arm.t + 0.05), *points))
    expected = held(free, PUSHED) + ROBOT.friction_torque(REST)
    np.testing.assert_allclose(arm.state(PUSHED), expected, rtol=0.0, atol=0.5)
    assert 'from where it is held or led' not in graph.diagnostics(NODE).message


def test_a_stiffness_that_is_wrong_is_refused_by_name(graph, start):
    taken, refused = counted(graph)
    for message, reason in (
        (stiffness(1.1 * LARGEST), 'rotational x: 22.0 is above 20.0, the largest (rotational_stiffness)'),
        (stiffness(0.0 * LARGEST), 'rotational x: expected a stiffness of at least '),
        (stiffness(LARGEST, LINK), f'stiffness: expected it in the axes of {BASE!r}, got frame {LINK!r}'),
    ):
        graph.publish('target_stiffness', message)
        graph.diagnostics(
            NODE, lambda status, why=reason: status.fields[REFUSED].startswith(f'target_stiffness: {why}')
        )
    np.testing.assert_allclose(in_force(graph.diagnostics(NODE)), LARGEST)
    assert counted(graph) == (taken, refused + 3)


def test_other_laws_and_slight_damping_take_none(graph):
    for parameters, reason in (
        ({'control_law': 'pd_gravity'}, 'only control_law cartesian_impedance has one'),
        ({'damping_ratio': 0.4}, 'damping_ratio: expected at least 0.5, got 0.4'),
    ):
        with graph.parameters(NODE, **parameters):
            graph.publish('target_stiffness', stiffness(LARGEST))
            graph.diagnostics(
                NODE,
                lambda status, why=reason: status.fields['stiffness refused last'].startswith(
                    f'target_stiffness: {why}'
                ),
            )


def test_two_publishers_are_a_warning(graph, start):
    graph.publish('target_stiffness', stiffness(LARGEST))
    second = rclpy.create_node('second_client', context=graph.node.context)
    try:
        second.create_publisher(WrenchStamped, 'target_stiffness', 1)
        graph.tells(
            NODE, '2 publishers of target_stiffness (/second_client, /test_client): the newest stiffness counts'
        )
    finally:
        second.destroy_node()
