"""Mechanisms as MJCF: bodies at the positions where the loops are closed, loops as equality constraints between sites.

Link frames are those of ``Mechanism`` at its ``q``; a hinge or slide is zero there.
"""

from support.robots.mechanisms import Mechanism, pose
from support.robots.random_trees import BASE
from support.twins.naive import joint_pose, places

import numpy as np
from numpy.polynomial import Polynomial
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Coupling
from robot_dynamics_ros.model.inertial_parameters import central_parameters

TAGS = {'revolute': 'hinge', 'prismatic': 'slide', 'spherical': 'ball'}
TOLERANCES = 'tolerance="0" iterations="100" jacobian="dense" cone="elliptic"'


def mjcf_of(mechanism: Mechanism) -> str:
    """Return a mechanism as MJCF text, its closures of kind 'point', 'revolute' and 'weld' as sites held together."""
    sites: dict[str, list[str]] = {}
    zero = dict(
        zip(
            [it.name for it in mechanism.joints], [mechanism.q[own] for own, _ in places(mechanism.joints)], strict=True
        )
    )
    equalities = [line for k, loop in enumerate(mechanism.loops) for line in _equality(k, loop, sites, zero)]
    bodies = [line for link in _children(mechanism, BASE) for line in _body(mechanism, link, sites)]
    world = [*sites.get(BASE, []), *bodies]
    return '\n'.join(
        [
            f'<mujoco model="{mechanism.name.replace(" ", "_")}">',
            '  <compiler angle="radian"/>',
            f'  <option {TOLERANCES}/>',
            '  <worldbody>',
            *('    ' + line for line in world),
            '  </worldbody>',
            '  <equality>',
            *('    ' + line for line in equalities),
            '  </equality>',
            '</mujoco>',
            '',
        ]
    )


def home(mechanism: Mechanism, q) -> np.ndarray:
    """Return our coordinates (nq,) of the positions q of the MJCF: hinges and slides count from ``mechanism.q``."""
    result = np.array(q, float)
    for joint, (of_q, _) in zip(mechanism.joints, places(mechanism.joints), strict=True):
        if joint.kind in ('revolute', 'prismatic'):
            result[of_q] += mechanism.q[of_q]
    return result


def _children(mechanism, parent):
    return [joint.link for joint in mechanism.joints if joint.parent == parent]


def _numbers(values) -> str:
    return ' '.join(repr(float(value)) if value else '0' for value in np.asarray(values, float).ravel())


def _quaternion(R) -> str:
    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return _numbers([w, x, y, z])


def _body(mechanism, link, sites) -> list[str]:
    """Return a body with what hangs on it."""
    ((joint, of_q),) = [
        (it, place)
        for it, (place, _) in zip(mechanism.joints, places(mechanism.joints), strict=True)
        if it.link == link
    ]
    turned, moved = joint_pose(joint, mechanism.q[of_q])
    if joint.kind == 'spherical':
        turned = np.eye(3)
    R, p = joint.rotation @ turned, joint.origin + joint.rotation @ moved
    mass, com, inertia = central_parameters(joint.inertia)
    if joint.kind == 'free':
        tag = f'<freejoint name="{joint.name}"/>'
    else:
        axis = '' if joint.kind == 'spherical' else f' axis="{_numbers(joint.axis)}"'
        rotor = f' armature="{_numbers([joint.rotor])}"' if joint.rotor else ''
        tag = f'<joint name="{joint.name}" type="{TAGS[joint.kind]}"{axis}{rotor}/>'
    full = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return [
        f'<body name="{link}" pos="{_numbers(p)}" quat="{_quaternion(R)}">',
        f'  {tag}',
        f'  <inertial mass="{mass!r}" pos="{_numbers(com)}" fullinertia="{_numbers(full)}"/>',
        *('  ' + line for line in sites.get(link, [])),
        *('  ' + line for child in _children(mechanism, link) for line in _body(mechanism, child, sites)),
        '</body>',
    ]


def _equality(number, loop, sites, zero) -> list[str]:
    """Return the constraints of a loop; writes the sites that they hold. ``zero`` has the positions that are zero."""
    if isinstance(loop, Coupling):
        polynomial, moved = np.zeros(5), Polynomial(loop.polynomial)(Polynomial([zero[loop.other][0], 1.0]))
        polynomial[: len(loop.polynomial)] = moved.coef
        polynomial[0] -= zero[loop.joint][0]
        return [f'<joint joint1="{loop.joint}" joint2="{loop.other}" polycoef="{_numbers(polynomial)}"/>']
    lines = []
    for k, z in enumerate((0.0, 0.1) if loop.kind == 'revolute' else (0.0,)):
        names = []
        for side, link, at in (('a', loop.link_a, loop.pose_a), ('b', loop.link_b, loop.pose_b)):
            end = at @ pose((0.0, 0.0, z))
            names.append(f'{number}{side}{k}')
            sites.setdefault(link or BASE, []).append(
                f'<site name="{names[-1]}" pos="{_numbers(end[:3, 3])}" quat="{_quaternion(end[:3, :3])}"/>'
            )
        tag = 'weld' if loop.kind == 'weld' else 'connect'
        lines.append(f'<{tag} name="{loop.name}{f" {k}" if k else ""}" site1="{names[0]}" site2="{names[1]}"/>')
    return lines
