"""Payload, gravity and mounting of a controller: read, and compared with others."""

from support.aubo.aubo_controller import PAYLOAD, AuboController

import numpy as np
import pytest

from robot_dynamics_ros import Payload
from robot_dynamics_ros.aubo.repetition import Repetition
from robot_dynamics_ros.aubo.rpc import QUESTIONS, RpcClient
from robot_dynamics_ros.aubo.settings import (
    gravity_difference,
    mounting_difference,
    mounting_of,
    payload_difference,
    payload_of,
    read_settings,
)
from robot_dynamics_ros.errors import ArgumentError, ControllerError

DOWN = np.array([0.0, 0.0, -9.81])
QUARTER = np.pi / 2


def test_a_payload_is_read_with_its_axes():
    payload = payload_of([2.0, [0.1, 0.2, 0.3], [0.0, 0.0, QUARTER], [0.02, 0.03, 0.04, 0.001, 0.002, 0.003]])
    assert payload.mass == 2.0
    np.testing.assert_allclose(payload.com, [0.1, 0.2, 0.3])
    # a quarter turn about z exchanges x and y
    expected = [[0.03, -0.001, -0.003], [-0.001, 0.02, 0.002], [-0.003, 0.002, 0.04]]
    np.testing.assert_allclose(payload.inertia, expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    'answer', [None, 3.0, [1.0], [1.0, [0.0] * 2, [0.0] * 3, [0.0] * 6], [-1.0, [0.0] * 3, [0.0] * 3, [0.0] * 6]]
)
def test_an_answer_that_is_no_payload_is_refused(answer):
    with pytest.raises(ArgumentError):
        payload_of(answer)


def test_differences_name_both_sides_and_small_ones_are_none():
    assert payload_difference(PAYLOAD, Payload(1.505, (0.0, 0.021, 0.05))) == ''
    assert '1.5 kg, that of the nodes 0 kg' in payload_difference(PAYLOAD, Payload(0.0, np.zeros(3)))
    assert 'is 0.030 m from' in payload_difference(PAYLOAD, Payload(1.5, (0.0, 0.05, 0.05)))
    assert gravity_difference(np.array([0.0, 0.0, -9.8]), DOWN) == ''
    assert '0 0 9.81 m/s^2, that of the nodes 0 0 -9.81' in gravity_difference(np.array([0.0, 0.0, 9.81]), DOWN)


@pytest.mark.parametrize(
    ('first', 'second', 'apart'),
    [(0.0, 0.0009, ''), (0.01, 0.0109, ''), (0.1, 0.109, ''), (0.0, 0.0011, '0.0011 kg m^2'), (0.1, 0.111, '0.011 kg')],
)
def test_an_inertia_differs_by_a_thousandth_or_a_tenth(first, second, apart):
    ours, theirs = (Payload(1.0, (0.0, 0.0, 0.0), size * np.eye(3)) for size in (second, first))
    assert bool(payload_difference(theirs, ours)) == bool(apart)
    assert apart in payload_difference(theirs, ours)


def test_a_request_without_effect_is_made_again_after_1_2_4_and_each_8_looks():
    repetition = Repetition()
    assert [k for k in range(25) if repetition.due('a')] == [0, 1, 3, 7, 15, 23]
    assert [k for k in range(5) if repetition.due('b')] == [0, 1, 3]
    repetition.forget()
    assert [k for k in range(5) if repetition.due('b')] == [0, 1, 3]


@pytest.mark.parametrize(
    ('pose', 'gravity'),
    [
        ([0.0] * 6, [0.0, 0.0, -9.81]),
        ([1.0, 2.0, 3.0, np.pi, 0.0, 0.4], [0.0, 0.0, 9.81]),  # on a ceiling
        ([0.0, 0.0, 0.0, QUARTER, 0.0, 0.0], [0.0, -9.81, 0.0]),  # on a wall: the base's y points up
        ([0.0, 0.0, 0.0, 0.0, QUARTER, 0.0], [9.81, 0.0, 0.0]),  # the base's x points down
    ],
)
def test_a_mounting_pose_means_a_direction_of_gravity(pose, gravity):
    assert mounting_difference(mounting_of(pose), np.array(gravity)) == ''
    assert 'mounting pose' in mounting_difference(mounting_of(pose), -np.array(gravity))
    assert 'mounting pose' in mounting_difference(mounting_of(pose), np.zeros(3))
    assert mounting_difference(mounting_of(pose), -np.array(gravity), 'that of the nodes').endswith('that of the nodes')


@pytest.fixture(scope='module')
def controller(arm):
    with AuboController(arm) as running:
        yield running


@pytest.fixture
def client(controller):
    client = RpcClient('127.0.0.1', 5.0, controller.rpc_port)
    yield client
    client.close()


def test_settings_of_a_controller(controller, client):
    settings = read_settings(client, 'rob1')
    assert (settings.payload.mass, settings.refused) == (1.5, ())
    np.testing.assert_array_equal(settings.gravity, DOWN)
    np.testing.assert_array_equal(settings.mounting, np.eye(3))
    assert set(controller.asked) <= {f'rob1.{question}' for question in QUESTIONS} | QUESTIONS


def test_what_a_controller_refuses_is_unknown_and_said(controller, client, monkeypatch):
    monkeypatch.setattr(controller, 'refuses', 'getPayload')
    monkeypatch.setattr(controller, 'gravity', [0.0, 'down'])
    settings = read_settings(client, 'rob1')
    assert settings.payload is None and settings.gravity is None and settings.mounting is not None
    first, second = settings.refused
    assert first == 'rob1.RobotConfig.getPayload: refused by the controller: not logged in'
    assert second.startswith('RobotConfig.getGravity: ')


def test_nothing_that_changes_the_arm_is_asked(client):
    for method in ('RobotConfig.setPayload', 'MotionControl.servoJoint', 'RobotConfig.setGravity'):
        with pytest.raises(ControllerError, match='this client only reads'):
            client.ask(method, 'rob1')
    assert all(question.rpartition('.')[2].startswith('get') for question in QUESTIONS)


def test_a_controller_that_does_not_answer_or_closes(silent_port):
    client = RpcClient('127.0.0.1', 0.2, silent_port)
    with pytest.raises(ControllerError, match=r'getRobotNames: no answer from .* within 0\.2 s'):
        client.ask('getRobotNames')
    client.close()
