"""What a client reads from diagnostics: silence, verdicts, counts that begin anew, and motions that were dropped."""

import time
from contextlib import nullcontext
from types import SimpleNamespace

from support.nodes import graph as ros

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.client import EndedError, Reached, RefusedError, UnavailableError
from robot_dynamics_ros.client.commands import quaternion
from robot_dynamics_ros.client.motion import Motion
from robot_dynamics_ros.client.node_status import SILENT, Kind, NodeStatus
from robot_dynamics_ros.client.stop_watch import StopWatch
from robot_dynamics_ros.client.verdict import Verdict, status_before

FIELDS = {
    'model digest': 'a',
    'states received': 1000,
    'torques published': 1000,
    'trajectories taken': 3,
    'trajectories refused': 2,
    'trajectory refused last': 'too far',
}


def status(words='publishing', before=None, after=0.0, **fields):
    values = FIELDS | {name.replace('_', ' '): value for name, value in fields.items()}
    message = DiagnosticStatus(message=words, values=[KeyValue(key=k, value=str(v)) for k, v in values.items()])
    return NodeStatus(message, (before.arrived if before else time.monotonic()) + after, before)


def later(words='publishing', **fields):
    return status(words, status(), 1.0, **{'states_received': 1500, 'torques_published': 1500, **fields})


def link(newest):
    """Return the link to a node whose newest status is this one."""
    return SimpleNamespace(
        status=newest,
        target='/node',
        sent={},
        stops=StopWatch(b''),
        wait=lambda condition, timeout: condition(),
        is_in_graph=lambda: True,
    )


@pytest.mark.parametrize('words', SILENT)
def test_words_that_mean_silence_are_those_of_the_page(words):
    assert later(f'{words} and why').silence == f'{words} and why'
    page = (ros.TREE / 'doc' / 'concepts' / 'diagnostics.md').read_text(encoding='utf-8')
    assert f'`{words}' in page


def test_a_node_that_publishes_no_torque_for_a_second_is_silent_whatever_it_says():
    assert later('joint state rejected: too old').silence == ''
    assert later('2 publishers of target_pose (/a, /b): the newest').silence == ''
    assert 'joint state rejected' in later('joint state rejected: too old', torques_published=1000).silence
    assert status('publishing').silence == ''  # the first one
    assert later(torques_published=1000, activations=1).silence == ''  # activated since then


def test_statuses_that_follow_each_other_closely_count_together():
    newest, silent = status(), []
    for _ in range(5):
        newest = status('publishing', newest, 0.2)
        silent.append(bool(newest.silence))
    assert silent == [False, False, False, True, True]
    newest = status('publishing', newest, 0.2, torques_published=1001)
    assert not newest.silence and not status('publishing', newest, 0.2, torques_published=1001).silence


def test_silence_that_lasts_is_an_error():
    connected = link(status('not active'))

    def wait(condition, timeout):
        found, connected.status = condition(), status('not active')
        return found or condition()

    connected.wait = wait
    with pytest.raises(UnavailableError, match='/node publishes no torques: not active'):
        status_before(connected, Kind.MOTION)


@pytest.mark.parametrize(('taken', 'refused', 'found'), [(3, 2, False), (4, 2, True), (3, 3, None), (4, 3, None)])
def test_a_verdict_is_the_count_that_grew(taken, refused, found):
    newest = later(trajectories_taken=taken, trajectories_refused=refused)
    verdict = Verdict(link(newest), Kind.MOTION, status())
    if found is None:
        with pytest.raises(RefusedError, match='too far'):
            verdict.is_taken()
    else:
        assert verdict.is_taken() == found


@pytest.mark.parametrize(('taken', 'refused', 'found'), [(0, 0, False), (1, 0, True), (0, 1, None)])
def test_counts_may_begin_anew(taken, refused, found):
    newest = status(states_received=100, trajectories_taken=taken, trajectories_refused=refused)
    verdict = Verdict(link(newest), Kind.MOTION, status())
    if found is None:
        with pytest.raises(RefusedError):
            verdict.is_taken()
    else:
        assert verdict.is_taken() == found


def test_a_message_that_is_not_counted_is_an_error_with_what_the_node_says():
    newest = later('waiting for payload_state')
    with pytest.raises(UnavailableError, match=r'not counted a trajectory message .* waiting for payload_state'):
        Verdict(link(newest), Kind.MOTION, status()).wait()


def motion_after(newest, before, stamp=0):
    now = time.monotonic()
    states = SimpleNamespace(stamp=1, arrived=now, advanced=now, speed=0.0)
    connected = link(before)
    motion = Motion(connected, states, before, 0.0)
    connected.status, states.stamp = newest, 2 + stamp
    return motion


@pytest.mark.parametrize(
    ('newest', 'words'),
    [
        (lambda: later('trajectory dropped: joint x'), 'says: trajectory dropped: joint x'),
        (lambda: later('fading in; trajectory refused: late'), 'says: trajectory refused: late'),
        (lambda: later('not active'), 'says: not active'),
        (lambda: later(model_digest='b'), 'another robot description'),
        (lambda: status(states_received=10), 'configured again'),
        (lambda: later(activations=1), 'deactivated and activated again'),
    ],
)
def test_a_motion_ends_by_what_the_node_says(newest, words):
    with pytest.raises(EndedError, match=words):
        motion_after(newest(), status()).check()


def test_what_was_said_of_a_motion_before_ends_no_other():
    before = status('trajectory dropped: joint x')
    motion = motion_after(later('trajectory dropped: joint x'), before)
    motion.check()
    motion._link.status = later()
    motion.check()
    motion._link.status = later('trajectory dropped: joint x')
    with pytest.raises(EndedError):
        motion.check()


def test_stamps_that_go_back_end_a_motion():
    with pytest.raises(EndedError, match='went back'):
        motion_after(later(), status(), -2).check()


@pytest.mark.parametrize(('late', 'words'), [(0.24, ''), (0.26, 'this process was late by 0.26 s')])
def test_a_stream_that_is_late_ends_since_the_node_has_ended_it(monkeypatch, late, words):
    clock, motion, sent = SimpleNamespace(now=100.0), motion_after(later(), status()), []
    monkeypatch.setattr('robot_dynamics_ros.client.motion.time.monotonic', lambda: clock.now)
    motion._states.arrived = motion._states.advanced = 100.0
    motion._link.status.arrived = 100.0
    motion._link.wait = lambda condition, timeout: None

    def send():
        sent.append(clock.now)
        clock.now += late if len(sent) == 2 else 0.01
        motion._states.stamp += 1

    expected = pytest.raises(EndedError, match=words) if words else nullcontext()
    with expected:
        motion.repeat_until(7, send)
    assert len(sent) == (2 if words else 5)


def test_quaternions_and_angles_are_those_of_scipy():
    turns = Rotation.random(200, random_state=0)
    halves = Rotation.from_rotvec(np.pi * np.eye(3))
    for turn in [*turns, *halves, Rotation.identity()]:
        found = quaternion(turn.as_matrix())
        np.testing.assert_allclose(Rotation.from_quat(found).as_matrix(), turn.as_matrix(), atol=1e-12)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = turn.as_matrix(), [3.0, 0.0, 4.0]
        np.testing.assert_allclose(Reached.between(np.eye(4), pose), (5.0, turn.magnitude()), atol=1e-7)
