"""What SDFormat says that a model does not hold: a finding on each, so that nothing is dropped without a word.

Whatever is neither in ``READ`` nor in ``WITHOUT_EFFECT`` is reported.
"""

from collections.abc import Iterator
from itertools import chain
from xml.etree.ElementTree import Element

from robot_dynamics_ros.formats.sdf.couplings import DRAKE_MIMIC
from robot_dynamics_ros.formats.sdf.frames import ModelFrames
from robot_dynamics_ros.formats.sdf.joints import GEAR_RATIO, GEARBOX, ROTOR_INERTIA
from robot_dynamics_ros.formats.sdf.values import NEWEST, flag, number
from robot_dynamics_ros.formats.unread_findings import findings_of
from robot_dynamics_ros.model.model import Finding

_POSE = frozenset({'relative_to', 'frame', 'rotation_format', 'degrees'})
_AXIS = {
    'xyz': frozenset({'expressed_in'}),
    'use_parent_model_frame': frozenset(),
    **{it: frozenset() for it in ('limit', 'limit/lower', 'limit/upper', 'limit/effort', 'limit/velocity')},
    **{f'dynamics{it}': frozenset() for it in ('', '/damping', '/friction', '/spring_reference', '/spring_stiffness')},
    'mimic': frozenset({'joint', 'axis'}),
    **{f'mimic/{it}': frozenset() for it in ('multiplier', 'offset', 'reference')},
}
READ = {
    'model': frozenset({'name', 'canonical_link', 'placement_frame'}),
    'static': frozenset(),
    'pose': _POSE,
    'frame': frozenset({'name', 'attached_to'}),
    'frame/pose': _POSE,
    'link': frozenset({'name'}),
    'link/pose': _POSE,
    **{f'link/{it}': frozenset() for it in ('gravity', 'kinematic', 'velocity_decay')},
    **{f'link/velocity_decay/{it}': frozenset() for it in ('linear', 'angular')},
    'link/inertial': frozenset({'auto'}),
    'link/inertial/pose': _POSE - {'relative_to'},
    **{f'link/inertial/{it}': frozenset() for it in ('mass', 'inertia')},
    **{f'link/inertial/inertia/{it}': frozenset() for it in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')},
    'joint': frozenset({'name', 'type'}),
    'joint/pose': _POSE,
    **{f'joint/{it}': frozenset() for it in ('parent', 'child', 'axis', ROTOR_INERTIA, GEAR_RATIO)},
    **{f'joint/{it}': frozenset() for it in ('thread_pitch', 'screw_thread_pitch')},
    **{f'joint/axis/{it}': attributes for it, attributes in _AXIS.items()},
    f'joint/{DRAKE_MIMIC}': frozenset({'joint', 'multiplier', 'offset'}),
}
"""Attributes of each element of a <model> that is read."""
_OF_GEARBOX = {
    'joint/gearbox_ratio': frozenset(),
    'joint/gearbox_reference_body': frozenset(),
    'joint/axis2': frozenset(),
    'joint/axis2/xyz': frozenset({'expressed_in'}),
    'joint/axis2/use_parent_model_frame': frozenset(),
}
_READ_OF_ANY = READ | _OF_GEARBOX
WITHOUT_EFFECT = {
    'shapes, colours and contacts': (
        'self_collide', 'link/self_collide', 'link/collision', 'link/visual', 'link/light', 'link/particle_emitter',
        'link/projector', 'drake:collision_filter_group',
    ),
    'sensors, programs and their settings': (
        'plugin', 'gripper', 'link/sensor', 'joint/sensor', 'link/audio_sink', 'link/audio_source', 'link/battery',
        'model@namespace', 'joint/drake:controller_gains',
    ),
    'settings of a simulator': (
        'allow_auto_disable', 'enable_wind', 'link/enable_wind', 'link/must_be_base_link', 'joint/physics',
        'joint/axis/initial_position', 'joint/axis/limit/stiffness', 'joint/axis/limit/dissipation',
        'joint/axis/limit/drake:acceleration', 'joint/axis2/limit', 'joint/axis2/dynamics',
        # of inertias that are computed from shapes, which are refused
        'link/inertial/density', 'link/inertial/auto_inertia_params',
    ),
}  # fmt: skip
"""Elements, with what is in them, and attributes (element@attribute) that change no torque of a robot."""
_WITHOUT_EFFECT = frozenset(path for paths in WITHOUT_EFFECT.values() for path in paths)
WORLD_WITHOUT_EFFECT = frozenset({
    'atmosphere', 'audio', 'gravity', 'gui', 'light', 'magnetic_field', 'model', 'physics', 'plugin', 'population',
    'road', 'scene', 'spherical_coordinates', 'wind',
})  # fmt: skip
"""Elements of a <world> that change no torque of the robot in it, and those that are read."""


def unread(model: Element, frames: ModelFrames, masses: dict[str, float]) -> Iterator[Finding]:
    """Yield findings on what a <model> says and the model goes without; ``masses`` (kg) are those of links."""
    where = f'robot {model.get("name")!r}'
    if frames.version > NEWEST:
        version = '.'.join(map(str, frames.version))
        message = f'version {version} of SDFormat is newer than {NEWEST[0]}.{NEWEST[1]}, which is read'
        yield Finding('warning', where, message)
    yield from findings_of(chain(_of_links(frames, masses), _unknown(model, 'model', where)), where)


def unread_of_world(world: Element, model: Element) -> Iterator[Finding]:
    """Yield findings on what a <world> has beside the model of the robot."""
    where = f'world {world.get("name", "")!r:.80}'
    messages: list[tuple[str, str]] = []
    for element in world:
        if element.tag == 'include':
            uri = (element.findtext('uri') or '').strip()
            messages.append((f'<include> {uri:.80} is not read', where))
        elif element.tag == 'model' and element is not model:
            messages.append((f'model {element.get("name", "")!r:.80} is static and not read', where))
        elif element.tag not in WORLD_WITHOUT_EFFECT:
            messages.append((f'<{element.tag:.80}> is not read', where))
    yield from findings_of(messages, where)


def _of_links(frames: ModelFrames, masses: dict[str, float]) -> Iterator[tuple[str, str]]:
    """Yield messages on what of links moves them in Gazebo in another way, and the link."""
    for name, link in frames.links.items():
        where = f'link {name!r}'
        if link.find('gravity') is not None and not flag(where, link, 'gravity') and masses[name]:
            yield '<gravity> is not used: it has weight here, and none in Gazebo', where
        if flag(where, link, 'kinematic'):
            yield '<kinematic> is not used: forces move it here', where
        decay = link.find('velocity_decay')
        if any(number(where, decay, tag, 0.0) for tag in ('linear', 'angular')):
            yield '<velocity_decay> is not used: links move without drag here', where
        if link.find('inertial') is None:
            message = 'it has no <inertial>: by SDFormat that is a mass of 1 kg, with 1 kg m^2 about each axis'
            yield message, where


def _unknown(element: Element, path: str, place: str) -> Iterator[tuple[str, str]]:
    """Yield a message on each unknown attribute and element of an element that is read, and the link or joint."""
    shown = ''.join(f'<{tag}>' for tag in path.split('/'))
    known = _READ_OF_ANY[path]
    unknown = [it for it in element.attrib if it not in known and f'{path}@{it}' not in _WITHOUT_EFFECT]
    if names := ', '.join(it for it in unknown if not it.startswith('xmlns')):
        yield f'{shown[:-1]} {names:.200}> is not read', place
    of_gearbox = path.startswith('joint/axis2') or element.get('type') == GEARBOX
    for child in element:
        inner = child.tag if path == 'model' else f'{path}/{child.tag}'
        if path == 'model' and child.tag == 'model':
            yield from _unknown(child, 'model', f'model {child.get("name", "")!r:.80}')
        elif inner in READ or (of_gearbox and inner in _OF_GEARBOX):
            is_part = path == 'model' and child.tag in ('link', 'joint', 'frame')
            yield from _unknown(child, inner, f'{inner} {child.get("name", "")!r:.80}' if is_part else place)
        elif inner not in _WITHOUT_EFFECT:
            yield f'{"" if path == "model" else shown}<{child.tag:.80}> is not read', place
