"""Payload ramps: inertial parameters in between are linear in the share of the ramp, and so are torques."""

from support.robots.facade_robots import assert_close, robot_of, same_bits, states

import numpy as np
import pytest

from robot_dynamics_ros import Payload
from robot_dynamics_ros.control.payload.payload_gravity import LARGEST, PayloadRamp, carrier, carrying, check_size
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError

OLD = {'wrist3_Link': Payload.box(3.0, (0.1, 0.2, 0.3), (0.0, 0.1, 0.2))}
NEW = {'wrist3_Link': Payload.cylinder(1.0, 0.1, 0.4, (0.1, 0.0, 0.0))}
ELSEWHERE = {'foreArm_Link': Payload.sphere(2.0, 0.1, (0.0, 0.0, 0.1))}
COM = (0.3, -0.2, 0.5)
START, RAMP_TIME = 5_000_000_000, 2.0
DURATION = 2_000_000_000


def ramp_between(before, after, start=START, ramp_time=RAMP_TIME):
    """Return the ramp between two payloads, each the only entry of a mapping, or none."""
    (frame, payload), *_ = [*after.items(), ('wrist3_Link', Payload(0.0, (0.0, 0.0, 0.0)))]
    return PayloadRamp(before).to(frame, payload, start, ramp_time)


def torques(payloads):
    return carrying(robot_of('aubo_i5'), payloads).inverse_dynamics(*states('aubo_i5', 'inverse_dynamics', (5,)))


@pytest.mark.parametrize('before', [OLD, ELSEWHERE, {}], ids=['same link', 'another link', 'none'])
@pytest.mark.parametrize('after', [NEW, ELSEWHERE, {}], ids=['same link', 'another link', 'none'])
@pytest.mark.parametrize('share', [0.25, 0.9])
def test_torques_go_linearly_from_one_payload_to_the_other(before, after, share):
    ramp = ramp_between(before, after)
    between = ramp.at(START + round(share * DURATION))
    assert_close(torques(between), (1.0 - share) * torques(before) + share * torques(after))


def test_before_and_after_it_is_the_payload_itself():
    ramp = ramp_between(OLD, NEW)
    assert ramp.at(START) == ramp.at(0) == OLD
    assert ramp.at(START + DURATION) is ramp.at(10 * START) is ramp.after
    assert ramp.after == ramp_between(OLD, NEW, ramp_time=0.0).at(START) == NEW
    assert [ramp.share(START + k * DURATION // 4) for k in range(-1, 6)] == [0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0]
    assert PayloadRamp().at(0) == {} and PayloadRamp(OLD).at(0) is OLD
    assert (ramp.mass, PayloadRamp().mass) == (1.0, 0.0)


def test_a_new_ramp_starts_at_the_current_payload():
    ramp = ramp_between(OLD, NEW)
    half = START + DURATION // 2
    cut = ramp.to(*next(iter(ELSEWHERE.items())), half, RAMP_TIME)
    assert_close(torques(cut.at(half)), torques(ramp.at(half)))
    assert_close(torques(cut.at(half + DURATION // 2)), 0.5 * (torques(ramp.at(half)) + torques(ELSEWHERE)))


@pytest.mark.parametrize(
    'heavy', [Payload(LARGEST, (0.3, 0.2, 0.5)), Payload(1e-8, (LARGEST, 0.0, 0.0)), Payload(1e4, (90, 20, 0))]
)
def test_the_largest_payloads_can_be_blended(heavy):
    check_size(heavy)
    ramp = ramp_between({'ee_link': heavy}, {'ee_link': Payload(1.0, COM)})
    for share in np.linspace(0.0, 1.0, 50):
        (carried,) = ramp.at(START + round(share * DURATION)).values()
        assert carried.mass == pytest.approx((1.0 - share) * heavy.mass + share)


@pytest.mark.parametrize(
    'too_much',
    [Payload(2e9, (0, 0, 0)), Payload(1.0, (1e5, 0, 0)), Payload(1e-300, (2e9, 0, 0)), Payload(1, (1e200, 0, 0))],
)
def test_what_rounding_would_spoil_is_refused(too_much):
    with pytest.raises(ArgumentError, match=r'^mass, com, inertia: expected at most 1e\+08 kg'):
        check_size(too_much)


def test_a_removed_payload_leaves_the_bits_of_the_bare_robot():
    assert same_bits(torques(ramp_between(OLD, {}, ramp_time=0.0).at(START)), torques({}))
    assert np.abs(torques(OLD) - torques({})).max() > 1.0


@pytest.mark.parametrize(
    ('frame', 'name'),
    [
        ('', 'wrist3_Link'),
        ('wrist3_Link', 'wrist3_Link'),
        ('ee_link', 'ee_link'),
        ('foreArm_Link', 'foreArm_Link'),
    ],
)
def test_any_frame_carries_a_payload_and_the_last_link_one_without_a_frame(frame, name):
    assert carrier(robot_of('aubo_i5'), Payload(1.0, COM), frame) == name


def test_unknown_frames_and_too_large_payloads_have_no_carrier():
    payload = Payload(1.0, COM)
    with pytest.raises(UnknownNameError, match='elbow'):
        carrier(robot_of('aubo_i5'), payload, 'elbow')
    with pytest.raises(ArgumentError, match='expected at most'):
        carrier(robot_of('aubo_i5'), Payload(2 * LARGEST, COM), '')


def test_a_payload_without_a_ramp_stays_where_the_clock_goes_back():
    at_once = ramp_between(OLD, NEW, ramp_time=0.0)
    assert at_once.at(START - 1) == NEW
    earlier = at_once.to('wrist3_Link', OLD['wrist3_Link'], START - 1, 0.0)
    assert (earlier.before, earlier.after) == (NEW, OLD)


@pytest.mark.parametrize('mass', [5e-324, 0.9e-9])
def test_a_mass_of_which_a_share_may_be_nothing_is_refused(mass):
    with pytest.raises(ArgumentError, match='mass: expected 0 or at least 1e-09 kg'):
        check_size(Payload(mass, COM))
