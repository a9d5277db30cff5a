"""What a URDF says that a model does not hold: a finding on each, so that nothing is dropped without a word.

Whatever is neither in ``READ`` nor in ``WITHOUT_EFFECT`` is reported: words of another program or of a later version of
URDF, and misspelt ones.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from xml.etree.ElementTree import Element

from robot_dynamics_ros.formats.unread_findings import findings_of
from robot_dynamics_ros.formats.urdf_loops.actuated_joints import INDEPENDENT
from robot_dynamics_ros.formats.urdf_loops.closing_elements import CLOSING, NO_CONSTRAINTS
from robot_dynamics_ros.formats.urdf_origin import NEWEST, WITH_QUATERNIONS, Version
from robot_dynamics_ros.model.model import Finding

_POSE = frozenset({'xyz', 'rpy', 'quat_xyzw'})
READ = {
    'robot': frozenset({'name', 'version'}),
    'link': frozenset({'name'}),
    'link/inertial': frozenset(),
    'link/inertial/origin': _POSE,
    'link/inertial/mass': frozenset({'value'}),
    'link/inertial/inertia': frozenset({'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'}),
    'joint': frozenset({'name', 'type', INDEPENDENT}),
    'joint/origin': _POSE,
    'joint/parent': frozenset({'link'}),
    'joint/child': frozenset({'link'}),
    'joint/axis': frozenset({'xyz'}),
    'joint/limit': frozenset({'lower', 'upper', 'effort', 'velocity'}),
    'joint/dynamics': frozenset({'damping', 'friction'}),
    'joint/mimic': frozenset({'joint', 'multiplier', 'offset'}),
}
"""Attributes of each element that is read.

Those of <transmission> are in ``urdf_transmissions``, those of elements that close loops and of further ones for mimic
joints in ``urdf_loops``."""
WITHOUT_EFFECT = {
    'shapes, colours and contacts': (
        'material', 'link/visual', 'link/collision', 'link/contact', 'link/collision_checking',
        'link/self_collision_checking', 'link/self_filter', 'link@type', 'link@concave', 'joint@dont_collapse',
        'collision_filter_group', 'drake:collision_filter_group',
    ),
    'sensors, controllers and their limits': (
        'sensor', 'ros2_control', 'joint/calibration', 'joint/safety_controller', 'joint/controller_gains',
        'joint/limit@acceleration', 'joint/limit@deceleration', 'joint/limit@jerk', 'joint/limit@drake:acceleration',
        'link/audio_source',
    ),
    'settings of a simulator, but for those that findings name': ('gazebo', 'mujoco', 'transmission', 'joint/axis@rpy'),
}  # fmt: skip
"""Elements, with what is in them, and attributes (element@attribute) that change no torque of a robot."""
_WITHOUT_EFFECT = frozenset(path for paths in WITHOUT_EFFECT.values() for path in paths)
GAZEBO_WITHOUT_EFFECT = frozenset({
    'canonicalBody', 'cfmDamping', 'collision', 'disableFixedJointLumping', 'enable_wind', 'fdir1', 'fudgeFactor',
    'gripper', 'implicitSpringDamper', 'initial_joint_position', 'kd', 'kinematic', 'kp', 'laserRetro', 'material',
    'maxContacts', 'maxVel', 'minDepth', 'mu1', 'mu2', 'plugin', 'preserveFixedJoint', 'projector', 'provideFeedback',
    'selfCollide', 'self_collide', 'sensor', 'static', 'stopCfm', 'stopErp', 'stopKd', 'stopKp', 'visual',
    'turnGravityOff', 'gravity',  # where they leave gravity on
})  # fmt: skip
"""Elements of <gazebo> that change no torque of a robot."""
_OFF = {('turnGravityOff', '1'), ('turnGravityOff', 'true'), ('gravity', '0'), ('gravity', 'false')}


def unread(robot: Element, version: Version, masses: Mapping[str, float]) -> Iterator[Finding]:
    """Yield findings on what a <robot> element says and the model goes without; ``masses`` (kg) are those of links."""
    where = f'robot {robot.get("name")!r}'
    if version > NEWEST:
        message = f'version {version[0]}.{version[1]} of URDF is newer than {NEWEST[0]}.{NEWEST[1]}, which is read'
        yield Finding('warning', where, message)
    messages = chain(
        _of_gazebo(robot, masses),
        _safety_controllers(robot),
        _ignored_quaternions(robot, version),
        _unknown(robot, 'robot', where),
    )
    yield from findings_of(messages, where)


def _unknown(element: Element, path: str, place: str) -> Iterator[tuple[str, str]]:
    """Yield a message on each unknown attribute and element of an element of ``READ``, and the link or joint."""
    shown = ''.join(f'<{tag}>' for tag in path.split('/'))
    known = READ[path]
    unknown = [it for it in element.attrib if it not in known and f'{path}@{it}' not in _WITHOUT_EFFECT]
    if names := ', '.join(it for it in unknown if not it.startswith('xmlns')):
        yield f'{shown[:-1]} {names:.200}> is not read', place
    for child in element:
        inner = child.tag if path == 'robot' else f'{path}/{child.tag}'
        if inner in READ:
            is_part = path == 'robot'  # a link or a joint
            yield from _unknown(child, inner, f'{inner} {child.get("name", "")!r:.80}' if is_part else place)
        elif inner not in _WITHOUT_EFFECT and inner not in CLOSING and inner not in NO_CONSTRAINTS:
            yield f'{"" if path == "robot" else shown}<{child.tag:.80}> is not read', place


def _of_gazebo(robot: Element, masses: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """Yield messages on elements of <gazebo> that change torques of Gazebo's robot, and the link or joint."""
    for gazebo in robot.findall('gazebo'):
        reference = gazebo.get('reference', '')
        for element in gazebo:
            text = (element.text or '').strip().lower()
            if (element.tag, text) in _OFF:
                if masses.get(reference):
                    message = f'<gazebo><{element.tag}> is not used: it has weight here, and none in Gazebo'
                    yield message, f'link {reference!r:.80}'
            elif element.tag not in GAZEBO_WITHOUT_EFFECT and element.tag != 'joint' and ':' not in element.tag:
                yield f'<gazebo><{element.tag:.80}> is not read: only Gazebo uses it', f'gazebo {reference!r:.80}'


def _safety_controllers(robot: Element) -> Iterator[tuple[str, str]]:
    """Yield messages on safety controllers that allow no effort, and their joints."""
    message = '<safety_controller k_velocity="0">: joint limiters of ros2_control clamp its efforts to 0'
    for joint in robot.findall('joint'):
        for element in joint.findall('safety_controller'):
            with suppress(ValueError):
                if float(element.get('k_velocity', 1.0)) == 0.0:
                    yield message, f'joint {joint.get("name")!r:.80}'


def _ignored_quaternions(robot: Element, version: Version) -> Iterator[tuple[str, str]]:
    """Yield messages on quaternions in a version of URDF that has none, and the links or joints."""
    if version < WITH_QUATERNIONS:
        message = (
            f'<origin quat_xyzw> is not read: it belongs to URDF 1.1, and this is {version[0]}.{version[1]}; '
            'state <robot version="1.1">, or rpy'
        )
        for part in (*robot.findall('link'), *robot.findall('joint')):
            if any('quat_xyzw' in origin.attrib for origin in part.iter('origin')):
                yield message, f'{part.tag} {part.get("name")!r:.80}'
