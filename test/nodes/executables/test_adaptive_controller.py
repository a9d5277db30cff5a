"""The adaptive law in torque_controller: what the pipeline tells it of, payload messages, activation, diagnostics.

States are given to the pipeline as bytes, without a graph; ``benchmark/accuracy/adaptive_control.py --nodes``
moves an arm.
"""

from support.nodes import graph as ros

import numpy as np
import pytest
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message

from robot_dynamics_interfaces.msg import PayloadState
from robot_dynamics_ros.control.laws.adaptation import ADAPTS, HOLDS, LIMITED, SILENT, tip_row
from robot_dynamics_ros.control.laws.gain_limits import propose_gains
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.messages.stamps import set_nanoseconds
from robot_dynamics_ros.nodes.executables.torque_controller import TorqueController
from robot_dynamics_ros.robot import Robot

ROBOT = Robot.named('aubo_i5')
GAINS = propose_gains(ROBOT, 500.0, 20.0)
MS = 1_000_000
ADAPTIVE = {
    'control_law': 'adaptive',
    'stiffness': GAINS.stiffness.tolist(),
    'damping': GAINS.damping.tolist(),
    'state_rate': 500.0,
    'adaptation_payload_limit': 5.0,
    'age_limit': ros.DAY,
    'start_tolerance': 0.0,
}
NEAR = np.array([0.0, 0.9, 0.5, 0.3, 0.6, 0.0])
FAR = NEAR + 0.4


@pytest.fixture
def made(configured):
    """Configured controllers: a function of their parameters."""
    return lambda **values: configured(TorqueController, **{**ADAPTIVE, **values})


class Controller:
    """An active controller and the states that it gets, 2 ms apart."""

    def __init__(self, node):
        self.node, self.stamp = node, node.get_clock().now().nanoseconds
        self.activate()

    def activate(self):
        self.node.trigger_activate()
        self.payload_gravity.missing = ''  # nothing is on the graph

    @property
    def payload_gravity(self):
        return self.node.task.arm.payload_gravity

    def follow(self):
        moving = Trajectory([0.0, 1.0], np.array([NEAR, FAR]), velocities=np.full((2, 6), 0.4))
        self.node.task.trajectory._follower.receive(moving, self.stamp, self.stamp)

    def give(self, count, q=NEAR, qd=0.1):
        """Give states that lag behind the motion; return the fields of the diagnostics."""
        for _ in range(count):
            self.stamp += 2 * MS
            state = ros.joint_state(ROBOT.joint_names, self.stamp, q, np.full(6, qd))
            self.node.task.pipeline.on_state(serialize_message(state))
            assert self.node.task.pipeline.silence == ''
        return self.node.task.report()

    def carry(self, mass, ramp_time=0.0):
        message = PayloadState(mass=mass, frame='ee_link', ramp_time=ramp_time)
        set_nanoseconds(message.stamp, self.stamp)
        self.payload_gravity._receive('payload_state', message)


def estimated(fields) -> float:
    return float(fields['payload estimate, kg'])


def test_the_estimate_is_on_the_diagnostics_and_follows_motions_payloads_and_activations(made):
    controller = Controller(made(effort_limit=[np.inf], friction_adaptation_rate=10.0))
    held = controller.give(5)
    assert (held['adaptation'], estimated(held), held['control law']) == (HOLDS, 0.0, 'adaptive')
    controller.carry(0.0)  # a first message makes no step, later ones may
    controller.follow()
    followed = controller.give(50)
    assert followed['adaptation'] == ADAPTS and abs(estimated(followed)) > 0.01
    assert followed['estimate is physically consistent'] == 'yes'
    assert np.abs(np.array(followed['friction adapted, offset'].split(), float)).max() > 0.0
    controller.carry(2.0)
    assert estimated(controller.give(1)) == pytest.approx(2.0, abs=1e-3)
    assert abs(estimated(controller.give(50)) - 2.0) > 0.01
    controller.node.trigger_deactivate()
    controller.activate()
    again = controller.give(1)
    assert (again['adaptation'], estimated(again)) == (HOLDS, pytest.approx(2.0, abs=1e-3))
    assert again['friction adapted, offset'] == ' '.join(['0.000'] * 6)


def test_a_torque_at_a_limit_of_the_node_is_not_adapted_to(made):
    for limits in ({'effort_limit': [5.0]}, {'rate_limit': [0.1], 'effort_limit': [np.inf]}):
        controller = Controller(made(**limits))
        controller.follow()
        fields = controller.give(20)
        assert (fields['adaptation'], estimated(fields)) == (LIMITED, 0.0), limits
        assert int(fields['torques saturated']) + int(fields['torques rate-limited']) > 10


def test_the_torque_that_holds_the_arm_contains_the_gravity_of_the_estimate(made):
    controller = Controller(made(effort_limit=[np.inf]))
    controller.carry(2.0)
    controller.give(1, qd=0.0)
    carrying = next(iter(controller.payload_gravity.current.payload.after.values()))
    wanted = ROBOT.with_payload(carrying, 'ee_link')
    balance = wanted.gravity_torque(NEAR) + wanted.friction.offset
    assert controller.node.task.pipeline.limiter.last == pytest.approx(balance, abs=1e-4)
    assert tip_row(wanted)[0] == pytest.approx(tip_row(ROBOT)[0] + 2.0)


def test_a_payload_beyond_the_limit_is_cut_to_it_with_a_warning(made):
    controller = Controller(made(effort_limit=[np.inf]))
    controller.carry(9.0)
    assert estimated(controller.give(1)) == pytest.approx(5.0, abs=1e-3)
    found = [text for text in controller.node.task.warnings() if 'adaptation_payload_limit' in text]
    assert found == ['the estimated payload is at adaptation_payload_limit, 5 kg: see what the arm carries or touches']


@pytest.mark.parametrize(
    ('values', 'reason'),
    [
        ({'adaptation_payload_limit': 0.0}, 'adaptation_payload_limit: control law adaptive needs the largest payload'),
        ({'preset': 'franka'}, 'control law adaptive: the robot compensates gravity itself'),
        ({'damping': [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]}, "damping: joint 'wrist3_joint': control law adaptive needs"),
        ({'stiffness': [2.0 * 1000.0 * value for value in GAINS.damping]}, 'damping: joint'),
    ],
    ids=['no limit', 'gravity', 'no damping', 'stiffness over damping'],
)
def test_what_the_law_cannot_do_is_refused_at_configuration(made, values, reason):
    assert made(**values).silence.startswith(f'not configured: {reason}')


def test_another_law_has_no_estimate_on_its_diagnostics(made):
    node = made(control_law='computed_torque')
    assert 'adaptation' not in node.task.report()
    node.set_parameters([Parameter('control_law', value='adaptive')])
    node.trigger_activate()
    assert node.task.report()['adaptation'] == SILENT
    node.trigger_deactivate()
    node.set_parameters([Parameter('control_law', value='computed_torque')])
    node.trigger_activate()
    assert 'adaptation' not in node.task.report()
