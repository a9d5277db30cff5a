"""Nodes with different parameters, each of which gets random messages, and what each may publish."""

from contextlib import suppress

from support import graph

import numpy as np
from admissible import Option, State
from load import LARGEST_COMPARED
from node_settings import CONTROLLER, EXTERNAL, FEEDFORWARD, GRAVITY_NODE, SERVER, TorqueSettings
from robots import Arm
from sensor_msgs.msg import JointState
from torque_watch import TorqueWatch

from broken_messages.spoil import serialized, understood
from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.messages.cdr import LITTLE_ENDIAN

ROBOT = Robot.named('aubo_i5')
DESCRIPTION = named_urdf('aubo_i5').read_text(encoding='utf-8')
AGE, RATE, RAMP = 0.1, 50.0, 0.5
"""age_limit, s; rate_limit, N m/s; and ramp_time, s, of the nodes that set them."""
LARGEST_POSITION = 2.0**40
"""Positions from here on (rad) are rejected by every node."""
MODERATE = 2.0
"""Positions (rad) and other numbers up to this one are valid for every node."""
REFERENCE = {'source': 'controller_state', 'reference_age_limit': AGE, 'reference_cutoff': 20.0}
DESCRIBED = {'description_topic': 'robot_description', 'binding': 'generic', 'autostart': True}  # nothing to compile
ANY_LOAD = {'payload_limit': 1e6, 'gravity_limit': 1000.0, 'load_ramp_time': 0.0}
AGED, LIMITED = {'age_limit': AGE}, {'age_limit': AGE, 'rate_limit': RATE}
MONITOR = {**AGED, 'preset': 'monitor_only'}
OBSERVER = {
    'effort': 'torque',
    'observer_gain': 1000.0,  # it settles within a few states
    'friction_time_constant': 0.0,
    'contact_threshold': [1.0],
    'calibration_time': 0.5,
}
CARRIED, DOWN = {'on_stale': 'gravity_only'}, {'on_stale': 'ramp_to_zero', 'ramp_time': RAMP}
NODES = {
    'gravity': (GRAVITY_NODE, AGED, {}),
    'gravity, rate limited': (GRAVITY_NODE, LIMITED, {}),
    'gravity, carried': (GRAVITY_NODE, {**AGED, **CARRIED}, {}),
    'gravity, down, rate limited': (GRAVITY_NODE, {**LIMITED, **DOWN}, {}),
    'gravity, described': (GRAVITY_NODE, AGED, DESCRIBED),
    'feedforward': (FEEDFORWARD, {'age_limit': 0.0}, {}),
    'feedforward, rate limited': (FEEDFORWARD, {**LIMITED, 'evaluate_at': 'measured'}, {}),
    'feedforward, down': (FEEDFORWARD, {**AGED, **DOWN}, {}),
    'feedforward of a reference': (FEEDFORWARD, AGED, REFERENCE),
    'controller': (CONTROLLER, AGED, {}),
    'controller, rate limited': (CONTROLLER, LIMITED, {}),
    'controller, carried, rate limited': (CONTROLLER, {**LIMITED, **CARRIED}, {}),
    'external torque': (EXTERNAL, MONITOR, OBSERVER),
    'external torque, tracked': (EXTERNAL, MONITOR, {'effort': 'torque_without_gravity', 'observer_gain': 1000.0}),
    'server': (SERVER, {}, ANY_LOAD),
}
"""By name: kind, parameters of a torque node, and further parameters."""
TOPICS = {
    GRAVITY_NODE: {'joint_states': 1.0},
    FEEDFORWARD: {'joint_states': 0.8, 'joint_trajectory': 0.2},
    CONTROLLER: {'joint_states': 0.6, 'joint_trajectory': 0.15, 'feedforward_torque': 0.25},
    EXTERNAL: {'joint_states': 1.0},
    SERVER: {},
}
"""How often each kind of node gets a message on a topic."""


