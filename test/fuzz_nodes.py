"""The nodes in this process, with their inputs callable, their outputs kept and their clock in the caller's hand."""

import numpy as np
from fuzz_bytes import understood
from rclpy.clock_type import ClockType
from rclpy.logging import LoggingSeverity
from rclpy.parameter import Parameter
from rclpy.time import Time

from robot_dynamics_ros.nodes.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.feedforward_node import FeedforwardNode
from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.torque_controller import TorqueController

AGE = 0.1
"""age_limit of the nodes that are given one, s."""
RATE = 50.0
"""rate_limit of the nodes that are given one, N m/s."""
STIFFNESS = np.array([300.0, 400.0, 300.0, 60.0, 60.0, 60.0])
AGED = {'age_limit': AGE}
LIMITED = {**AGED, 'rate_limit': [RATE] * len(STIFFNESS)}
PD = {'control_law': 'pd_feedforward', 'stiffness': STIFFNESS.tolist()}
MEASURED = {'evaluate_at': 'measured'}
NODES = {
    'gravity': (GravityCompensationNode, 'gravity', AGED),
    'gravity, rate limited': (GravityCompensationNode, 'gravity', LIMITED),
    'feedforward': (FeedforwardNode, 'feedforward', {}),
    'feedforward, rate limited': (FeedforwardNode, 'feedforward', {**LIMITED, **MEASURED}),
    'controller': (TorqueController, 'controller', {**AGED, **PD}),
    'controller, rate limited': (TorqueController, 'controller', {**LIMITED, **PD}),
    'server': (DynamicsServer, 'server', {}),
}
OUTPUTS = {
    'gravity': ('gravity_torque', 'gravity_torque/commands'),
    'feedforward': ('feedforward_torque', 'feedforward_torque/commands'),
    'controller': ('effort_commands',),
    'server': (),
}
WEIGHTS = {
    'gravity': {'joint_states': 1.0},
    'feedforward': {'joint_states': 0.8, 'joint_trajectory': 0.2},
    'controller': {'joint_states': 0.6, 'joint_trajectory': 0.15, 'feedforward_torque': 0.25},
    'server': {},
}


class Watched:
    """Beside a node class: what the node makes of rclpy is known here, and its diagnostics are kept."""

    def __init__(self, law: str, parameters: dict, **options):
        """Make the node and start it."""
        self.law, self.outputs, self.weights = law, OUTPUTS[law], WEIGHTS[law]
        self.serves, self.controls, self.always = (law == kind for kind in ('server', 'controller', 'gravity'))
        self.age_limited, self.rate_limited = 'age_limit' in parameters, 'rate_limit' in parameters
        self.sent: list[tuple[str, bytes]] = []
        self.refused = ''
        self.called: dict = {}
        self.ticks: list = []
        self.diagnosed: list = []
        overrides = {**parameters, 'use_sim_time': True, 'autostart': False}
        super().__init__(
            parameter_overrides=[Parameter(name, value=value) for name, value in overrides.items()],
            enable_rosout=False,
            start_parameter_services=False,
            **options,
        )
        self.get_logger().set_level(LoggingSeverity.FATAL)
        self.trigger_configure()
        self.trigger_activate()
        assert self.active, self.silence

    def give(self, topic: str, data: bytes):
        """Call what the middleware would call; return its answer, True for none, None where rclpy can't read it."""
        kind, callback, raw = self.called[topic]
        if raw:
            callback(data)
            return True
        message = understood(data, kind.Request if self.serves else kind)
        if message is None:
            return None
        if self.serves:
            return callback(message, kind.Response())
        callback(message)
        return True

    def set_time(self, now: int) -> None:
        """Set the node's clock, ns."""
        self.get_clock().set_ros_time_override(Time(nanoseconds=now, clock_type=ClockType.ROS_TIME))

    def diagnose(self):
        """Return the DiagnosticStatus that is published next."""
        for callback in self.ticks:
            callback()
        (status,) = self.diagnosed[-1].status
        self.diagnosed.clear()
        return status

    def create_subscription(self, kind, topic, callback, *arguments, raw=False, **options):
        """Remember the callback."""
        self.called[topic] = kind, callback, raw
        return super().create_subscription(kind, topic, callback, *arguments, raw=raw, **options)

    def create_service(self, kind, name, callback, **options):
        """Remember the callback."""
        self.called[name] = kind, callback, False
        return super().create_service(kind, name, callback, **options)

    def create_timer(self, period, callback, **options):
        """Remember the callback."""
        self.ticks.append(callback)
        return super().create_timer(period, callback, **options)

    def create_publisher(self, kind, topic, *arguments, **options):
        """Keep the diagnostics."""
        publisher = super().create_publisher(kind, topic, *arguments, **options)
        if topic == '/diagnostics':
            publisher.publish = self.diagnosed.append
        return publisher

    def refuse(self, reason):
        """Keep the reason."""
        self.refused = reason
        super().refuse(reason)

    def output(self, kind, topic):
        """Keep what would be sent."""
        super().output(kind, topic)
        return lambda data: self.sent.append((topic, bytes(data)))


def watched() -> dict:
    """Return a node of each of ``NODES``, started, by its name there; rclpy is up."""
    made = {}
    for number, (name, (node_class, law, parameters)) in enumerate(NODES.items()):
        kind = type(f'Watched{node_class.__name__}', (Watched, node_class), {})
        made[name] = kind(law, parameters, namespace=f'fuzz_{number}', enable_communication_interface=False)
    return made
