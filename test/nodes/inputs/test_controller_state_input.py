"""Conversion of controller states, with messages of every release, and the error where their package is missing."""

import importlib.util
from array import array
from types import SimpleNamespace

from support.nodes import graph as ros
from support.robots.small_robots import mixed

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from lifecycle_msgs.msg import State

from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.law import TORQUE, MeasuredState, Outcome
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.nodes.inputs import controller_state_input
from robot_dynamics_ros.nodes.inputs.controller_state_input import ControllerStateInput

NAMES = ['base', 'elbow', 'wrist']
Q, QD, QDD = np.array([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]])
NODE = 'feedforward_node'


class Followed:
    """An input with the motion that it writes."""

    def __init__(self):
        self.desired = np.zeros((3, 3))
        robot = SimpleNamespace(
            joint_names=NAMES,
            continuous_joints=np.array([False, False, True]),
            limits=SimpleNamespace(velocity=np.full(3, 10.0)),
        )
        self.input = ControllerStateInput(robot, 0.1, 20.0, self.desired, PositionLimits(mixed(), 1.0))

    def follow(self, stamp):
        """Return what the input makes of a state of ``stamp``."""
        state = MeasuredState(np.zeros(3), np.zeros(3))
        state.stamp = stamp
        return self.input.follow(state)

    def take(self, **changed):
        """Receive a message and follow it at its stamp; return which rates it lacks."""
        lacking, _ = self.input.receive(message(**changed))
        assert self.follow(changed.get('stamp', 0)) is TORQUE
        return lacking


def point(positions=Q, velocities=QD, accelerations=QDD):
    rows = {'positions': positions, 'velocities': velocities, 'accelerations': accelerations}
    return SimpleNamespace(**{name: array('d', values) for name, values in rows.items()})


def message(names=NAMES, stamp=0, **fields):
    seconds, nanoseconds = divmod(stamp, ros.SECOND)
    header = SimpleNamespace(stamp=Time(sec=seconds, nanosec=nanoseconds))
    return SimpleNamespace(header=header, joint_names=list(names), **(fields or {'reference': point()}))


@pytest.mark.parametrize(
    'fields',
    [
        {'reference': point(), 'speed_scaling_factor': 1.0},
        {'reference': point()},
        {'reference': point([], [], []), 'desired': point()},
        {'desired': point()},
        {'reference': point(), 'desired': point(-Q)},
    ],
    ids=['with a factor', 'without', 'reference not filled', 'no reference', 'both'],
)
def test_the_message_of_each_release_holds_the_desired_motion(fields):
    followed = Followed()
    assert followed.take(**fields) == []
    assert (followed.desired == [Q, QD, QDD]).all()


def test_the_speed_scaling_factor_scales_the_reference():
    followed = Followed()
    followed.take(reference=point(), speed_scaling_factor=0.5)
    assert (followed.desired == [Q, QD / 2, QDD / 4]).all()


def test_without_a_reference_nothing_is_done():
    followed = Followed()
    assert followed.follow(0) == (Outcome.INCOMPLETE, 'no reference yet')
    assert not followed.desired.any()


def test_joints_are_matched_by_name_and_extra_ones_ignored():
    followed = Followed()
    for k, names in enumerate([NAMES, NAMES[::-1], ['rail', 'wrist', 'base', 'gripper', 'elbow'], NAMES]):
        places = [NAMES.index(name) if name in NAMES else 0 for name in names]
        rows = np.array([Q, QD, QDD])[:, places] + k
        for place, name in enumerate(names):
            if name not in NAMES:
                rows[:, place] = np.nan
        followed.take(names=names, stamp=k * ros.SECOND, reference=point(*rows))
        assert (followed.desired == np.array([Q, QD, QDD]) + k).all()


@pytest.mark.parametrize(
    ('rows', 'lacking'),
    [((Q, QD, []), ['accelerations']), ((Q, [], []), ['velocities', 'accelerations']), ((Q, QD, QDD), [])],
)
def test_it_names_the_missing_rates(rows, lacking):
    assert Followed().input.receive(message(reference=point(*rows))) == (lacking, '')


@pytest.mark.parametrize(
    ('wrong', 'text'),
    [
        ({'names': NAMES[:2]}, "joint 'wrist' is missing"),
        ({'names': []}, "joint 'base' is missing"),
        ({'names': [*NAMES, 'elbow']}, "joint 'elbow' is given twice"),
        ({'reference': point(Q[:2])}, 'reference: 3 joints have 2 positions'),
        ({'reference': point([])}, 'reference: 3 joints have 0 positions'),
        ({'reference': point(Q, QD[:1])}, 'reference: 3 joints have 1 velocities'),
        ({'reference': point(Q, QD, [*QDD, 0.0])}, 'reference: 3 joints have 4 accelerations'),
        ({'reference': point(Q, [], QDD)}, 'reference: accelerations need velocities'),
        ({'reference': point(Q, [0.0, np.nan, 0.0])}, "reference: velocity of joint 'elbow' is not finite"),
        ({'reference': point(np.rad2deg(Q))}, "joint 'swing': position 11.4592 is beyond its limits, -3 to 3"),
        ({'reference': point(), 'speed_scaling_factor': -1.0}, 'speed scaling factor >= 0, got -1.0'),
    ],
    ids=lambda value: value if isinstance(value, str) else '',
)
def test_a_wrong_message_is_refused_by_name_and_the_last_one_counts(wrong, text):
    followed = Followed()
    followed.take()
    with pytest.raises(DynamicsError) as refusal:
        followed.input.receive(message(**{'stamp': 1000, 'reference': point(), **wrong}))
    assert text in str(refusal.value)
    assert followed.follow(0) is TORQUE
    assert (followed.desired == [Q, QD, QDD]).all()


def test_a_second_publisher_is_refused_while_the_first_one_publishes(monkeypatch):
    followed, now = Followed(), [5.0]
    monkeypatch.setattr(controller_state_input.time, 'monotonic', lambda: now[0])
    first, second = message(stamp=0), message(stamp=2_000_000, reference=point(-Q))
    followed.input.receive(first, b'1')
    with pytest.raises(DynamicsError, match='controller_state has a second publisher, and the first one is followed'):
        followed.input.receive(second, b'2')
    assert followed.follow(0) is TORQUE and (followed.desired == [Q, QD, QDD]).all()
    now[0] += 0.2  # the first one has ended
    assert followed.input.receive(second, b'2') == ([], 'base')
    assert followed.follow(2_000_000) is TORQUE and (followed.desired == [-Q, QD, QDD]).all()


def test_the_number_of_publishers_is_a_warning():
    followed = Followed()
    assert followed.input.warnings() == []
    followed.input._publishers = lambda: [(b'', '/a'), (b'', '/b'), (b'', '/c')]
    assert followed.input.warnings() == [
        '3 publishers of controller_state (/a, /b, /c): only the first is followed; end the others, or remap the topic'
    ]


@pytest.mark.skipif(importlib.util.find_spec('control_msgs') is not None, reason='control_msgs is installed')
def test_without_control_msgs_it_is_not_configured_and_says_what_to_install(tmp_path):
    with ros.Graph(tmp_path) as running:
        running.start(NODE, arguments=('-p', 'source:=controller_state'), active=False)
        assert running.state_of(NODE) == State.PRIMARY_STATE_UNCONFIGURED
        (line,) = [line for line in running.log(NODE).splitlines() if 'not configured' in line]
        assert "'controller_state' needs the package control_msgs, which is not installed" in line
        running.restart(NODE, source='joint_trajectory')
        assert running.state_of(NODE) == State.PRIMARY_STATE_ACTIVE
