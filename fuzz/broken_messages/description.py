"""Valid and malicious robot descriptions on a topic, and the robot that a node must use after them."""

import re
from random import Random

from support import graph

import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from broken_messages.bytes import serialized, understood
from broken_messages.oracle import DESCRIPTION
from broken_messages.random_messages import ODD_NAMES
from broken_messages.rules import DESCRIBED, Findings
from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.model.audit import refusals

TOPIC = 'robot_description'
ODD_TEXTS = (
    'nan',
    'inf',
    '1e400',
    '1e30',
    '-1',
    '0',
    '-0.0',
    '1e-320',
    '',
    ' ',
    '1_000',
    '٣',
    '0x10',
    '1,5',
    '&#0;',
    '"',
)
NO_URDF = ('aubo_i5', str(named_urdf('aubo_i5')), '/etc/passwd', '', '\x00', 'a.urdf', '<', '<robot/>', '<a>' * 200)
ENTITIES = '<!DOCTYPE robot [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
FILE = '<!DOCTYPE robot [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
TYPES = ('fixed', 'continuous', 'prismatic', 'floating', 'planar', 'spherical', '')


class Descriptions:
    """Descriptions for one node."""

    def __init__(self, findings: Findings, node, random: Random):
        """Draw descriptions for ``node`` from ``random``."""
        self._check, self._node, self._random = findings.check, node, random

    def draw(self) -> str:
        """Return a description with up to four changes; it may still be valid."""
        random, text = self._random, DESCRIPTION
        for _ in range(random.randint(1, 4)):
            text = random.choice((self._scaled, self._scaled, self._numbered, self._typed, self._lined, self._hostile))(
                text
            )
        return text

    def look_at(self, data: bytes, now: int) -> None:
        """Check the state and the torques of a node that received ``data``."""
        message, node = understood(data, String), self._node
        if message is None:
            return
        robot = described(message.data, self._node.needs)
        told = f'active is {node.active}: {node.reason}'
        self._check(DESCRIBED, node.active is (robot is not None), told)
        if not node.active:
            reason = 'not configured: ' if message.data else 'waiting for a robot description'
            self._check(DESCRIBED, node.reason.startswith(reason), told)
        if not node.active or robot is None:
            return
        q = np.array([self._random.uniform(-0.5, 0.5) for _ in range(robot.nv)])
        node.sent.clear()
        node.give('joint_states', serialized(graph.joint_state(list(robot.joint_names), now, q)))
        torques = [np.array(deserialize_message(sent, JointState).effort) for topic, sent in node.sent[:1]]
        with np.errstate(all='ignore'):
            expected = np.clip(robot.gravity_torque(q), -robot.limits.effort, robot.limits.effort)
        right = len(torques) == 1 and np.allclose(torques[0], expected, rtol=1e-9, atol=1e-9)
        self._check(DESCRIBED, bool(right), f'{torques}, expected {expected}; {node.reason}')
        node.sent.clear()

    def _scaled(self, text: str) -> str:
        """Change a mass."""
        factor = self._random.uniform(0.5, 1.5)
        return self._at_one(r'mass value="([0-9.e-]+)"', text, lambda found: f'mass value="{float(found[1]) * factor}"')

    def _numbered(self, text: str) -> str:
        """Change any attribute to an unusual value."""
        odd = self._random.choice((*ODD_TEXTS, *ODD_NAMES)).replace('\x00', '')
        return self._at_one(r'="[^"]*"', text, lambda found: f'="{odd}"')

    def _typed(self, text: str) -> str:
        """Change the type of a joint."""
        kind = self._random.choice(TYPES)
        return self._at_one(r'type="revolute"', text, lambda found: f'type="{kind}"')

    def _lined(self, text: str) -> str:
        """Remove, repeat or replace a line."""
        lines = text.splitlines()
        k = self._random.randrange(len(lines) or 1)
        lines[k : k + 1] = self._random.choice(([], lines[k : k + 1] * 2, [self._random.choice(lines or [''])]))
        return '\n'.join(lines)

    def _hostile(self, text: str) -> str:
        """Return a malicious text or one that is not a description."""
        random = self._random
        cut = random.randint(0, len(text))
        noise = ''.join(map(chr, random.choices(range(1, 0x3000), k=20)))
        return random.choice(
            (
                *(ENTITIES + text, FILE + text, text[:cut], text[:cut] + noise + text[cut:], text + text),
                *(text.replace('<link', '<a>' * 100 + '<link', 1), text.replace('Link', '${1+1}'), noise),
                *(text.replace('_joint', 'ж' * 300), random.choice(NO_URDF), text * 20),
            )
        )

    def _at_one(self, pattern: str, text: str, change) -> str:
        """Change one match of a pattern, if there is one."""
        places = list(re.finditer(pattern, text))
        if not places:
            return text
        found = self._random.choice(places)
        return text[: found.start()] + change(found) + text[found.end() :]


def described(text: str, needs) -> Robot | None:
    """Return the robot of a text, None if a node that ``needs`` parts of the model must reject it."""
    try:
        robot = Robot.from_urdf(text) if '<' in text else None
    except DynamicsError:
        return None
    if robot is None or refusals(robot.findings, needs):
        return None
    answerable = robot.nv and robot.nv == len(robot.joint_names) and (robot.limits.effort > 0.0).all()
    return robot.with_binding('generic') if answerable else None
