"""The thread that listens to a controller: restarts, and everything that a controller can do wrong."""

import json
import re
import threading
import time
from contextlib import contextmanager

from support.aubo.aubo_controller import OUTPUTS, Arm, AuboController

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.aubo import cbor
from robot_dynamics_ros.aubo.frames import frame
from robot_dynamics_ros.aubo.sample import Sample
from robot_dynamics_ros.aubo.settings_poller import SettingsPoller
from robot_dynamics_ros.aubo.stream_listener import StreamListener

ROBOT = Robot.named('aubo_i5')
CONSTANTS = ROBOT.torque_of_current(np.ones(6))
TIMEOUT = 0.3
"""s of the listener; a busy machine may delay a sample by more, and then the listener connects once more."""
PATIENCE = 30.0


class Heard:
    """What a listener has called, and the listener."""

    def __init__(self, port: int, timeout: float):
        self.stamps, self.positions, self.efforts, self.recipes, self.logged, self.failures = [], [], [], [], [], []
        self.listener = StreamListener(
            ('127.0.0.1', port),
            ROBOT.joint_names,
            CONSTANTS,
            200.0,
            timeout,
            self._on_state,
            self.recipes.append,
            self.logged.append,
            self.failures.append,
        )

    def _on_state(self, sample: Sample, stamp: int) -> None:
        self.stamps.append(stamp)
        self.positions.append(tuple(sample.position))
        self.efforts.append(tuple(sample.effort))

    def until(self, condition, what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f'{what}; silence {self.listener.silence!r}, log {self.logged}'
            time.sleep(0.002)

    def states(self, count: int = 20) -> None:
        """Wait for ``count`` more states."""
        before = len(self.stamps)
        self.until(lambda: len(self.stamps) >= before + count, f'{count} states')


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    """Connect again at once."""
    monkeypatch.setattr('robot_dynamics_ros.aubo.stream_listener.RETRY', 0.02)


@contextmanager
def listening(port: int, timeout: float = TIMEOUT):
    heard = Heard(port, timeout)
    heard.listener.start()
    try:
        yield heard
    finally:
        heard.listener.stop()
    assert heard.failures == []


@pytest.fixture
def controller(arm):
    with AuboController(arm) as running:
        yield running


def test_every_sample_is_a_state_in_order_with_the_time_when_it_was_taken(controller):
    with listening(controller.rtde_port, PATIENCE) as heard:
        heard.states(200)
        assert heard.listener.silence == ''
    sent = {each.position: each for each in controller.sent}
    taken = [sent[position].taken for position in heard.positions]
    assert np.diff(taken).tolist() == [5_000_000] * (len(taken) - 1)  # none is missing
    assert (np.diff(heard.stamps) > 0).all()
    errors = np.array(heard.stamps) - taken
    assert errors.min() > -1e6
    assert np.median(errors) < 20e6  # the least delayed sample counts, however busy the machine is
    np.testing.assert_array_equal(
        heard.efforts[0], controller.arm.torque[(controller.arm.q == heard.positions[0]).all(1)][0]
    )
    assert (heard.listener.lost, heard.listener.rejected) == (0, 0)


def test_twenty_restarts_of_the_controller(controller):
    with listening(controller.rtde_port) as heard:
        for restart in range(1, 21):
            heard.until(lambda: len(heard.recipes) == restart, 'a connection')  # noqa: B023
            if restart % 5 == 0:
                heard.states(3)
            controller.stop()
            heard.until(lambda: heard.listener.silence, 'silence')
            seen = len(heard.stamps)
            controller.start()
        heard.states()
        assert len(heard.stamps) > seen
        assert heard.listener.connections == 21


@pytest.mark.parametrize(
    ('fault', 'said'),
    [
        ('silent', 'no valid sample for 0.3 s: connecting again'),
        ('half', 'has closed the connection in the middle of a message, after'),
        ('garbage', 'no valid sample for 0.3 s: connecting again'),
        ('nan', "the last sample was rejected: R1_actual_q: the number of joint 'foreArm_joint' is not finite"),
        ('frozen', "the last sample was rejected: the controller's time does not increase"),
    ],
)
def test_what_goes_wrong_is_said_once_nothing_is_published_and_the_end_of_it_is_noticed(controller, fault, said):
    with listening(controller.rtde_port) as heard:
        heard.states()
        controller.fault = fault
        heard.until(lambda: said in heard.listener.silence, said)
        count, logged, connections = len(heard.stamps), len(heard.logged), heard.listener.connections
        heard.until(lambda: heard.listener.connections > connections + 1, 'two more attempts')
        assert len(heard.stamps) == count
        assert not any(said in line for line in heard.logged[logged:])  # the same reason is logged once
        controller.fault = ''
        heard.states()
    assert np.isfinite(heard.positions).all()
    assert any(said in line for line in heard.logged)


@pytest.mark.parametrize('jump', [1.0, 3600.0])
def test_a_time_that_jumps_is_said_and_no_stamp_is_later_than_now(controller, jump):
    with listening(controller.rtde_port) as heard:
        heard.states()
        controller.jump = jump

        def said():
            sizes = re.findall(r'jumped by (\S+) s: connecting again', '\n'.join(heard.logged))
            return any(0.5 * jump < float(size) < jump + 0.1 for size in sizes)  # less where samples are late

        heard.until(said, 'it')
        heard.states()
        assert heard.stamps[-1] <= time.monotonic_ns()
    assert (np.diff(heard.stamps) > 0).all()


def test_a_clock_that_was_set_back_by_less_than_the_timeout_is_said_and_its_stamps_are_right_at_once(controller):
    """They were 0.34 s old for five seconds."""
    with listening(controller.rtde_port, PATIENCE) as heard:
        heard.states()
        controller.jump = -0.3
        heard.until(lambda: any('time jumped by -0.' in line for line in heard.logged), 'it')
        before = len(heard.stamps)
        heard.states()
    sent = {each.position: each.taken for each in controller.sent}
    errors = [stamp - sent[position] for stamp, position in zip(heard.stamps, heard.positions, strict=True)]
    assert np.median(errors[before:]) < 100e6
    assert heard.listener.connections == 2


def test_a_clock_that_was_set_back_while_no_sample_came_is_noticed_by_its_late_samples(controller, monkeypatch):
    """Its time goes on to increase: so far the network could be slow."""
    monkeypatch.setattr('robot_dynamics_ros.aubo.stream_listener.LATE_NS', 100_000_000)
    with listening(controller.rtde_port, PATIENCE) as heard:
        heard.states()
        controller.fault = 'silent'
        time.sleep(0.8)
        controller.fault, controller.jump = '', -0.5
        heard.until(lambda: any('all samples of a second came 0.' in line for line in heard.logged), 'it')
        heard.states()
    assert heard.listener.connections == 2


def test_a_thread_that_stood_still_connects_again_and_uses_nothing_that_waited(arm):
    outputs = [name for name in OUTPUTS if name != 'timestamp']
    with AuboController(arm, outputs) as controller, listening(controller.rtde_port) as heard:
        heard.states()
        with heard.listener._calling:  # the thread waits for it
            time.sleep(3 * TIMEOUT)
        heard.until(lambda: any('the node itself did not run for' in line for line in heard.logged), 'it')
        heard.states()
    sent = {each.position: each.sent for each in controller.sent}
    # the sample that was held at the lock is the only old one
    late = [stamp - sent[position] for stamp, position in zip(heard.stamps, heard.positions, strict=True)]
    assert (np.diff(heard.stamps) > 0).all()
    assert max(late) < 3 * TIMEOUT * 1e9


def test_without_a_time_only_the_newest_of_several_samples_is_used(arm):
    outputs = [name for name in OUTPUTS if name != 'timestamp']
    with AuboController(arm, outputs) as controller, listening(controller.rtde_port, PATIENCE) as heard:
        heard.states()
        with heard.listener._calling:
            count = len(controller.sent)
            heard.until(lambda: len(controller.sent) > count + 50, 'samples that wait')
        heard.states()
    assert heard.listener.rejected > 20
    assert 'without timestamp' in heard.listener.last_rejection
    assert (np.diff(heard.stamps) > 0).all()


def test_the_timeout_has_three_periods(arm):
    assert StreamListener(('', 0), ROBOT.joint_names, None, 1.0, 0.5, print)._timeout == 3.0
    assert StreamListener(('', 0), ROBOT.joint_names, None, 200.0, 0.5, print)._timeout == 0.5


def test_a_controller_that_accepts_and_says_nothing(controller, monkeypatch):
    monkeypatch.setattr('robot_dynamics_ros.aubo.stream_listener.CONNECT', 0.2)
    controller.greets = False
    with listening(controller.rtde_port) as heard:
        heard.until(lambda: 'within 0.2 s came 0 bytes and no list of quantities' in heard.listener.silence, 'silence')
        controller.greets = True
        heard.states()


def test_a_host_where_nothing_listens(controller):
    controller.stop()
    with listening(controller.rtde_port) as heard:
        heard.until(lambda: 'no connection to 127.0.0.1:' in heard.listener.silence, 'a reason')
        controller.start()
        heard.states()


@pytest.mark.parametrize('host', ['192.168..10', 'a' * 64 + '.local', '\ud800'])
def test_a_host_that_is_no_name_is_said(host):
    failures = []
    listener = StreamListener((host, 1), ROBOT.joint_names, None, 200.0, 0.5, print, failed=failures.append)
    poller = SettingsPoller((host, 1))
    listener.start()
    poller.start()
    deadline = time.monotonic() + PATIENCE
    shown = host.encode('unicode_escape').decode()
    said = f'no connection to {shown}:1: robot_ip is no name or address'
    while not (listener.silence.startswith(said) and poller.fault.startswith(said)):
        if time.monotonic() > deadline or failures:
            break
        time.sleep(0.002)
    silence = listener.silence
    listener.stop()
    poller.stop()
    assert failures == []
    assert silence.startswith(said)


@pytest.mark.parametrize(
    'payload',
    [b'[' * 2000, b'\x81' * 2000, cbor.encode([0, 1e300, *[None] * 8]), json.dumps([0, 10**400]).encode()],
)
def test_one_odd_message_is_rejected_and_the_states_go_on(controller, payload):
    with listening(controller.rtde_port, PATIENCE) as heard:
        heard.states(5)
        controller.extra = frame(payload)
        heard.until(lambda: heard.listener.rejected, 'a rejection')
        heard.states(5)
        assert heard.listener.connections == 1


def test_an_answer_that_nobody_thought_of_ends_no_thread(monkeypatch):
    def client(*arguments):
        raise RecursionError

    monkeypatch.setattr('robot_dynamics_ros.aubo.settings_poller.RpcClient', client)
    monkeypatch.setattr('robot_dynamics_ros.aubo.settings_poller.PERIOD', 0.01)
    poller = SettingsPoller(('arm', 1))
    poller.start()
    deadline = time.monotonic() + PATIENCE
    while poller.fault != 'an answer of arm:1 cannot be read: RecursionError':
        assert time.monotonic() < deadline
        time.sleep(0.002)
    assert any(thread.name == 'aubo settings' for thread in threading.enumerate())
    poller.stop()


def test_another_robot_is_refused_by_its_number_of_joints():
    arm = Arm.__new__(Arm)
    arm.q = arm.qd = arm.torque = arm.current = arm.gravity = np.zeros((4000, 7))
    with AuboController(arm) as controller, listening(controller.rtde_port) as heard:
        heard.until(lambda: 'moves 7 joints, the model has 6: another robot' in heard.listener.silence, 'a refusal')
        assert heard.stamps == []


def test_an_older_controller_streams_less_and_says_what(arm):
    outputs = [name for name in OUTPUTS if name not in ('R1_joint_torque', 'R1_joint_gravity_torque', 'timestamp')]
    with AuboController(arm, outputs) as controller, listening(controller.rtde_port) as heard:
        heard.states()
        (recipe,) = heard.recipes
        row = (arm.q == heard.positions[-1]).all(1)
        np.testing.assert_allclose(heard.efforts[-1], (arm.current[row] * CONSTANTS)[0], rtol=1e-12)
    assert recipe.effort_source == 'current'
    assert [line.split(':')[0] for line in recipe.missing] == [
        'timestamp',
        'R1_joint_torque',
        'R1_joint_gravity_torque',
    ]


def test_a_callback_may_stop_and_samples_that_have_come_with_this_one_are_dropped(controller):
    calls = []

    def on_state(sample, stamp):
        calls.append(stamp)
        if len(calls) == 1:
            time.sleep(0.2)  # meanwhile some forty samples come, which are read at once
        else:
            listener.stop()

    listener = StreamListener(('127.0.0.1', controller.rtde_port), ROBOT.joint_names, None, 200.0, 5.0, on_state)
    listener.start()
    deadline = time.monotonic() + PATIENCE
    while any(thread.name == 'aubo stream' for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(calls) == 2


def test_after_stop_nothing_is_called(controller):
    heard = Heard(controller.rtde_port, TIMEOUT)
    heard.listener.start()
    heard.states()
    heard.listener.stop()
    count, sent = len(heard.stamps), len(controller.sent)
    assert heard.listener.silence == 'not listening'
    controller.disconnect()
    with listening(controller.rtde_port) as other:  # the controller goes on
        other.states()
    assert len(controller.sent) > sent
    assert len(heard.stamps) == count
