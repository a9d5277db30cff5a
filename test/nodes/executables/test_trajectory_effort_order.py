"""Age and order of plans for trajectory_effort_node: late ones, those that a stop overtakes, and two planners."""

import threading
import time

from support.nodes import graph as ros
from support.nodes.planned_motions import plan, received, starter

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.inputs import plan_input, trajectory_queue

STOP = ros.trajectory([], 3)


@pytest.fixture
def make(process):
    """A function that starts a node with parameters, and returns it with its ``Outputs``; there is no server."""
    return starter(process)


def receive(node, message):
    """Let a node receive a message as the thread of its input does, without a check."""
    node.node.task._input._queue.on_message(serialize_message(message), received())


def test_a_plan_that_waited_too_long_is_refused(make):
    node = make()
    node.node.activated -= 10_000_000_000
    assert node.send(plan(), waited=plan_input.OLDEST + 0.1) is None
    assert 'it waited 1.' in node.refusal and 'at most 1 s' in node.refusal
    assert node.send(plan(), waited=plan_input.OLDEST - 0.5) is not None
    # in a process that was stopped the middleware stands still, too
    assert node.send(plan(), sent=5.0) is None
    assert 'it was sent 5' in node.refusal and 'synchronise the clocks' in node.refusal
    # a clock that is ahead, and a middleware that does not say
    assert node.send(plan(), sent=-60.0) is not None
    plan_input.check_age(0, 0)
    # a stop is never too late
    assert node.send(STOP, waited=5.0) == STOP


def test_a_plan_that_has_ended_by_its_stamp_is_refused(make):
    node, message = make(), plan(600.0)
    stamp = message.header.stamp
    stamp.sec = int(time.time()) - 700
    assert node.send(message) is None
    assert 'by its stamp it ended ' in node.refusal
    stamp.sec = int(time.time()) - 500
    assert node.send(message) is not None


def test_a_stop_drops_the_plans_that_wait(make):
    node = make()
    receive(node, plan(2.0))
    receive(node, plan(3.0))
    receive(node, STOP)
    assert node.plans == [STOP]
    assert node.lines == ['2 trajectories dropped that waited: a stop has come']
    node.node.task._input._check_next()
    assert node.plans == [STOP] and node.reports == []
    receive(node, plan(4.0))
    node.node.task._input._check_next()
    assert len(node.plans) == 2 and node.reports[0].published


def test_a_stop_during_a_check_is_passed_on_at_once_and_the_plan_is_dropped(make):
    node = make()
    check = node.node.task._input._check

    def stopped(*arguments):
        receive(node, STOP)
        assert node.plans == [STOP]
        return check(*arguments)

    node.node.task._input._check = stopped
    receive(node, plan())
    node.node.task._input._check_next()
    assert node.plans == [STOP] and node.reports == []
    assert node.lines == ['plan dropped: a stop, or the end of the node, has come during its check']
    assert node.node.task.report()['plans checked'] == '0'


def test_plans_that_wait_are_checked_in_their_order_and_too_many_refused(make, process):
    node, durations = make(), np.arange(1, trajectory_queue.MOST_WAITING + 3).tolist()
    for duration in durations:
        receive(node, plan(float(duration)))
    assert len(node.lines) == 2 and all('10 newer ones wait' in line for line in node.lines)
    # the executor is told once for all
    process.spin_until(lambda: len(node.plans) >= trajectory_queue.MOST_WAITING, 'plans')
    assert [message.points[-1].time_from_start.sec for message in node.plans] == durations[2:]


def test_a_stop_over_dds_does_not_wait_for_the_executor(process, make):
    """Nobody spins the node; its process does nothing else."""
    node = make()
    witness = process.node(DynamicsServer, namespace='elsewhere')
    publisher = witness.create_publisher(JointTrajectory, '/planned_trajectory', 10)
    process.spin_until(publisher.get_subscription_count, 'the node')
    come, append = threading.Event(), node.node.task._output.publish
    node.node.task._output.publish = lambda data: (append(data), come.set())
    # a message may come before the subscription is known to both sides
    for _ in range(100):
        publisher.publish(plan())
        publisher.publish(STOP)
        if come.wait(0.1):
            break
    assert node.plans[0] == STOP
    process.spin()
    assert node.plans[-1] == STOP and node.reports == []


def test_while_inactive_the_executor_refuses_plans_over_dds(process, make):
    node = make()
    witness = process.node(DynamicsServer, namespace='elsewhere')
    publisher = witness.create_publisher(JointTrajectory, '/planned_trajectory', 10)
    node.node.trigger_deactivate()
    task = node.node.task
    process.spin_until(lambda: publisher.publish(plan()) or task._input.refusals, 'a refusal')
    assert 'is not active' in task._input.refused
    publisher.publish(plan())
    node.node.trigger_activate()
    process.spin_until(lambda: publisher.publish(plan()) or node.plans, 'a plan')
    assert len(node.reports) == len(node.plans)


def test_a_second_planner_is_a_warning(process, make):
    node = make()
    witness = process.node(DynamicsServer, namespace='elsewhere')
    assert node.node.task.warnings() == []
    for count in (1, 2):
        witness.create_publisher(JointTrajectory, '/planned_trajectory', 10)
        process.spin_until(lambda: len(node.node.task._input.publishers) == count, f'{count} publishers')  # noqa: B023
        assert node.node.task.report()['publishers of plans'] == str(count)
        named = ', '.join(2 * ['/elsewhere/dynamics_server'])
        assert ([f'2 publishers of planned_trajectory ({named})'] if count == 2 else []) == [
            line.split(':')[0] for line in node.node.task.warnings()
        ]
