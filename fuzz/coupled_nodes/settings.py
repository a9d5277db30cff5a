"""Settings of a fuzzed graph: robot, clocks, and the parameters of each node, drawn at random."""

from dataclasses import dataclass, field
from random import Random

from node_settings import CONTROLLER, FEEDFORWARD, GRAVITY_NODE, SERVER, TORQUE_NODES, TorqueSettings
from robots import Arm, arms


@dataclass
class Settings:
    """A graph."""

    robot: str = 'aubo_i5'
    simulated_time: bool = True
    period: float = 0.01
    load_ramp_time: float = 0.5
    payload_file: bool = False
    nodes: dict[str, TorqueSettings] = field(default_factory=dict)

    def __str__(self) -> str:
        """What is not the default, node by node."""
        own = {key: value for key, value in vars(self).items() if key != 'nodes'}
        nodes = [f'{name}: {_differences(node)}' for name, node in self.nodes.items()]
        return f'{own}; {"; ".join(nodes)}'

    @property
    def arm(self) -> Arm:
        return arms()[self.robot]

    def parameters(self, node: str) -> dict:
        """Return the parameters of a node."""
        shared = {**self.arm.parameters, 'use_sim_time': self.simulated_time, 'autostart': False}
        if node == SERVER:
            return {**shared, 'load_ramp_time': self.load_ramp_time}
        return {**shared, **self.nodes[node].parameters()}


def _differences(node: TorqueSettings) -> dict:
    plain = vars(TorqueSettings(node.kind))
    return {key: value for key, value in vars(node).items() if value != plain[key]}


def plain(robot: str = 'aubo_i5', **parameters) -> Settings:
    return Settings(robot=robot, nodes={kind: TorqueSettings(kind, **parameters) for kind in TORQUE_NODES})


def drawn(random: Random) -> Settings:
    """Return a random graph."""
    settings = Settings(
        robot=random.choice(('aubo_i5', 'aubo_i5', 'continuous')),
        simulated_time=random.random() < 0.7,
        period=random.choice((0.002, 0.01, 0.02)),
        load_ramp_time=random.choice((0.5, 0.5, 0.0)),
        payload_file=random.random() < 0.5,
    )
    age_limit = random.choice((0.1, 0.1, 0.1, 0.25, 0.0))
    for kind in TORQUE_NODES:
        node = TorqueSettings(kind, age_limit=age_limit)
        node.rate_limit = random.choice((0.0, 0.0, 80.0, 2000.0))
        node.on_stale = random.choice(('silent', 'silent', 'gravity_only', 'ramp_to_zero'))
        node.on_deactivate = random.choice(('silent', 'silent', 'ramp_to_zero', 'zero'))
        node.start_tolerance = random.choice((0.5, 0.5, 0.1, 0.0))
        settings.nodes[kind] = node
    forward, controller = settings.nodes[FEEDFORWARD], settings.nodes[CONTROLLER]
    settings.nodes[GRAVITY_NODE].preset = random.choice(('', '', 'sim', 'monitor_only'))
    forward.evaluate_at = random.choice(('desired', 'desired', 'measured'))
    forward.preset = random.choice(('', '', '', 'sim', 'monitor_only', 'franka', 'kuka_fri'))
    if forward.preset == '':
        forward.compensation = random.choice(((), (), ('gravity',), ('gravity', 'inertia'), ('inertia', 'friction')))
    controller.control_law = random.choice(
        ('pd_feedforward',) * 3 + ('pd', 'pd_gravity', 'pd_gravity', 'computed_torque')
    )
    controller.preset = random.choice(('', '', '', 'sim', 'franka', 'ur_direct_torque', 'kuka_fri'))
    if controller.control_law == 'pd_gravity' and controller.gravity_owner == 'robot':
        controller.preset = ''  # rejected: gravity would be added twice
    for node in settings.nodes.values():
        if 'gravity' not in node.terms and node.on_stale == 'gravity_only':
            node.on_stale = 'silent'  # rejected likewise
    return settings


def drawn_in_real_time(random: Random) -> Settings:
    """Return a random graph whose output does not depend on latencies of messages and discovery."""
    settings = drawn(random)
    settings.simulated_time, settings.period = True, 0.01
    for node in settings.nodes.values():
        node.age_limit, node.rate_limit, node.on_stale = 1.0, 0.0, 'silent'
        node.await_load = True
    return settings
