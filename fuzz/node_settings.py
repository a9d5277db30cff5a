"""Names of the nodes, and parameters of a torque node."""

from dataclasses import dataclass

import numpy as np

TERMS = ('gravity', 'coriolis', 'inertia', 'friction')
OF_ROBOT = {
    **dict.fromkeys(('', 'sim', 'effort_controller', 'monitor_only'), ()),
    'franka': ('gravity', 'friction'),
    'ur_direct_torque': ('gravity', 'friction'),
    'kuka_fri': ('gravity', 'friction'),
}
"""Terms that a robot compensates itself, by preset (doc/presets.md)."""
STIFFNESS = np.array([300.0, 400.0, 300.0, 60.0, 60.0, 60.0])
DAMPING = np.array([30.0, 40.0, 30.0, 4.0, 4.0, 4.0])
BANDWIDTH = 10.0
SERVER, GRAVITY_NODE, FEEDFORWARD, CONTROLLER, EXTERNAL = (
    'dynamics_server',
    'gravity_compensation_node',
    'feedforward_node',
    'torque_controller',
    'external_torque_node',
)
TORQUE_NODES = (FEEDFORWARD, GRAVITY_NODE, CONTROLLER)
"""Nodes in the order in which they receive a state."""
NAMED = {FEEDFORWARD: 'feedforward_torque', GRAVITY_NODE: 'gravity_torque'}
COMMANDS = {**{name: f'{topic}/commands' for name, topic in NAMED.items()}, CONTROLLER: 'effort_commands'}
"""Topics of each node's torque: with joint names, and of commands."""

SHARED = ('age_limit', 'on_stale', 'ramp_time', 'on_deactivate', 'preset', 'await_load')
OWN = {
    FEEDFORWARD: ('start_tolerance', 'evaluate_at'),
    CONTROLLER: ('start_tolerance', 'control_law', 'feedforward_age_limit'),
}
"""Names of parameters, of every torque node and of some."""


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
    await_load: bool = False

    @property
    def terms(self) -> tuple:
        return self.compensation or tuple(term for term in TERMS if term not in OF_ROBOT[self.preset])

    @property
    def gravity_owner(self) -> str:
        return 'robot' if 'gravity' in OF_ROBOT[self.preset] else 'node'

    def parameters(self) -> dict:
        """Return the parameters of the node."""
        parameters = {name: getattr(self, name) for name in (*SHARED, *OWN.get(self.kind, ()))}
        parameters['rate_limit'] = [self.rate_limit]
        if self.kind == FEEDFORWARD:
            parameters['compensation'] = list(self.compensation) or ['']
        if self.kind == CONTROLLER:
            parameters |= {'stiffness': STIFFNESS.tolist(), 'damping': DAMPING.tolist()}
            parameters |= {'bandwidth': BANDWIDTH, 'state_rate': 500.0}
        return parameters
