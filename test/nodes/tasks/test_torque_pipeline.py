"""Which parts the pipeline calls, and in which order; torques are compared by the graph fuzz and by other files."""

from types import SimpleNamespace

from support.nodes import graph as ros
from support.nodes.pipeline_parts import NAMES, SECOND, Parts, faded, full

import numpy as np
import pytest
from rclpy.serialization import serialize_message

from robot_dynamics_ros.control.guards.torque_ramp import LONGEST
from robot_dynamics_ros.control.law import INTERRUPTION, TORQUE
from robot_dynamics_ros.nodes.tasks import torque_pipeline
from robot_dynamics_ros.nodes.tasks.torque_pipeline import MAX_STALLED_COMMANDS, OWN_STATE_TIMEOUT_S, STEP


def test_the_torque_of_a_state_is_the_laws():
    parts, stamp = Parts(), 501 * SECOND
    assert parts.state(501.0) == [('law', stamp), ('publish', stamp)]
    assert parts.answered == stamp


def test_the_law_knows_when_the_state_came_beside_its_stamp():
    parts = Parts()
    parts.state(500.0)
    parts.time += SECOND // 200
    parts.pipeline.on_state(serialize_message(ros.joint_state(NAMES, 500 * SECOND, [0.0] * 2, [0.0] * 2)))
    assert (parts.measured.stamp, parts.measured.time) == (500 * SECOND, 500 * SECOND + SECOND // 200)


def test_the_law_knows_the_torque_that_was_sent_last():
    parts = Parts(fade_in_time=1.0)
    for seconds, sent in ((501.0, 0.0), (501.005, 0.005)):
        parts.state(seconds)
        assert parts.measured.sent.tolist() == pytest.approx([sent, sent]), seconds


def test_where_the_clock_was_set_back_payload_and_gravity_follow_it_before_the_law_is_asked():
    parts, stamp = Parts(), 200 * SECOND
    parts.state(500.0)
    assert parts.state(200.0) == ['look at the clock', ('law set back', stamp), ('law', stamp), ('publish', stamp)]
    assert len(parts.state(201.0)) == 2


def of_gripper(parts, k=0):
    """Have a gripper's own state come; return what was asked."""
    parts.calls.clear()
    names = [f'finger_{k}', 'thumb']
    parts.pipeline.on_state(serialize_message(ros.joint_state(names, parts.time, [0.0, 0.0], [0.0, 0.0])))
    return parts.calls


def test_states_of_other_joints_alone_are_skipped_while_those_of_the_arm_come():
    parts = Parts()
    for k in range(40):
        assert len(parts.state(500.0 + 0.002 * k)) == 2
        assert of_gripper(parts, k % 3) == []
        assert (parts.pipeline.silence, parts.pipeline.counts.rejected_reasons()) == ('', {})
    assert (parts.pipeline.counts.received, parts.pipeline.counts.published) == (80, 40)
    others = parts.pipeline._state._input._others
    assert len(others) == 3
    length, link = 0, others[0].error.__traceback__
    while link is not None:
        length, link = length + 1, link.tb_next
    assert length <= 5  # and not one for each message


def test_an_arm_whose_states_all_lack_its_joints_is_reported_by_name(monkeypatch):
    parts, reason = Parts(), "joint state rejected: joint 'shoulder' is missing; given: finger_0, thumb"
    monkeypatch.setattr(parts.pipeline, '_refuse', parts.calls.append)
    assert of_gripper(parts) == [reason] and parts.pipeline.silence == reason
    parts.state(500.0)
    assert of_gripper(parts) == []
    parts.pipeline._own -= OWN_STATE_TIMEOUT_S  # the arm has stopped, the gripper has not
    assert of_gripper(parts)[-1] == reason
    parts.state(500.1)
    parts.pipeline.begin()
    assert of_gripper(parts) == [reason]


def test_only_publishers_of_the_joints_of_the_arm_are_counted():
    parts = Parts()
    arm, gripper = (
        ros.joint_state(names, 500 * SECOND, [0.0, 0.0], [0.0, 0.0]) for names in (NAMES, ('thumb', 'finger'))
    )
    for message, gid in ((arm, b'1'), (gripper, b'2'), (arm, b'1')):
        parts.pipeline.on_state(serialize_message(message), {'publisher_gid': {'data': gid}})
    assert len(parts.pipeline.sources.arm.known) == 1
    parts.pipeline.on_state(serialize_message(arm), {'publisher_gid': {'data': b'3'}})
    assert len(parts.pipeline.sources.arm.known) == 2
    parts.pipeline.begin()
    assert not parts.pipeline.sources.arm.known


@pytest.fixture
def finish(monkeypatch):
    """Return the reason, the commands and the real time of a ramp from 1 N m to zero, at most 1 N m a second."""

    def finish(ramp_time, rate, pauses=(), rate_limit=1.0):
        """Let simulated time pass at ``rate`` times real time; the first sleeps are ``pauses``, s, without it."""
        parts, steady, pauses = Parts(), [0.0], list(pauses)

        def sleep(duration):
            if pauses:
                steady[0] += pauses.pop(0)
                return
            steady[0] += duration
            parts.time += round(rate * duration * SECOND)

        parts.state(500.0)
        parts.pipeline.limiter.rate_limit[:], parts.pipeline.limiter.last[:] = rate_limit, 1.0
        parts.calls.clear()
        monkeypatch.setattr(torque_pipeline, 'time', SimpleNamespace(monotonic=lambda: steady[0], sleep=sleep))
        reason = parts.pipeline.finish(ramp_time)
        return reason, [torque[0] for _, torque in parts.calls], steady[0]

    return finish


@pytest.mark.parametrize('rate', [1.0, 0.1, 0.02])
def test_the_ramp_at_deactivation_goes_on_while_simulated_time_crawls(finish, rate):
    reason, commands, lasted = finish(0.0, rate)
    assert (reason, commands[-1]) == ('', 0.0)
    assert lasted == pytest.approx(1.0 / rate, abs=2 * STEP)


def test_a_pause_of_the_process_does_not_end_the_ramp(finish):
    """Directly after a pause, the process may not have received the newest time yet."""
    reason, commands, _ = finish(0.0, 0.02, [1.2, 2.5])
    assert (reason, commands[-1]) == ('', 0.0)


def test_nor_does_the_ramp_make_a_step_after_it(finish):
    reason, commands, _ = finish(1.0, 1.0, [0.01, 0.3, 60.0], rate_limit=0.0)
    assert (reason, commands[0], commands[-1]) == ('', 1.0, 0.0)
    steps = np.diff(commands)
    assert (steps < 0.0).all() and (steps > -LONGEST - 1e-12).all()


def test_after_a_torque_of_zero_there_is_no_ramp():
    parts = Parts()
    parts.torque = at_rest
    parts.state(500.0)
    parts.calls.clear()
    assert parts.pipeline.finish(60.0) == ''
    assert parts.calls == [('command', [0.0, 0.0])]
    assert parts.answered == 0  # no state


def at_rest(state, out):
    out[:] = 0.0
    return TORQUE


@pytest.mark.parametrize('ramp_time', [0.0, 3.0])
def test_it_is_given_up_where_simulated_time_stands_still(finish, ramp_time):
    reason, commands, lasted = finish(ramp_time, 0.0)
    assert 'stands still' in reason
    assert commands[-1] == 1.0
    assert lasted == pytest.approx(ramp_time + MAX_STALLED_COMMANDS * STEP, abs=2 * STEP)


# fade-in


def test_the_first_torque_is_zero_and_the_torque_grows_with_the_clock_of_the_arm():
    torques = faded(Parts(0.04), 500.0, 500.01, 500.02, 500.03, 500.04, 500.05)
    np.testing.assert_allclose(torques, [0.0, 0.25, 0.5, 0.75, 1.0, 1.0], rtol=0, atol=1e-6)
    assert torques[-1] == 1.0


def test_without_a_fade_in_the_first_torque_is_that_of_the_law():
    assert faded(Parts(), 500.0) == [1.0]


def test_time_beyond_the_age_limit_does_not_end_the_fade_in():
    assert faded(Parts(0.04), 500.0, 500.5) == [0.0, pytest.approx(0.25)]


@pytest.mark.parametrize(('pause', 'fades'), [(0.9 * INTERRUPTION, False), (1.1 * INTERRUPTION, True)])
def test_after_a_long_silence_it_fades_in_from_the_last_torque_that_was_sent(pause, fades):
    parts = Parts(0.04)
    last = full(parts, 500.0)
    parts.torque = three_times
    found = faded(parts, last + pause, last + pause + 0.01)
    assert found == ([1.0, pytest.approx(1.5, abs=1e-6)] if fades else [3.0, 3.0])


def test_an_activation_fades_in_from_the_last_torque_that_was_sent():
    parts = Parts(0.04)
    last = full(parts, 500.0)
    parts.pipeline.begin()
    parts.torque = three_times
    assert faded(parts, last + 0.01, last + 0.02) == [1.0, pytest.approx(1.5, abs=1e-6)]


@pytest.mark.parametrize('pause', [1.1 * INTERRUPTION, -300.0], ids=['later', 'clock set back'])
def test_an_activation_long_after_the_last_torque_fades_in_from_zero(pause):
    parts = Parts(0.04)
    last = full(parts, 500.0)
    parts.pipeline.begin()
    parts.torque = three_times
    assert faded(parts, last + pause, last + pause + 0.01) == [0.0, pytest.approx(0.75, abs=1e-6)]


def test_rare_states_do_not_restart_a_fade_in_that_has_not_ended():
    parts = Parts(0.04)
    assert not parts.pipeline.fades_in
    torques = []
    for k in range(4):
        torques += faded(parts, 500.0 + 1.25 * k)
        assert parts.pipeline.fades_in
    torques += faded(parts, 505.0)
    assert not parts.pipeline.fades_in
    np.testing.assert_allclose(torques, [0.0, 0.25, 0.5, 0.75, 1.0], rtol=0, atol=1e-6)
    parts.torque = three_times
    assert faded(parts, 506.25, 507.5) == [1.0, pytest.approx(1.5, abs=1e-6)]
    parts.pipeline.begin()
    assert not parts.pipeline.fades_in


def test_the_law_knows_the_time_since_the_last_state_within_the_age_limit():
    parts, found = Parts(), []

    def torque(state, out):
        found.append(state.elapsed)
        return three_times(state, out)

    parts.torque = torque
    faded(parts, 500.0, 500.004, 500.004, 500.104, 300.0, 300.002)
    np.testing.assert_allclose(found, [0.0, 0.004, 0.0, 0.01, 0.0, 0.002], rtol=0, atol=1e-9)


def three_times(state, out):
    out[:] = 3.0
    return TORQUE


def test_a_clock_that_was_set_back_does_not_stop_the_fade_in():
    parts = Parts(0.04)
    faded(parts, 500.0, 500.01, 200.0)
    assert full(parts, 200.01) < 201.0


def test_a_command_of_zero_at_a_deactivation_does_not_fade_in():
    parts = Parts(0.04)
    last = full(parts, 500.0)
    parts.pipeline.begin()
    faded(parts, last + 0.01, last + 0.02)
    parts.calls.clear()
    assert parts.pipeline.finish(0.0) == ''
    assert parts.calls == [('command', [0.0, 0.0])]
