"""An arm with motors of the MIT type as a graph: it sags, rises with the gravity torque, and a hand moves it.

The parameters are those of doc/how_to/arms/openarm.md. The motors execute four times what they are sent: this process
stands between the node and them, and is the hand, too.
"""

from support.nodes import graph as ros
from support.robots import openarm_type

import numpy as np
import pytest
import yaml
from lifecycle_msgs.msg import Transition
from markdown_it import MarkdownIt
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_interfaces.msg import TorqueInfo
from robot_dynamics_ros.tools.processes import ProcessError

NODE, PLANT = 'gravity_compensation_node', 'simulated_arm'
PAGE = ros.TREE / 'doc' / 'how_to' / 'arms' / 'openarm.md'
ROBOT = openarm_type.robot(openarm_type.HEAVIER)
NAMES = list(ROBOT.joint_names)
SCALE = 4.0
START = np.array([0.9, 0.3, 0.2, 0.8, 0.1, 0.1, -0.2])
DEAD_BAND = 0.005
PATIENT = ('age_limit:=10.0', 'command_timeout:=5.0', 'longest_delay:=1.0')
"""For a busy machine: states may be late, and the arm waits for its commands."""


def parameters_of_the_page() -> str:
    """Return the parameter file by which the page tries the arm in simulation."""
    blocks = [token.content for token in MarkdownIt().parse(PAGE.read_text(encoding='utf-8')) if token.info == 'yaml']
    (found,) = (block for block in blocks if '/**/simulated_arm' in yaml.safe_load(block))
    return found


class Arm:
    """The motors' side of the graph: what they are sent, where the arm is, and the ``force`` (3, N) of a hand."""

    def __init__(self, graph):
        self.graph, self.force, self.goal = graph, np.zeros(3), None
        self.torques, self.positions, self.states = [], [], []
        node = graph.node
        node.create_subscription(Float64MultiArray, 'gravity_torque/commands', self._on_torque, 100)
        node.create_subscription(Float64MultiArray, 'position_commands', self.positions.append, 100)
        node.create_subscription(JointState, 'joint_states', self.states.append, 100)
        node.create_timer(0.02, self._on_timer)

    def _on_torque(self, message):
        self.torques.append(message)
        executed = SCALE * np.array(message.data)
        if self.states and self.force.any():
            executed += ROBOT.jacobian(self.q, 'tip')[3:].T @ self.force
        self.graph.send('effort_commands', Float64MultiArray(data=executed.tolist()))

    def _on_timer(self):
        if self.goal is not None:
            self.graph.send('position_commands', Float64MultiArray(data=self.goal.tolist()))

    @property
    def q(self):
        return np.array(self.states[-1].position)

    def clear(self):
        for messages in (self.torques, self.positions, self.states):
            del messages[:-1]

    def pass_time(self, seconds):
        """Let so much time of the arm pass."""
        self.clear()
        self.graph.until(lambda: len(self.states) > 1, 'states')
        began = ros.nanoseconds(self.states[-1].header.stamp)
        until = began + seconds * ros.SECOND
        self.graph.until(lambda: ros.nanoseconds(self.states[-1].header.stamp) > until, f'{seconds} s of the arm', 60.0)

    def rest(self):
        """Wait until the arm moves by less than 0.012 degrees a second of its time; return its position."""
        before = None
        while before is None or abs(self.q - before).max() > 1e-4:
            before = self.q if self.states else None
            self.pass_time(0.5)
        return self.q


@pytest.fixture(scope='module')
def arm(file_graph):
    folder = file_graph.folder
    (folder / 'arm.urdf').write_text(openarm_type.urdf(openarm_type.HEAVIER), encoding='utf-8')
    (folder / 'arm.yaml').write_text(parameters_of_the_page(), encoding='utf-8')
    values = (f'model:={folder}/arm.urdf', f'start:={START.tolist()}', f'torque_scale:=[{SCALE}]', *PATIENT)
    parameters = [word for value in values for word in ('-p', value)]
    file_graph.bring_up(PLANT, NODE, arguments=('--params-file', str(folder / 'arm.yaml'), *parameters))
    return Arm(file_graph)


