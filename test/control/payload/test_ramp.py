"""A ramp that replaces another one makes no step, unless that step was asked for."""

from dataclasses import replace

from support.robots.facade_robots import robot_of

import numpy as np
import pytest

from robot_dynamics_ros import Payload
from robot_dynamics_ros.control.payload.payload_blending import GravityTorque, PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import GravityRamp, PayloadGravity, PayloadRamp
from robot_dynamics_ros.control.payload.ramp import LATE_NS, SHORTEST_NS

SECOND = 1_000_000_000
NOW = 100 * SECOND
DOWN, SIDEWAYS = (0.0, 0.0, -9.81), (9.81, 0.5, 0.0)
NOTHING: dict = {}
TOOL = {'ee_link': Payload(3.0, (0.1, 0.0, 0.05))}
OTHER = {'wrist3_Link': Payload.box(1.0, (0.1, 0.2, 0.3))}
Q = np.array([0.4, -0.7, 0.9, -0.3, 0.5, 0.2])


def ramp(after, before=NOTHING, start=NOW, duration=SECOND // 2):
    return PayloadRamp(after, before, start, duration)


HELD = ramp(TOOL, start=NOW - 50 * SECOND)


@pytest.mark.compiled
@pytest.mark.parametrize(
    'told',
    [
        ramp(NOTHING, duration=0),  # of a server that starts anew, without a file
        ramp(OTHER, start=NOW - 20 * SECOND),  # of another one, which has been there for some time
        ramp(OTHER, TOOL, NOW - 2 * LATE_NS),  # late
        ramp(OTHER, TOOL, NOW - 10 * SECOND),  # of a clock that is behind
        ramp(NOTHING, OTHER, NOW - 40 * SECOND, 41 * SECOND),  # under way, from another value
        ramp({'ee_link': Payload(3.2, (0.1, 0.0, 0.05))}, start=NOW - SECOND),  # finished, near the value in force
    ],
    ids=['anew', 'second', 'late', 'behind', 'under way', 'near'],
)
def test_a_torque_makes_no_step_where_a_message_does_not_continue_what_is_held(told):
    robot, gravity = robot_of('aubo_i5'), GravityRamp(DOWN, DOWN)
    followed = told.without_step(HELD, NOW)
    assert followed.at(NOW) is HELD.at(NOW) and followed.after is told.after
    assert followed.duration == max(SHORTEST_NS, told.start + told.duration - NOW)
    blender, torques = PayloadBlender(GravityTorque, robot, PayloadGravity(HELD, gravity)), []
    for k in range(-1, 102):
        if k == 0:
            blender.take(PayloadGravity(followed, gravity))
        torques.append(np.zeros(6))
        blender.torque(NOW + k * followed.duration // 100, Q, out=torques[-1])
    whole = np.abs(torques[-1] - torques[0])
    assert whole.max() > 1.0  # N m
    assert (np.abs(np.diff(torques, axis=0)) <= 0.011 * whole + 1e-9).all()
    exact = np.zeros(6)
    PayloadBlender(GravityTorque, robot, PayloadGravity(told, gravity)).torque(NOW + 100 * SECOND, Q, out=exact)
    assert np.array_equal(torques[-1], exact)


@pytest.mark.parametrize(
    ('held', 'told'),
    [
        (HELD, ramp(OTHER, TOOL)),
        (HELD, ramp(OTHER, TOOL, NOW - LATE_NS // 2)),  # on its way for so long
        (HELD, ramp(OTHER, TOOL, NOW + SECOND // 10)),  # of a clock that is ahead
        (HELD, ramp(OTHER, TOOL, duration=0)),  # a step that was asked for
        (HELD, ramp(TOOL, OTHER, NOW - 9 * SECOND)),  # the value in force
        (HELD, replace(HELD, duration=0)),  # the same, finished when a clock was set back
        (
            ramp(TOOL, start=NOW - SECOND // 4),
            ramp(TOOL, start=NOW - SECOND // 4 + LATE_NS // 2),
        ),  # moved with it
        (PayloadRamp(), PayloadRamp(start=NOW)),
    ],
    ids=['in time', 'on its way', 'ahead', 'asked for', 'in force', 'finished', 'moved', 'nothing'],
)
def test_a_ramp_that_continues_what_is_held_is_followed_as_it_is(held, told):
    assert told.without_step(held, NOW) is told


def test_a_first_message_asks_for_no_step():
    told = ramp(TOOL, start=NOW - 9 * SECOND, duration=0)
    nothing = PayloadRamp()
    assert told.without_step(nothing, NOW) is told
    followed = told.without_step(nothing, NOW, may_be_asked_for=False)
    assert (followed.at(NOW), followed.after, followed.duration) == (NOTHING, TOOL, SHORTEST_NS)


def test_a_request_that_cuts_a_ramp_short_is_followed_as_it_is():
    under_way = ramp(TOOL, OTHER, NOW - SECOND // 5)
    told = under_way.to('ee_link', Payload(0.5, (0.0, 0.0, 0.0)), NOW, 0.3)
    assert told.without_step(under_way, NOW) is told
    assert told.without_step(under_way, NOW + LATE_NS // 2) is told


def test_gravity_makes_no_step_either():
    held, told = GravityRamp(SIDEWAYS, DOWN, NOW - SECOND, SECOND // 2), GravityRamp(DOWN, DOWN, NOW)
    followed = told.without_step(held, NOW)
    assert (followed.before, followed.after, followed.at(NOW)) == (SIDEWAYS, DOWN, SIDEWAYS)
    asked = held.to(DOWN, NOW, 0.5)
    assert asked.without_step(held, NOW + LATE_NS // 2) is asked
