"""The pages on UR and Franka arms, walked through: the nodes start with the page's command and file, and hold the arm.

The description is that of another arm of the family, under the joint names of the page.
"""

import re
from pathlib import Path
from typing import NamedTuple

from support.nodes import graph as ros
from support.nodes.payload_gravity_followers import Process
from support.project import shell_commands
from support.robots.example_robots import example_urdfs

import numpy as np
import pytest
import yaml
from markdown_it import MarkdownIt
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_interfaces.msg import TorqueInfo
from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.terms.compensation_policy import CompensationPolicy
from robot_dynamics_ros.nodes.executables.bringup import NODES

pytestmark = pytest.mark.ros

HOW_TO = Path(__file__).resolve().parents[2] / 'doc' / 'how_to' / 'arms'
ORDER = ('dynamics_server', 'feedforward_node', 'torque_controller')
"""Of starts: the server first, as bringup does."""


class Page(NamedTuple):
    """A page, the description that stands for its arm, what is renamed in it, and a posture with large gravity."""

    name: str
    file: str
    rename: tuple[str, str]
    posture: tuple[float, ...]


PAGES = [
    Page('ur', 'ur5_robot.urdf', ('', ''), (0.0, -0.3, 0.2, 0.1, 0.2, 0.0)),
    Page('franka', 'panda.urdf', ('panda_', 'fr3_'), (0.0, 0.5, 0.0, -1.5, 0.0, 2.0, 0.8)),
]


def blocks(page: str) -> list[tuple[str, str]]:
    """Return language and text of each code block of a page."""
    tokens = MarkdownIt().parse((HOW_TO / f'{page}.md').read_text(encoding='utf-8'))
    return [(token.info, token.content) for token in tokens if token.type == 'fence']


def launch_arguments(page: str) -> dict[str, str]:
    """Return the arguments of the page's one command that starts the nodes."""
    commands = [
        words for language, text in blocks(page) if language == 'bash' for words in shell_commands.commands(text)
    ]
    (words,) = [
        words for words in commands if words[:4] == ['ros2', 'launch', 'robot_dynamics_ros', 'bringup.launch.py']
    ]
    return dict(word.split(':=') for word in words[4:])


def parameter_file(page: str) -> str:
    """Return the text of the page's parameter file."""
    (text,) = [text for language, text in blocks(page) if language == 'yaml']
    return text


def description(page: Page) -> str:
    """Return the URDF of an arm with the joint names of the page."""
    (path,) = [path for path in example_urdfs() if Path(path).name == page.file]
    text = Path(path).read_text(encoding='utf-8')
    return text.replace(*page.rename) if page.rename[0] else text


class Nodes:
    """The nodes of a page in this process, with its launch arguments and parameter file."""

    def __init__(self, process: Process, page: Page, folder: Path):
        given = launch_arguments(page.name)
        assert given['description_topic'] == 'robot_description' and sorted(given['nodes'].split()) == sorted(ORDER)
        file, model = folder / given['config'], folder / page.file
        file.write_text(parameter_file(page.name))
        model.write_text(description(page))
        remaps = [word for name in ('joint_states', 'effort_commands') if name in given
                  for word in ('-r', f'{name}:={given[name]}')]  # fmt: skip
        parameters = ['-p', f'model:={model}', '-p', f'preset:={given["preset"]}']
        arguments = ['--ros-args', '--params-file', str(file), *remaps, *parameters]
        self.page, self.given, self.process = page, given, process
        self.nodes = {}
        for name in ORDER:
            node = self.nodes[name] = process.node(NODES[name], cli_args=arguments, use_global_arguments=False)
            node.start()
            assert node.active, node.silence
        self.robot = self.nodes['torque_controller'].robot
        own = self.nodes['dynamics_server']
        self.states = own.create_publisher(
            JointState, given.get('joint_states', 'joint_states'), qos_profile_sensor_data
        )
        self.commands = []
        own.create_subscription(Float64MultiArray, given['effort_commands'], self.commands.append, 10)

    def command_at(self, qd) -> np.ndarray:
        """Return a command for the arm in its posture at velocities qd."""
        names, effort = list(self.robot.joint_names), np.zeros(self.robot.nv)
        self.commands.clear()

        def answered():
            stamp = self.nodes['torque_controller'].get_clock().now().nanoseconds
            self.states.publish(ros.joint_state(names, stamp, self.page.posture, qd, effort))
            return self.commands

        self.process.spin_until(answered, self.nodes['torque_controller'].silence)
        return np.array(self.commands[-1].data)


@pytest.fixture
def process():
    """No node so far."""
    running = Process()
    yield running
    for node in running.nodes:
        node.end()
    running.end()


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_the_nodes_of_a_page_hold_the_arm_without_its_gravity(process, page, tmp_path):
    nodes = Nodes(process, page, tmp_path)
    gravity = nodes.robot.gravity_torque(np.array(page.posture))
    assert np.abs(gravity).max() > 20.0
    limits = yaml.safe_load(parameter_file(page.name))
    damping = np.array(limits['/**/torque_controller']['ros__parameters']['damping'])
    assert list(nodes.robot.joint_names) == limits['/**']['ros__parameters']['command_joints']
    assert nodes.command_at(np.zeros(nodes.robot.nv)) == pytest.approx(np.zeros(nodes.robot.nv), abs=1e-9)
    # the first right torque: the damping of a joint that is pushed, and nothing of gravity
    qd = np.full(nodes.robot.nv, 0.01)
    nodes.process.spin_until(
        lambda: np.allclose(nodes.command_at(qd), -0.01 * damping, rtol=0, atol=1e-9), f'{nodes.commands[-1].data}'
    )


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_the_info_topic_of_a_page_says_what_the_preset_leaves(process, page, tmp_path):
    nodes = Nodes(process, page, tmp_path)
    told = []
    nodes.nodes['dynamics_server'].create_subscription(TorqueInfo, 'feedforward_torque/info', told.append, ros.LATCHED)
    process.spin_until(lambda: told, 'an info')
    chosen = CompensationPolicy(nodes.given['preset'], '', [''])
    assert list(told[-1].terms) == list(chosen.terms) == ['coriolis', 'inertia']
    assert told[-1].gravity_owner == 'robot'
    text = (HOW_TO / f'{page.name}.md').read_text(encoding='utf-8')
    assert 'ros2 topic echo --once /feedforward_torque/info' in text
    controller = nodes.given['effort_commands'].split('/')[1]
    assert f'--activate {controller}' in text and f'`{controller}`' in text
    assert nodes.given.get('joint_states', 'joint_states') in text
    meaning = re.search(r'effort: (\w+)\n', parameter_file(page.name))[1]
    assert nodes.nodes['dynamics_server'].value('effort') == meaning


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_the_gains_of_a_page_are_the_proposed_ones(page, tmp_path):
    from robot_dynamics_ros.control.laws.gain_limits import propose_gains  # noqa: PLC0415

    path = tmp_path / page.file
    path.write_text(description(page))
    file = yaml.safe_load(parameter_file(page.name))
    given, shared = file['/**/torque_controller']['ros__parameters'], file['/**']['ros__parameters']
    robot = Robot.from_urdf(path, tip_link=shared['tip_link'])
    proposed = propose_gains(robot, given['state_rate'], 10.0)
    assert given['stiffness'] == pytest.approx(proposed.stiffness, rel=5e-3)
    assert given['damping'] == pytest.approx(proposed.damping, rel=5e-3)
