"""Names of the nodes, parameters of a torque node, and of a graph of nodes, drawn at random or as they are stated."""

from copy import deepcopy
from dataclasses import dataclass, field
from random import Random

import numpy as np
from impedance import PARAMETERS
from robots import Arm, arms

from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import IMPEDANCE

TERMS = ('gravity', 'coriolis', 'inertia', 'friction')
OF_ROBOT = {
    **dict.fromkeys(('', 'sim', 'effort_controller', 'monitor_only'), ()),
    **dict.fromkeys(('franka', 'ur_direct_torque', 'kuka_fri'), ('gravity', 'friction')),
}
"""Terms that a robot compensates itself, by preset (doc/concepts/presets.md)."""
STIFFNESS = np.array([300.0, 400.0, 300.0, 60.0, 60.0, 60.0])
DAMPING = np.array([30.0, 40.0, 30.0, 4.0, 4.0, 4.0])
BANDWIDTH = 10.0
ADAPTIVE = 'adaptive'
NEEDS_GRAVITY = 'pd_gravity', ADAPTIVE
"""Control laws that a node refuses where the robot compensates gravity."""
SERVER, GRAVITY_NODE, FEEDFORWARD, CONTROLLER, EXTERNAL = (
    'dynamics_server',
    'gravity_compensation_node',
    'feedforward_node',
    'torque_controller',
    'external_torque_node',
)
DESCRIBED, REFERENCE, DESCRIPTION_TOPIC = 'described_node', 'reference_node', 'robot_description'
FURTHER = {
    DESCRIBED: (GRAVITY_NODE, {'description_topic': DESCRIPTION_TOPIC, 'autostart': True}),
    REFERENCE: (FEEDFORWARD, {'source': 'controller_state', 'reference_age_limit': 0.1, 'reference_cutoff': 20.0}),
    EXTERNAL: (EXTERNAL, {'effort': 'torque', 'contact_threshold': [1.0], 'calibration_time': 0.5}),
}
"""Nodes that get random messages alone, by name: kind, and parameters."""
TORQUE_NODES = (FEEDFORWARD, GRAVITY_NODE, CONTROLLER)
"""Nodes in the order in which they receive a state."""
FOLLOWERS = (FEEDFORWARD, CONTROLLER)
NAMED = {FEEDFORWARD: 'feedforward_torque', GRAVITY_NODE: 'gravity_torque'}
COMMANDS = {**{name: f'{topic}/commands' for name, topic in NAMED.items()}, CONTROLLER: 'effort_commands'}
"""Topics of each node's torque: with joint names, and of commands."""


@dataclass
class TorqueSettings:
    """Parameters of one torque node."""

    kind: str
    age_limit: float = 0.1
    rate_limit: float = 0.0
    on_stale: str = 'silent'
    ramp_time: float = 0.3
    on_deactivate: str = 'silent'
    preset: str = ''
    compensation: tuple = ()
    evaluate_at: str = 'desired'
    start_tolerance: float = 0.5
    control_law: str = 'pd_feedforward'
    feedforward_age_limit: float = 0.05
    await_payload_gravity: bool = True

    @property
    def terms(self) -> tuple:
        return self.compensation or tuple(term for term in TERMS if term not in OF_ROBOT[self.preset])

    @property
    def gravity_owner(self) -> str:
        return 'robot' if 'gravity' in OF_ROBOT[self.preset] else 'node'

    def parameters(self) -> dict:
        """Return the parameters of any torque node, which ignores those of others.

        An adaptation hardly moves, so that its torques are known.
        """
        own = {name: value for name, value in vars(self).items() if name != 'kind'}
        own |= {'rate_limit': [self.rate_limit], 'compensation': list(self.compensation) or ['']}
        gains = {'stiffness': STIFFNESS.tolist(), 'damping': DAMPING.tolist(), 'bandwidth': BANDWIDTH}
        return {
            **own,
            **gains,
            **deepcopy(PARAMETERS),
            'state_rate': 500.0,
            'adaptation_payload_limit': 10.0,
            'adaptation_rate': 0.01,
        }


