"""Any arm in the demo: gains, a motion, and the files of the nodes."""

from dataclasses import dataclass
from pathlib import Path

import yaml

from robot_dynamics_ros.control.laws.gain_limits import ProposedGains, propose_gains
from robot_dynamics_ros.tools.demonstration.completed_arm import (
    CONTROL,
    RATE,
    SIMULATION,
    CompletedArm,
    completed_arm,
)
from robot_dynamics_ros.tools.demonstration.plotjuggler_layout import plotjuggler_layout
from robot_dynamics_ros.tools.demonstration.tracking_motion import (
    FRICTION_ERROR,
    MASS_ERROR,
    TrackingMotion,
    tracking_motion,
)

AUBO_I5 = 'aubo_i5'
"""The arm of the demo where no other one is named."""
BANDWIDTH = 20.0
"""Of the position control, rad/s: low, as in the demo of the AUBO-i5."""
MOTION, LAYOUT = 'motion.yaml', 'plotjuggler.xml'


@dataclass(frozen=True)
class DemoArm(CompletedArm):
    """An arm, its gains and its motion."""

    gains: ProposedGains
    motion: TrackingMotion

    def write(self, folder: Path) -> Path:
        """Write model, motion, a layout of PlotJuggler and parameters into ``folder``; return the parameter file."""
        simulation = {
            'start': self.motion.positions[0].tolist(),
            'mass_error': MASS_ERROR,
            'friction_error': FRICTION_ERROR,
        }
        parameters = {
            'simulated_arm': SIMULATION | simulation,
            'feedforward_node': CONTROL | {'effort_limit': self.effort_limit.tolist()},
            'torque_controller': {
                **CONTROL,
                'effort_limit': self.effort_limit.tolist(),  # a new list: ROS reads no YAML aliases
                'stiffness': self.gains.stiffness.tolist(),
                'damping': self.gains.damping.tolist(),
                'feedforward_age_limit': 2.0 / RATE,  # late feedforward torques are waited for
            },
        }
        path = self.write_nodes(folder, parameters)
        motion = {
            'joint_names': list(self.robot.joint_names),
            'times': self.motion.times.tolist(),
            'positions': self.motion.positions.tolist(),
        }
        path.with_name(MOTION).write_text(yaml.safe_dump(motion), encoding='utf-8')
        path.with_name(LAYOUT).write_text(plotjuggler_layout(self.robot.joint_names), encoding='utf-8')
        return path


def demo_arm(description: str, **selection) -> DemoArm:
    """Return the arm of a description, with gains and a motion; arguments and errors are those of ``completed_arm``."""
    arm = completed_arm(description, **selection)
    gains = propose_gains(arm.robot, RATE, BANDWIDTH)
    motion = tracking_motion(arm.robot, gains, arm.effort_limit, RATE)
    return DemoArm(arm.robot, arm.effort_limit, arm.notes, arm.model, gains, motion)
