"""The short version of scripts/fuzz: one run, and a test for each rule that the nodes have to keep to."""

from random import Random

import fuzz
import pytest
from fuzz_bytes import serialized
from fuzz_messages import Messages
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

MESSAGES, SEED = 4000, 1


@pytest.fixture(scope='module')
def run():
    with fuzz.quiet(), fuzz.fuzzed(SEED) as made:
        made.run(MESSAGES)
    return made


@pytest.mark.parametrize('rule', fuzz.RULES)
def test_rule(run, rule):
    assert rule not in run.findings, fuzz.report(run, SEED)


def test_everything_was_tried(run):
    """A run of which nothing comes would break no rule."""
    topics = ('joint_states', 'joint_trajectory', 'feedforward_torque', *fuzz.SERVICES)
    assert all(run.counts[topic] > MESSAGES // 100 for topic in topics), run.counts
    assert run.counts['torques'] > MESSAGES // 10
    assert run.counts['refused by rclpy'] > MESSAGES // 100


def test_a_seed_gives_the_same_run_again():
    runs = []
    for _ in range(2):
        with fuzz.quiet(), fuzz.fuzzed(SEED) as made:
            made.run(MESSAGES // 10)
        runs.append((made.now, made.index, made.counts, made.findings))
    assert runs[0] == runs[1]


def test_bytes_mean_what_those_of_rclpy_mean():
    messages = Messages(Random(SEED), fuzz.ROBOT.joint_names)
    kinds = {JointState: messages.wrong_state, JointTrajectory: messages.wrong_trajectory}
    for kind, draw in kinds.items():
        for _ in range(50):
            message = draw()
            ours, rclpys = (
                deserialize_message(data, kind) for data in (serialized(message), serialize_message(message))
            )
            assert str(ours) == str(rclpys)  # NaN is not itself, the text is
