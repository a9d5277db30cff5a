"""The short version of scripts/fuzz: one run, and a test for each rule of the nodes."""

from random import Random

from support import graph as ros
from support.control_msgs_package import installed

import pytest
import rclpy
from broken_messages.bytes import serialized
from broken_messages.description import TOPIC as ROBOT_DESCRIPTION
from broken_messages.oracle import ROBOT
from broken_messages.parameters import SERVICE as SET_PARAMETERS
from broken_messages.parameters import Parameters
from broken_messages.random_messages import Messages
from broken_messages.requests import RESET, SERVICES, Requests
from broken_messages.rules import MEMORY, RULES, Findings
from broken_messages.run import KILOBYTES, growth
from broken_messages.run import fuzzed as fuzzing
from process import memory, quiet
from rcl_interfaces.srv import SetParameters
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode

MESSAGES, SEED = 1600, 1


@pytest.fixture(scope='module')
def reference_kind(tmp_path_factory):
    with installed(tmp_path_factory.mktemp('control_msgs')) as kind:
        yield kind


def fuzzed(kind, messages):
    with quiet(), fuzzing(SEED, kind) as made:
        made.run(messages)
    return made


@pytest.fixture(scope='module')
def run(reference_kind):
    return fuzzed(reference_kind, MESSAGES)


@pytest.mark.parametrize('rule', RULES)
def test_rule(run, rule):
    assert rule not in run.found.first, run.found.report(SEED)


def test_everything_was_tried(run):
    """A run of which nothing comes would break no rule."""
    counts = run.found.counts
    topics = ('joint_states', 'joint_trajectory', 'controller_state', 'feedforward_torque', *SERVICES)
    assert all(counts[topic] > MESSAGES // 100 for topic in (*topics, 'refused by rclpy', SET_PARAMETERS)), counts
    assert all(counts[what] > MESSAGES // 400 for what in (RESET, ROBOT_DESCRIPTION)), counts
    assert counts['torques'] > MESSAGES // 10
    assert counts['torques without a state'] > MESSAGES // 50


@pytest.mark.parametrize('leaked', [lambda k: bytes(500 + k % 100), lambda k: [k + 0.5, (k,)]])
def test_a_leak_is_measured(leaked):
    """Half a kilobyte per message, of the allocator of C or of Python, is more than the rule allows."""
    leak, allocated = [], []
    for message in range(0, 3000, 300):
        leak.append([leaked(message + k) for k in range(300)])
        allocated.append((message, memory()))
    assert growth(allocated) > KILOBYTES
    assert abs(growth([(message, allocated[0][1]) for message, _ in allocated])) < KILOBYTES / 10


def test_a_seed_repeats_a_run(reference_kind):
    seen = []
    for _ in range(2):
        run = fuzzed(reference_kind, MESSAGES // 10)
        for found in (run.found.counts, run.found.first):
            found.pop(MEMORY, None)  # is not the messages' alone
        seen.append((run.now, run.found.index, run.found.counts, run.found.first))
    assert seen[0] == seen[1]


@pytest.fixture
def parameters():
    rclpy.init(args=ros.AUBO_I5)
    node = GravityCompensationNode(namespace='bytes')
    yield Parameters(Findings(), node, Random(SEED))
    node.destroy_node()
    rclpy.try_shutdown()


def test_bytes_mean_what_those_of_rclpy_mean(reference_kind, parameters):
    messages = Messages(Random(SEED), ROBOT.joint_names)
    requests = Requests(messages, ROBOT)
    kinds = {
        JointState: messages.wrong_state,
        JointTrajectory: messages.wrong_trajectory,
        reference_kind: lambda: messages.wrong_reference(reference_kind),
        Trigger.Request: lambda: requests.draw(RESET),
        SetParameters.Request: parameters.draw,
        **{kind.Request: lambda service=service: requests.draw(service) for service, kind in SERVICES.items()},
    }
    for kind, draw in kinds.items():
        for _ in range(50):
            message = draw()
            ours, rclpys = (
                deserialize_message(data, kind) for data in (serialized(message), serialize_message(message))
            )
            assert str(ours) == str(rclpys)  # NaN is not itself, the text is