def test_the_arm_sags_and_the_gravity_torque_ends_that(arm):
    graph = arm.graph
    graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE)
    arm.goal = START
    error = arm.rest() - START
    motors = -np.array(openarm_type.STIFFNESS) * error
    friction = ROBOT.friction.coulomb
    assert error[0] < -np.deg2rad(5.0)
    assert (abs(motors - ROBOT.gravity_torque(arm.q)) < 1.2 * friction).all()
    with graph.record(JointState, 'gravity_torque') as torques:
        graph.client.change_state(NODE, Transition.TRANSITION_ACTIVATE)
        assert abs(arm.rest() - START).max() < np.deg2rad(0.5)
    times = np.array([ros.nanoseconds(torque.header.stamp) for torque in torques]) * 1e-9
    shares = np.array([torque.effort[0] for torque in torques]) / ROBOT.gravity_torque(START)[0]
    assert shares[0] < 0.2 and shares[-1] > 0.98
    assert times[shares < 0.95][-1] - times[0] > 0.5  # it fades in
    np.testing.assert_allclose(SCALE * np.array(arm.torques[-1].data), ROBOT.gravity_torque(arm.q), rtol=0, atol=0.05)


def test_named_torque_and_info_say_what_the_motors_execute(arm):
    graph = arm.graph
    named = graph.listen(JointState, 'gravity_torque')
    arm.pass_time(0.2)
    np.testing.assert_allclose(named[-1].effort, SCALE * np.array(arm.torques[-1].data), rtol=0, atol=0.05)
    info = graph.hear_latched(TorqueInfo, 'gravity_torque/info')[-1]
    assert list(info.torque_scale) == [SCALE] * 7
    assert graph.diagnostics(NODE).fields['torque scale'] == ' '.join(['4'] * 7)


@pytest.mark.slow  # simulation/plant/test_motor_pd.py has it without nodes
def test_a_hand_moves_the_arm_and_without_it_the_arm_stays(arm):
    arm.goal = None
    with arm.graph.parameters(NODE, hand_guiding=True):
        arm.graph.tells(NODE, 'follows')
        start = arm.rest()
        arm.pass_time(2.0)
        # a degree in a minute, which is more than `rest` lets it move
        assert abs(arm.q - start).max() < np.deg2rad(1.0) / 30.0
        arm.force = np.array([0.0, 5.0, 0.0])  # upwards
        arm.pass_time(1.0)
        arm.force = np.zeros(3)
        moved = arm.rest()
        distance = ROBOT.link_pose(moved, 'tip')[:3, 3] - ROBOT.link_pose(start, 'tip')[:3, 3]
        assert np.linalg.norm(distance) > 0.05
        arm.clear()
        arm.pass_time(0.5)
        commands = np.array([message.data for message in arm.positions])
        assert abs(len(arm.positions) - len(arm.torques)) <= 2
        assert abs(commands - arm.q).max() < DEAD_BAND + 1e-3
        # the motors hold the arm where it was let go, without torque it sags there
        arm.graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE)
        arm.pass_time(0.2)
        arm.positions.clear()
        arm.pass_time(0.2)
        assert not arm.positions
        arm.graph.client.change_state(NODE, Transition.TRANSITION_ACTIVATE)


def test_hand_guiding_is_refused_where_motors_have_no_pd(arm):
    for changed, reason in (
        ({'preset': 'effort_controller', 'hand_guiding': True}, 'state preset motor_pd'),
        ({'hand_guiding': True, 'guiding_dead_band': [-0.1]}, 'guiding_dead_band: expected one finite number >= 0'),
        ({'torque_scale': [0.0]}, 'torque_scale: expected one finite number > 0'),
    ):
        with pytest.raises(ProcessError), arm.graph.parameters(NODE, **changed):
            pass
        assert reason in arm.graph.log('bringup')
