"""A server and a torque node whose robot is described on a topic, in one process; states are passed directly."""

import itertools
import time
from pathlib import Path

from support.nodes import graph as ros

import numpy as np
from geometry_msgs.msg import Vector3, Vector3Stamped
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from std_msgs.msg import String

from robot_dynamics_interfaces.srv import SetGravity, SetPayload
from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.process.qos import TRANSIENT_LOCAL

URDF = Path(named_urdf('aubo_i5')).read_text()
STRONGER = URDF.replace('effort="133', 'effort="139')
ROBOT = Robot.named('aubo_i5')
Q = np.array([0.4, -0.7, 0.9, -0.3, 0.5, 0.2])
HELD, WALL, UPRIGHT = 3.0, (0.0, 9.81, 0.0), (0.0, 0.0, -9.81)


STAMPS = itertools.count(time.time_ns(), 2_000_000)
"""However long a test takes, its states come every 2 ms by their stamps."""


def torque_of(node, q=Q):
    """Return what a node publishes for the next state, None for nothing."""
    pipeline = node.task.pipeline
    before = pipeline.counts.published
    pipeline.on_state(serialize_message(ros.joint_state(ROBOT.joint_names, next(STAMPS), q, 0.0 * q)))
    return pipeline.limiter.last.copy() if pipeline.counts.published > before else None


def torque(mass=HELD, gravity=WALL):
    """Return the gravity torque at Q (6, N m) with a payload of ``mass`` at the origin of ee_link."""
    robot = ROBOT.with_gravity(gravity)
    return (robot.with_payload(Payload(mass, (0.0, 0.0, 0.0)), 'ee_link') if mass else robot).gravity_torque(Q)


class Described:
    """A server, nobody has told which a payload or gravity, and a torque node, both active."""

    def __init__(self, process, kind=GravityCompensationNode, server=None, **parameters):
        shared = {'description_topic': 'robot_description', 'model': '', 'age_limit': ros.DAY}

        def node(kind, **own):
            overrides = [Parameter(name, value=value) for name, value in {**shared, **own}.items()]
            return process.node(kind, parameter_overrides=overrides)

        self.process, self.server = process, node(DynamicsServer, **(server or {}))
        self.node = node(kind, await_payload_gravity=True, **parameters)
        self.hand = process.node(BaseNode, name='hand')
        self.text = self.hand.create_publisher(String, 'robot_description', TRANSIENT_LOCAL)
        self.say(URDF)
        for it in (self.server, self.node):
            process.spin_until(lambda it=it: it.active, f'{it.get_name()}: {it.silence}')

    def hold(self):
        """Publish torques, from when on the arm is held by the node."""
        self.process.spin_until(lambda: torque_of(self.node) is not None, self.node.silence)

    def set(self, mass, gravity, frame='ee_link'):
        """Set payload and gravity, at once."""
        service = self.server.task.payload_gravity
        request = SetPayload.Request(mass=mass, frame=frame, ramp_time=1e-9)
        service.set_payload(request, SetPayload.Response())
        vector = Vector3Stamped(vector=Vector3(**dict(zip('xyz', gravity, strict=True))))
        service.set_gravity(SetGravity.Request(gravity=vector, ramp_time=1e-9), SetGravity.Response())

    def say(self, text, *nodes):
        """Publish a description, or tell these nodes of it, one after the other."""
        if not nodes:
            self.text.publish(String(data=text))
        for node in nodes:
            node.description.on_message(String(data=text))

    def statuses(self, node, act):
        """Return level and message of each status that a node publishes while ``act()`` is done."""
        found = []
        publish, node.diagnostics.publisher.publish = node.diagnostics.publisher.publish, found.append
        act()
        node.diagnostics.publisher.publish = publish
        return [(array.status[0].level, array.status[0].message) for array in found]

    def diagnosed(self, node):
        """Return level and message of a node's diagnostics."""
        (status,) = self.statuses(node, node.diagnostics.publish)
        return status
