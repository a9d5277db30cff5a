"""Valid and malicious robot descriptions on a topic, and the robot that a node must use after them."""

import re
from random import Random

from robots import DESCRIPTION

from broken_messages.spoil import ODD_NAMES
from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.model.audit import refusals

ODD_TEXTS = (
    *('nan', 'inf', '1e400', '1e30', '-1', '0', '-0.0', '1e-320', '', ' ', '1_000', '٣', '0x10', '1,5', '&#0;', '"'),
    *('fixed', 'continuous', 'prismatic', 'floating', 'planar', 'spherical', *ODD_NAMES),
)
NO_URDF = ('aubo_i5', '/etc/passwd', '', '\x00', 'a.urdf', '<', '<robot/>', '<a>' * 200)
ENTITIES = '<!DOCTYPE robot [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
FILE = '<!DOCTYPE robot [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


def drawn(random: Random) -> str:
    """Return a description with up to four changes; it may still be valid."""
    text = DESCRIPTION
    for _ in range(random.randint(1, 4)):
        text = _changed(random, text)
    return text


def described(text: str, needs) -> Robot | None:
    """Return the robot of a text, None if a node that ``needs`` parts of the model must reject it."""
    try:
        robot = Robot.from_urdf(text) if '<' in text else None
    except DynamicsError:
        return None
    if robot is None or refusals(robot.findings, needs):
        return None
    driven = robot.nv and robot.nv == len(robot.joint_names) and (robot.limits.effort > 0.0).all()
    return robot if driven else None


def _changed(random: Random, text: str) -> str:
    """Return a text with another mass, another value, another line, or something hostile."""
    way, cut = random.randrange(6), random.randint(0, len(text))
    lines, k = text.splitlines() or [''], random.randrange(text.count('\n') + 1)
    if way <= 3:
        pattern = r'mass value="([0-9.e-]+)"' if way < 2 else r'type="revolute"' if way == 2 else r'="[^"]*"'
        places = list(re.finditer(pattern, text))
        if not places:
            return text
        place, odd = random.choice(places), random.choice(ODD_TEXTS).replace('\x00', '')
        scaled = f'mass value="{float(place[1]) * random.uniform(0.5, 1.5)}"' if way < 2 else ''
        return text[: place.start()] + (scaled or f'{place[0].partition("=")[0]}="{odd}"') + text[place.end() :]
    if way == 4:
        lines[k : k + 1] = random.choice(([], lines[k : k + 1] * 2, [random.choice(lines)]))
        return '\n'.join(lines)
    noise = ''.join(map(chr, random.choices(range(1, 0x3000), k=20)))
    return random.choice(
        (
            *(ENTITIES + text, FILE + text, text[:cut], text[:cut] + noise + text[cut:], text * 2, text * 20, noise),
            *(text.replace('<link', '<a>' * 100 + '<link', 1), text.replace('Link', '${1+1}')),
            *(text.replace('_joint', 'ж' * 300), random.choice(NO_URDF)),
        )
    )
