"""The short version of scripts/fuzz: one run, and a test for each rule of the nodes."""

from random import Random

from support.message_packages.control_msgs_package import installed
from support.message_packages.generated_messages import folder_of_a_run

import graph_fuzz
import pytest
from broken_messages.random_messages import SERVICES, RandomMessages
from broken_messages.spoil import serialized, spoil
from in_process import InProcess
from node_settings import stated
from process import KILOBYTES, growth, memory, quiet
from rclpy.serialization import deserialize_message, serialize_message
from rules import BROKEN, RULES

MESSAGES, SEED = 2000, 1
"""A run in which so few messages are of all kinds and check every rule; the same on every machine."""
SELDOM = 'MEMORY', 'PAYLOAD KNOWN', 'SKIPPED'
"""Rules that a short run need not check."""
TOPICS = ('joint_states', 'joint_trajectory', 'controller_state', 'payload_state', 'gravity_state')


@pytest.fixture(scope='module')
def reference_kind(tmp_path_factory):
    with installed(folder_of_a_run(tmp_path_factory)):
        from control_msgs.msg import JointTrajectoryControllerState  # noqa: PLC0415

        yield JointTrajectoryControllerState


def fuzzed(kind, messages):
    with quiet():
        return graph_fuzz.run(SEED, messages, kind)


@pytest.fixture(scope='module')
def found(reference_kind):
    return fuzzed(reference_kind, MESSAGES)


@pytest.mark.parametrize('rule', [*RULES, *BROKEN])
def test_a_rule_for_broken_messages_holds(found, rule):
    assert rule not in found.first, found.report(f'scripts/fuzz --seed {SEED}')
    assert found.counts[f'checked {rule}'] or rule in SELDOM


def test_a_run_sends_all_kinds_of_messages(found):
    """But ~/reset, which comes once in a thousand messages: test_graph_fuzz has an episode of all moves."""
    counts = found.counts
    kinds = (
        *TOPICS[1:],
        'states',
        'feedforward_torque',
        *SERVICES,
        'refused by rclpy',
        'set_parameters',
        'robot_description',
    )
    assert not [kind for kind in kinds if not counts[kind]]
    assert counts['torques'] > MESSAGES // 10, counts


@pytest.mark.parametrize('leaked', [lambda k: bytes(500 + k % 100), lambda k: [k + 0.5, (k,)]])
def test_a_leak_of_half_a_kilobyte_per_message_is_measured(leaked):
    leak, allocated = [], []
    for message in range(0, 3000, 600):
        leak.append([leaked(message + k) for k in range(600)])
        allocated.append((message, memory()))
    assert growth(allocated) > KILOBYTES
    assert abs(growth([(message, allocated[0][1]) for message, _ in allocated])) < KILOBYTES / 10


def test_a_seed_repeats_a_run(reference_kind):
    again, once_more = (fuzzed(reference_kind, MESSAGES // 10) for _ in range(2))
    assert (again.counts, again.index) == (once_more.counts, once_more.index)


@pytest.mark.parametrize('topic', [*TOPICS, *SERVICES])
def test_bytes_mean_what_those_of_rclpy_mean(reference_kind, topic):
    messages = RandomMessages(Random(SEED), InProcess(stated()), reference_kind)
    for _ in range(30):
        message = messages.draw(topic)
        spoil(messages.random, message)
        ours, rclpys = (
            deserialize_message(data, type(message)) for data in (serialized(message), serialize_message(message))
        )
        assert str(ours) == str(rclpys)  # NaN is not itself, the text is
