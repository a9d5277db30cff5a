"""Nodes of this process that follow payload and gravity, with a server or without one."""

import time

from support.nodes import graph as ros

import rclpy
from rclpy.executors import SingleThreadedExecutor

from robot_dynamics_interfaces.msg import PayloadState
from robot_dynamics_interfaces.srv import SetPayload
from robot_dynamics_ros.nodes.inputs.payload_gravity_input import PayloadGravityInput
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import PayloadGravityTopics
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.lifecycle.lifecycle_task import LifecycleTask

SECOND = 1_000_000_000
PAYLOAD = PayloadState(mass=2.0, frame='ee_link')


class Follower(BaseNode):
    """As much of a torque node as payload and gravity need; ``awaited`` as its parameter await_payload_gravity."""

    def __init__(self, name='follower', awaited=True, **options):
        super().__init__(name, **options)
        self.payload_gravity_topics = PayloadGravityTopics(self)
        self.awaited, self.seen = awaited, []

    def make_task(self):
        return Following(self)

    @property
    def payload_gravity(self):
        return self.task.payload_gravity


class Following(LifecycleTask):
    """The task of a ``Follower``."""

    silence = ''

    def __init__(self, node):
        self.payload_gravity = PayloadGravityInput(node, node.awaited)
        self.payload_gravity.laws.append(node.seen.append)

    def begin(self):
        self.payload_gravity.begin()

    def warnings(self):
        return self.payload_gravity.warnings()

    def report(self):
        return self.payload_gravity.report()


class Process:
    """Nodes of one process: a context of their own and one thread."""

    def __init__(self):
        self.context = rclpy.Context()
        self.context.init(args=ros.AUBO_I5)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.nodes = []

    def node(self, kind, **options):
        node = kind(context=self.context, **options)
        node.get_logger().set_level(rclpy.logging.LoggingSeverity.FATAL)
        self.executor.add_node(node)
        self.nodes.append(node)
        return node

    def spin(self, seconds=0.1):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self.executor.spin_once(timeout_sec=left)

    def spin_until(self, condition, what):
        end = time.monotonic() + ros.TIMEOUT
        while not condition():
            assert time.monotonic() < end, what
            self.executor.spin_once(timeout_sec=0.05)

    def end(self):
        for node in self.nodes:
            self.executor.remove_node(node)
            node.fall_silent()
            node.destroy_node()
        self.executor.shutdown()
        self.context.try_shutdown()


def set_payload(server, mass, **fields):
    response = SetPayload.Response()
    server.task.payload_gravity.set_payload(SetPayload.Request(mass=mass, frame='ee_link', **fields), response)


def mass_of(follower):
    return follower.payload_gravity.current.payload.mass
