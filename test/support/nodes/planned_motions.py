"""Plans for a trajectory_effort_node of this process, and what it publishes and logs."""

import time
from types import SimpleNamespace

from support.nodes import graph as ros

import numpy as np
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.executables.trajectory_effort_node import TrajectoryEffortNode

ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
REST = np.zeros(6)
START, END = np.array([0.0, -0.3, 0.6, 0.0, 0.4, 0.0]), np.array([0.4, -0.9, 0.9, 0.3, 0.1, -0.4])


def received(waited=0.0, sent=0.0):
    """Return what rclpy says of a message that was received and sent so many s ago."""
    now = time.time_ns()
    return {'received_timestamp': now - round(waited * 1e9), 'source_timestamp': now - round(sent * 1e9)}


class Outputs:
    """A node with what it publishes and logs: ``plans``, ``reports`` and ``lines``."""

    def __init__(self, node):
        self.node, self.plans, self.reports, self.lines = node, [], [], []
        task, logger = node.task, node.get_logger()
        if task._output is not None:
            task._output.publish = lambda data: self.plans.append(deserialize_message(data, JointTrajectory))
        task._reports.publish = self.reports.append
        node.get_logger = lambda: SimpleNamespace(
            warning=self.lines.append, info=lambda *_, **__: None, error=logger.error
        )

    def send(self, message, waited=0.0, sent=None):
        """Handle a plan that was received ``waited`` s ago, and sent then or ``sent`` s ago.

        Returns the plan that is published, None for none.
        """
        self.plans.clear(), self.reports.clear(), self.lines.clear()
        data = serialize_message(message) if isinstance(message, JointTrajectory) else message
        task = self.node.task
        is_displayed = not isinstance(data, bytes)
        handle = task._input._on_display if is_displayed else task._input._queue.on_message
        self.node.guarded(handle)(data, received(waited, waited if sent is None else sent))
        if not is_displayed:
            self.node.guarded(task._input._check_next)()
        assert not self.node.crash and len(self.plans) < 2
        return self.plans[0] if self.plans else None

    @property
    def refusal(self):
        """The line that refuses the last plan, after which nothing was published."""
        (line,) = self.lines
        assert line.startswith('plan refused: ') and not self.plans and not self.reports
        return line


def starter(process):
    """Return a function that starts a node with parameters in ``process``, and returns its ``Outputs``."""

    def started(**parameters):
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        node = process.node(TrajectoryEffortNode, parameter_overrides=overrides)
        node.start()
        assert node.active, node.silence
        return Outputs(node)

    return started


def plan(duration=2.0, names=NAMES, rates=2):
    """A plan from rest to rest."""
    rows = [[START, *[REST] * rates], [END, *[REST] * rates]]
    places = [NAMES.index(name) for name in names]
    return ros.trajectory(
        names, 0, *((t, *(row[places] for row in point)) for t, point in zip((0.0, duration), rows, strict=True))
    )
