"""The short version of scripts/fuzz: one run, and a test for each rule of the nodes."""

from random import Random

from support.control_msgs_package import installed
from support.generated_messages import folder_of_a_run

import pytest
from broken_messages import run
from broken_messages.description import TOPIC as ROBOT_DESCRIPTION
from broken_messages.nodes import ROBOT
from broken_messages.parameters import SERVICE as SET_PARAMETERS
from broken_messages.random_messages import RESET, SERVICES, Messages
from broken_messages.run import KILOBYTES, growth
from broken_messages.spoil import serialized, spoil
from process import memory, quiet
from rclpy.serialization import deserialize_message, serialize_message
from rules import BROKEN

MESSAGES, SEED = 1600, 1
CHECKED = 10.0
"""Duration of the longest trajectory that is resampled, s: one of 100,000 points takes as long as all messages."""
TOPICS = ('joint_states', 'joint_trajectory', 'controller_state', 'payload_state', 'gravity_state')


@pytest.fixture(scope='module')
def reference_kind(tmp_path_factory):
    with installed(folder_of_a_run(tmp_path_factory)) as kind:
        yield kind


def fuzzed(kind, messages):
    """Return a run, and what it had found after each block of messages."""
    seen = []

    def look(run):
        seen.append((run.nodes.now, run.found.index, run.found.counts.copy(), run.found.first.copy()))

    with pytest.MonkeyPatch.context() as patch, quiet():
        patch.setattr(run, 'LONGEST_CHECK', CHECKED)
        with run.fuzzed(SEED, kind) as made:
            made.run(messages, look)
    return made, seen


@pytest.fixture(scope='module')
def fuzzed_once(reference_kind):
    return fuzzed(reference_kind, MESSAGES)


@pytest.fixture(scope='module')
def found(fuzzed_once):
    return fuzzed_once[0].found


@pytest.mark.parametrize('rule', BROKEN)
def test_rule_holds(found, rule):
    assert rule not in found.first, found.report(f'scripts/fuzz --seed {SEED}')
    assert found.counts[f'checked {rule}']


def test_a_run_sends_all_kinds_of_messages(found):
    counts = found.counts
    often = (*TOPICS, 'feedforward_torque', *SERVICES, 'refused by rclpy', SET_PARAMETERS)
    assert all(counts[topic] > MESSAGES // 100 for topic in often), counts
    assert all(counts[topic] > MESSAGES // 400 for topic in (RESET, ROBOT_DESCRIPTION)), counts
    assert counts['torques'] > MESSAGES // 10, counts
    assert counts['torques without a state'] > 0, counts


@pytest.mark.parametrize('leaked', [lambda k: bytes(500 + k % 100), lambda k: [k + 0.5, (k,)]])
def test_a_leak_of_half_a_kilobyte_per_message_is_measured(leaked):
    leak, allocated = [], []
    for message in range(0, 3000, 600):
        leak.append([leaked(message + k) for k in range(600)])
        allocated.append((message, memory()))
    assert growth(allocated) > KILOBYTES
    assert abs(growth([(message, allocated[0][1]) for message, _ in allocated])) < KILOBYTES / 10


def test_a_seed_repeats_a_run(reference_kind, fuzzed_once):
    """A shorter run is the beginning of the other one."""
    _, (begin,) = fuzzed(reference_kind, MESSAGES // 10)
    assert begin == fuzzed_once[1][0]
    assert begin[1] >= MESSAGES // 10 and sum(begin[2].values()) > 0


@pytest.mark.parametrize('topic', [*TOPICS, *SERVICES])
def test_bytes_mean_what_those_of_rclpy_mean(reference_kind, topic):
    messages = Messages(Random(SEED), ROBOT, reference_kind)
    for _ in range(30):
        message = messages.draw(topic)
        spoil(messages.random, message)
        ours, rclpys = (
            deserialize_message(data, type(message)) for data in (serialized(message), serialize_message(message))
        )
        assert str(ours) == str(rclpys)  # NaN is not itself, the text is
