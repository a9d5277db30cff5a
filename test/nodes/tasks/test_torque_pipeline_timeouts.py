"""Torques that the pipeline sends when states stop or cannot be used."""

import time

from support.nodes import graph as ros
from support.nodes.pipeline_parts import NAMES, SECOND, Parts, faded, full, not_finite

import numpy as np
import pytest
from rclpy.serialization import serialize_message

from robot_dynamics_ros.control.guards.state_gate import StateGate
from robot_dynamics_ros.control.guards.torque_ramp import LONGEST


def test_where_states_are_missing_they_follow_it_before_the_fallback_is_asked():
    parts = Parts()
    parts.state(500.0)
    assert parts.pause(500.02) == ['look at the clock', ('fallback', 500_020_000_000), ('publish', 500 * SECOND)]
    assert parts.answered == 0  # a torque of the fallback answers no state


def test_a_fallback_without_a_torque_publishes_nothing_and_says_why():
    parts = Parts()
    parts.state(500.0)
    parts.pipeline.fallback.fault = 'gravity_torque: the result is not finite'
    assert parts.pause(500.02) == ['look at the clock']
    assert parts.pipeline.silence.endswith('gravity_torque: the result is not finite')
    assert not parts.pause(500.03)


def test_a_fallback_says_why_it_acts():
    parts = Parts()
    parts.pipeline._refuse = lambda reason: None
    parts.state(500.0)
    for k in range(3):
        parts.time = round((500.02 + 0.001 * k) * SECOND)
        parts.pipeline.on_state(serialize_message(ros.joint_state(NAMES[:1], parts.time, [0.0], [0.0])))
        parts.pause(500.0205 + 0.001 * k)
        reason = "an input is missing: down to zero; joint state rejected: joint 'elbow' is missing; given: shoulder"
        assert parts.pipeline.silence == reason


def test_when_the_fallback_has_ended_a_last_state_without_a_joint_does_not_hide_that_none_comes(monkeypatch):
    parts = Parts()
    parts.pipeline._refuse = lambda reason: None
    parts.state(500.0)
    for k in range(30):
        parts.pause(500.02 + 0.05 * k)
    assert not parts.pipeline.fallback.armed
    parts.pipeline.on_state(serialize_message(ros.joint_state(NAMES[:1], 503 * SECOND, [0.0], [0.0])))
    assert "'elbow' is missing" in parts.pipeline.status()
    later = time.monotonic() + 5.0
    monkeypatch.setattr(time, 'monotonic', lambda: later)
    assert parts.pipeline.status().startswith('no joint state for 5.')


def test_a_ramp_to_zero_goes_on_evenly_while_the_estimated_age_limit_changes():
    parts, sent = Parts(), []
    parts.state(500.0)
    for k, limit in enumerate((0.01, 0.03, 0.01, 0.05)):
        parts.pipeline._gate.limit = limit
        parts.pause(500.1 + 0.04 * k)
        sent.append(parts.sent)
    assert sent == pytest.approx([1.0, 0.96, 0.92, 0.88])


def test_a_clock_that_is_set_back_within_a_ramp_does_not_interrupt_it_until_the_age_limit_is_known_again():
    parts, sent = Parts(), []
    parts.pipeline._gate, parts.pipeline._refuse = StateGate(0.0), lambda reason: None
    for k in range(8):
        parts.state(500.0 + 0.002 * k)
    for k in range(4):
        parts.pause(500.1 + 0.01 * k)
        sent.append(parts.sent)
    for k in range(4):
        assert len(parts.state(300.0 + 0.01 * k, names=NAMES[:1])) > 1
        sent.append(parts.sent)
    assert (np.diff(sent[:4]) < 0.0).all() and (np.diff(sent[4:]) < 0.0).all() and sent[4] == sent[3]


def test_after_a_law_without_a_finite_torque_the_zero_of_a_ramp_is_sent_once():
    parts = Parts()
    parts.state(500.0)
    parts.torque = not_finite
    now = 500.0
    while parts.sent:
        now += 0.05
        parts.pause(now)
    for k in range(3):
        assert 'publish' not in [call[0] for call in parts.state(now + 0.01 * k)]


def test_a_pause_counts_no_longer_for_the_rate_limit_than_for_the_ramp():
    parts, sent = Parts(), []
    parts.state(500.0)
    parts.pipeline._gate.limit, parts.pipeline.limiter.rate_limit[:] = 0.9, 0.2
    for k in range(2, 10):
        parts.pause(500.0 + 0.7 * k)
        sent.append(parts.sent)
    steps = np.diff(sent)
    assert (steps < 0.0).all() and (steps > -0.2 * LONGEST - 1e-12).all()


@pytest.mark.parametrize('rate', [0.0, 0.1], ids=['paused', 'a tenth of real time'])
def test_no_state_is_overdue_while_the_clock_of_the_arm_has_not_passed_the_age_limit(rate):
    parts, limit = Parts(), 0.01
    parts.state(500.0)
    parts.calls.clear()
    began = time.monotonic()
    while (passed := time.monotonic() - began) < 0.9 * limit / (rate or 0.1):
        parts.pause(500.0 + rate * passed)
    assert not parts.calls and not parts.pipeline.silence
    assert parts.pause(500.02)


def test_a_clock_that_goes_back_neither_starts_nor_ends_the_fallback():
    parts = Parts()
    parts.state(500.0)
    assert not parts.pause(500.008)
    assert not parts.pause(300.0)
    assert not parts.pause(300.0015)
    assert parts.pause(300.003)[1] == ('fallback', 300_003_000_000)
    assert parts.pause(100.0)[1] == ('fallback', 100 * SECOND)


def test_after_a_ramp_to_zero_the_torque_fades_in_from_what_the_ramp_has_left():
    parts = Parts(0.04)
    last = full(parts, 500.0)
    for k in range(1, 30):
        parts.pause(last + 0.02 * k)
    left = parts.sent
    assert 0.2 < left < 0.8
    first, second = faded(parts, last + 0.6, last + 0.61)
    assert first == left
    assert second == pytest.approx(left + 0.25 * (1.0 - left), abs=1e-6)


def test_a_ramp_to_zero_in_mid_fade_in_begins_with_the_torque_that_was_sent():
    parts = Parts(0.04)
    faded(parts, 500.0, 500.01, 500.02)
    parts.pause(500.04)
    assert parts.sent == pytest.approx(0.5, abs=1e-6)
