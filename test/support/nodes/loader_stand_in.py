"""A stand-in for the node whose robot is loaded: its parameters, and what it logs."""

from types import SimpleNamespace

from robot_dynamics_ros.model.audit import AFFECTED


class StandIn:
    """As much of a node as the loader needs; ``lines`` are what it logs, by level."""

    def __init__(self, needs=AFFECTED, **parameters):
        self.needs, self.lines = needs, {'error': [], 'warning': [], 'info': []}
        self.serves_loops, self.reads_joint_states = False, True
        self.robot_log = SimpleNamespace(**{level: lines.append for level, lines in self.lines.items()})
        defaults = {
            'model_findings': 'refuse',
            'base_link': '',
            'tip_link': '',
            'loops': '',
            'actuators': '',
            'locked_joints': [''],
            'locked_joint_tolerance': 0.05,
            'loop_tolerance': 0.05,
            'position_limit_tolerance': 0.2,
        }
        self.value = {'gravity': [0.0], 'gravity_limit': 12.0, **defaults, **parameters}.__getitem__
