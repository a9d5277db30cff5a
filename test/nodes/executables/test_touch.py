"""torque_controller lets the tool of simulated_arm touch a table, and presses on it."""

from support.nodes.feedforward import CONTROLLER, ROBOT
from support.nodes.impedance import BENT

import numpy as np
import pytest
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from lifecycle_msgs.msg import State

from robot_dynamics_ros.nodes.executables.simulated_arm import SimulatedArm

ARM, TOOL = 'simulated_arm', 'ee_link'
HEIGHT = float(ROBOT.link_pose(BENT, TOOL)[2, 3]) - 0.01
PARAMETERS = {
    'start': BENT.tolist(),
    'rate': 125.0,
    'surfaces': [0.0, 0.0, 1.0, HEIGHT],
    'contact_frame': TOOL,
    'friction_error': -1.0,  # none: what friction holds does not press
    'control_law': 'cartesian_impedance',
    'impedance_frame': TOOL,
    'translational_stiffness': [500.0, 500.0, 0.0],
    'translational_damping': [0.0, 0.0, 200.0],
    'rotational_stiffness': [30.0] * 3,
    **dict.fromkeys(('stiffness', 'damping'), [0.0] * 6),
    'force_limit': 20.0,
    'age_limit': 10.0,
}


def contact_force(status):
    return np.array([float(x) for x in status.fields['contact force, N'].split()])


def test_a_commanded_force_presses_on_the_table(graph):
    arguments = [word for it in PARAMETERS.items() for word in ('-p', '{}:={}'.format(*it))]
    graph.bring_up(ARM, CONTROLLER, arguments=arguments)
    push = WrenchStamped(wrench=Wrench(force=Vector3(z=-15.0)))
    graph.diagnostics(ARM, lambda status: not contact_force(status).any())
    with graph.repeating(lambda: graph.send('target_wrench', push), 0.05):
        graph.diagnostics(ARM, lambda status: abs(contact_force(status)[2] - 15.0) < 0.3)
    graph.diagnostics(ARM, lambda status: contact_force(status)[2] < 1.0)


@pytest.mark.parametrize(
    ('parameters', 'reason'),
    [
        ({'surfaces': [0.0, 0.0, 1.0]}, 'surfaces: expected four numbers (x, y, z, d) for each plane, got 3'),
        ({'surfaces': [0.0, 0.0, 1.0, 5.0]}, "surfaces: 'wrist3_Link' begins "),
        ({'contact_frame': 'nose'}, "no link 'nose'"),
    ],
)
def test_an_arm_with_wrong_surfaces_is_not_configured_and_says_why(configured, parameters, reason):
    node = configured(SimulatedArm, **parameters)
    assert reason in node.silence and node._state_machine.current_state[0] == State.PRIMARY_STATE_UNCONFIGURED