@dataclass
class Settings:
    """A graph of coupled nodes."""

    robot: str = 'aubo_i5'
    simulated_time: bool = True
    period: float = 0.01
    payload_gravity_ramp_time: float = 0.5
    payload_file: bool = False
    nodes: dict[str, TorqueSettings] = field(default_factory=dict)

    @property
    def arm(self) -> Arm:
        return arms()[self.robot]

    def parameters(self, node: str) -> dict:
        """Return the parameters of a node."""
        shared = {**self.arm.parameters, 'use_sim_time': self.simulated_time, 'autostart': False}
        own = (
            {'payload_gravity_ramp_time': self.payload_gravity_ramp_time}
            if node == SERVER
            else self.nodes[node].parameters()
        )
        return {**shared, **own, **FURTHER.get(node, ('', {}))[1]}


def stated(robot: str = 'aubo_i5', **parameters) -> Settings:
    """Return a graph whose torque nodes all have these parameters."""
    return Settings(robot=robot, nodes={kind: TorqueSettings(kind, **parameters) for kind in TORQUE_NODES})


def drawn(random: Random) -> Settings:
    """Return a random graph."""
    choice = random.choice
    settings = Settings(
        robot=choice(('aubo_i5', 'aubo_i5', 'continuous')),
        simulated_time=random.random() < 0.7,
        period=choice((0.002, 0.01, 0.02)),
        payload_gravity_ramp_time=choice((0.5, 0.5, 0.0)),
        payload_file=random.random() < 0.5,
    )
    age_limit = choice((0.1, 0.1, 0.1, 0.25, 0.0))
    for kind in TORQUE_NODES:
        settings.nodes[kind] = TorqueSettings(
            kind,
            age_limit=age_limit,
            rate_limit=choice((0.0, 0.0, 80.0, 2000.0)),
            on_stale=choice(('silent', 'silent', 'gravity_only', 'ramp_to_zero')),
            on_deactivate=choice(('silent', 'silent', 'ramp_to_zero', 'zero')),
            start_tolerance=choice((0.5, 0.5, 0.1, 0.0)),
            await_payload_gravity=choice((True, True, False)),
        )
    forward, controller = settings.nodes[FEEDFORWARD], settings.nodes[CONTROLLER]
    settings.nodes[GRAVITY_NODE].preset = choice(('', '', 'sim', 'monitor_only'))
    forward.evaluate_at = choice(('desired', 'desired', 'measured'))
    forward.preset = choice(('', '', '', 'sim', 'monitor_only', 'franka', 'kuka_fri'))
    if forward.preset == '':
        forward.compensation = choice(((), (), ('gravity',), ('gravity', 'inertia'), ('inertia', 'friction')))
    controller.control_law = choice(('pd_feedforward',) * 3 + ('pd', 'computed_torque', IMPEDANCE, *NEEDS_GRAVITY))
    controller.preset = choice(('', '', '', 'sim', 'franka', 'ur_direct_torque', 'kuka_fri'))
    if controller.control_law in NEEDS_GRAVITY and controller.gravity_owner == 'robot':
        controller.preset = ''
    for node in settings.nodes.values():
        if 'gravity' not in node.terms and node.on_stale == 'gravity_only':
            node.on_stale = 'silent'  # rejected: gravity would be added twice
    return settings


def drawn_with_further(random: Random) -> Settings:
    """Return a random graph with the nodes that get random messages alone."""
    settings = drawn(random)
    settings.robot, settings.simulated_time = 'aubo_i5', True
    for name, (kind, _) in FURTHER.items():
        settings.nodes[name] = TorqueSettings(kind, preset='monitor_only' if kind == EXTERNAL else '')
    return settings