class Settings:
    """The settings that all nodes share, and those of each."""

    arm = Arm(ROBOT)
    simulated_time, period = True, 0.001

    def __init__(self):
        self.nodes = {
            name: TorqueSettings(kind, **parameters) for name, (kind, parameters, _) in NODES.items() if kind != SERVER
        }

    def parameters(self, name: str) -> dict:
        """Return all parameters of a node."""
        torque = self.nodes[name].parameters() if name in self.nodes else {}
        return {'use_sim_time': True, 'autostart': False, **torque, **NODES[name][2]}


def topics(name: str) -> dict[str, float]:
    """Return how often a node gets a message on each of its topics."""
    kind, _, further = NODES[name]
    if further is REFERENCE:
        return {'joint_states': 0.5, 'controller_state': 0.5, 'payload_state': 0.03, 'gravity_state': 0.02}
    # generic kernels let any link carry something, which the nodes' usual ones do not
    return (
        TOPICS[kind] if further and kind != EXTERNAL else {**TOPICS[kind], 'payload_state': 0.03, 'gravity_state': 0.02}
    )


class Watch(TorqueWatch):
    """What a node may publish for any message: a gravity node g(q), others any torque, unless it is ``known``."""

    def __init__(self, name: str, settings: Settings, found):
        super().__init__(name, settings, found)
        self.kind = NODES[name][0]
        self.needs_velocity = self.settings.evaluate_at == 'measured' or self.kind in (CONTROLLER, EXTERNAL)
        self.always_needed = self.kind not in (FEEDFORWARD, EXTERNAL)
        self.known = None  # the torque of the next state, where it is known, as a function of a load

    def law(self, state: State, pause) -> tuple[list[Option], bool]:
        """Return what is admissible for a usable state."""
        if self.known is not None:
            return [self.between('state', state.stamp, self.known)], True
        if self.kind == GRAVITY_NODE:
            option = self.held('state', state.stamp, state.q)
            return [option], bool(np.isfinite(option.low).all())
        return [self.any('state')], False

    def refusal(self, state: State, now: int) -> tuple[str, bool]:
        """Return why a state must get no torque, and whether it is usable for certain."""
        why, certain = super().refusal(state, now)
        if not why and self.kind == EXTERNAL and not state.has_effort:
            return 'without efforts', False
        return why, certain

    def held(self, kind: str, time: int, q) -> Option:
        """Return the gravity torque at q, any where numbers are too large to be compared."""
        if np.abs(q).max() < LARGEST_COMPARED and self.load.size < LARGEST_COMPARED:
            with suppress(DynamicsError):
                return super().held(kind, time, q)
        return self.any(kind)

    def any(self, kind: str) -> Option:
        """Return an option that every torque fits."""
        return Option(kind, np.full(self.arm.n, -np.inf), np.full(self.arm.n, np.inf))


def read_state(data: bytes) -> State:
    """Return a state as rclpy reads it; its stamp is 0 where rclpy refuses it."""
    message = understood(data, JointState) if data[:2] == LITTLE_ENDIAN else None
    if message is None:
        return State(0, None, None, False)
    names, n = list(message.name), len(message.name)
    complete = set(ROBOT.joint_names) <= set(names) and len(set(names)) == n == len(message.position)
    order = [names.index(name) for name in ROBOT.joint_names] if complete else []
    q = np.array(message.position)[order] if complete else None
    stamp = graph.nanoseconds(message.header.stamp)
    if q is None or not (np.abs(q) < LARGEST_POSITION).all():
        return State(stamp, None, None, False)
    lists = message.velocity, message.effort
    good = all(len(values) in (0, n) and np.isfinite(values).all() for values in lists)
    good = good and message.header.stamp.nanosec < graph.SECOND and bool((np.abs(q) <= MODERATE).all())
    qd = np.array(message.velocity)[order] if len(message.velocity) == n else None
    qd = qd if qd is not None and np.isfinite(qd).all() else None
    effort = np.array(message.effort)
    has_effort = len(effort) == n and bool(np.isfinite(effort[order]).all())
    return State(stamp, q, qd, good and serialized(message) == data, has_effort)
