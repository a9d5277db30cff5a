"""Mechanisms with closed loops: joints of a spanning tree and loops as data, for robots of ours and for the oracles.

Planar mechanisms are in the xz plane: a rotation about their axis lifts x towards z.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from support.robots.random_trees import BASE

import numpy as np
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Coupling, LoopClosure, Robot
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model

X, Y, Z = np.eye(3)
UNITS = {'revolute': (0.0,), 'prismatic': (0.0,), 'spherical': (0.0, 0.0, 0.0, 1.0), 'free': (0.0,) * 6 + (1.0,)}
"""Neutral coordinates of the joints in use."""


def pose(origin=(0.0, 0.0, 0.0), rotation=None) -> np.ndarray:
    """Return a pose (4, 4)."""
    T = np.eye(4)
    T[:3, 3] = origin
    if rotation is not None:
        T[:3, :3] = rotation
    return T


IN_PLANE = Rotation.from_euler('x', 0.5 * np.pi).as_matrix()
"""Axes of a frame whose x and y are in the plane of planar mechanisms."""


@dataclass(frozen=True)
class Mechanism:
    """A spanning tree, its loops, positions ``near`` (nq,) those that close them, and the number of free motions."""

    name: str
    joints: tuple[Joint, ...]
    loops: tuple[LoopClosure | Coupling, ...]
    near: np.ndarray
    mobility: int
    reach: float = 0.1
    """rad, m: how far random positions are from these."""

    @cached_property
    def open(self) -> Robot:
        """The spanning tree alone."""
        return Robot(Model.of(self.name, BASE, self.joints))

    @cached_property
    def robot(self) -> Robot:
        """The robot with its loops."""
        return self.open.with_loops(self.loops)

    @cached_property
    def q(self) -> np.ndarray:
        """Positions (nq,) with closed loops."""
        return closed(self.robot, self.near)

    def state(self, seed: int):
        """Return random q and qd with closed loops, and any tau."""
        rng, robot = np.random.default_rng(seed), self.robot
        away, J = rng.uniform(-self.reach, self.reach, robot.nv), robot.loop_jacobian(self.q)
        q = closed(robot, robot.integrate(self.q, away - np.linalg.pinv(J, rcond=1e-9) @ (J @ away)))
        return q, projected(robot, q, rng.uniform(-1.0, 1.0, robot.nv)), rng.uniform(-5.0, 5.0, robot.nv)


def loop_step(robot: Robot, q, change) -> np.ndarray:
    """Return the least step (nv,) in the mass metric that changes the rows of the loops by ``change``."""
    return robot._evaluate('loop_step', robot._inputs, None, q, change)


def closed(robot: Robot, q) -> np.ndarray:
    """Return q (nq,) with closed loops, by two steps of Newton's method more than the facade needs."""
    q = robot.close_loops(q).q
    for _ in range(2):
        q = robot.integrate(q, loop_step(robot, q, -robot.loop_errors(q)))
    return q


def projected(robot: Robot, q, qd) -> np.ndarray:
    """Return velocities (nv,) with closed loops, nearest to qd in the mass metric."""
    for _ in range(2):
        qd = qd - loop_step(robot, q, robot.loop_rates(q, qd))
    return qd


def rod(length: float, mass: float, along=X, radius: float = 0.01, begin: float = 0.0) -> np.ndarray:
    """Return the ten parameters of a round rod from ``begin`` to ``begin + length`` along an axis."""
    across = mass * (length**2 / 12.0 + radius**2 / 4.0)
    inertia = across * np.eye(3) + (0.5 * mass * radius**2 - across) * np.outer(along, along)
    return ten_parameters(mass, (begin + 0.5 * length) * np.asarray(along), inertia)


def box(mass: float, sides, center=(0.0, 0.0, 0.0)) -> np.ndarray:
    """Return the ten parameters of a box."""
    squares = np.square(sides)
    return ten_parameters(mass, np.array(center), np.diag(mass / 12.0 * (squares.sum() - squares)))


def moving(link, parent, origin, inertia, axis=-Y, kind='revolute', rotation=None) -> Joint:
    """Return a joint named after its link."""
    rotation = np.eye(3) if rotation is None else rotation
    return Joint(f'{link} joint', link, parent, kind, axis, rotation, np.array(origin, float), inertia)


# Planar linkages

FOUR_BAR = (0.5, 0.2, 0.55, 0.4)
"""m: ground, crank, coupler, rocker; the crank turns fully."""


def four_bar(kind: str = 'point', lengths=FOUR_BAR, near=(1.0, -0.2, 1.6), parent: str = BASE) -> Mechanism:
    """Return a planar four-bar linkage, its coupler and rocker held together by a closure of this kind.

    A weld holds the end of the coupler, a link of its own.
    """
    ground, crank, coupler, rocker = lengths
    joints = [
        moving('crank', parent, (0.0, 0.0, 0.0), rod(crank, 0.4)),
        moving('coupler', 'crank', (crank, 0.0, 0.0), rod(coupler, 1.1)),
        moving('rocker', parent, (ground, 0.0, 0.0), rod(rocker, 0.8)),
    ]
    near, tip, last = list(near), (coupler, 0.0, 0.0), 'coupler'
    if kind == 'weld':
        joints.append(moving('end', 'coupler', tip, box(0.1, (0.03, 0.02, 0.03))))
        near.append(near[2] - near[0] - near[1])
        tip, last = (0.0, 0.0, 0.0), 'end'
    at_tip, at_rocker = (pose(p, IN_PLANE) for p in (tip, (rocker, 0.0, 0.0)))
    closure = LoopClosure('closing', last, at_tip, 'rocker', at_rocker, kind)
    return Mechanism(f'four-bar, {kind}', tuple(joints), (closure,), np.array(near), 1)


def geared_four_bar(*ratios: float) -> Mechanism:
    """Return a four-bar linkage whose crank turns by these ``ratios`` of a chain of gears, the motor last."""
    linkage, driven = four_bar('revolute'), 'crank'
    joints, couplings, near = [*linkage.joints], [], [*linkage.q]
    for k, ratio in enumerate(ratios):
        gear = f'gear {k}'
        joints.append(moving(gear, BASE, (0.0, 0.0, -0.2), box(0.3, (0.05, 0.05, 0.05))))
        couplings.append(Coupling(f'{driven} joint', f'{gear} joint', (0.0, ratio)))
        near.append((near[-1] if k else near[0]) / ratio)
        driven = gear
    return Mechanism('geared four-bar', tuple(joints), (*linkage.loops, *couplings), np.array(near), 1)


def floating_four_bar() -> Mechanism:
    """Return a four-bar linkage on a free body."""
    body = Joint(
        'floating', 'body', BASE, 'free', X, np.eye(3), np.zeros(3), box(2.0, (0.6, 0.2, 0.1), (0.2, 0.0, 0.0))
    )
    linkage = four_bar('revolute', parent='body')
    near = np.array([*UNITS['free'], *linkage.near])
    return Mechanism('floating four-bar', (body, *linkage.joints), linkage.loops, near, 7)


def parallelogram() -> Mechanism:
    """Return a four-bar linkage of equal opposite sides, that is flat where its crank's angle is zero."""
    linkage = four_bar('planar_point', (0.5, 0.3, 0.5, 0.3), (0.8, -0.8, 0.8))
    return replace(linkage, name='parallelogram')


def ladder(cells: int = 10, kind: str = 'point') -> Mechanism:
    """Return a chain of loops: each four-bar linkage stands on the rung of the one before."""
    joints, loops, near, below = [], [], [], BASE
    for k in range(cells):
        side, other, rung = f'side {k}', f'other side {k}', f'rung {k}'
        joints += [
            moving(side, below, (0.0, 0.0, 0.0), rod(0.3, 0.5)),
            moving(other, below, (0.2, 0.0, 0.0), rod(0.28, 0.5)),
            moving(rung, side, (0.3, 0.0, 0.0), rod(0.19, 0.3)),
        ]
        ends = pose((0.19, 0.0, 0.0), IN_PLANE), pose((0.28, 0.0, 0.0), IN_PLANE)
        loops.append(LoopClosure(f'cell {k}', rung, ends[0], other, ends[1], kind))
        near += [1.4, 1.4, -1.5]
        below = rung
    return Mechanism(f'ladder of {cells}', tuple(joints), tuple(loops), np.array(near), cells)


def cable(links: int = 100) -> Mechanism:
    """Return a cable of equal links fixed at both ends, its hinges alternately about y and z."""
    length = 5.0 / links
    joints = [
        moving(
            f'link {k}',
            f'link {k - 1}' if k else BASE,
            (length if k else 0.0, 0.0, 0.0),
            rod(length, 2.0 / links),
            Z if k % 2 else -Y,
        )
        for k in range(links)
    ]
    end = LoopClosure('end', None, pose((4.0, 0.0, 0.0)), f'link {links - 1}', pose((length, 0.0, 0.0)), 'point')
    # an arc of 5 m over 4 m
    near = np.where(np.arange(links) % 2, 0.0, 4.524 / links)
    near[0] = -1.131
    return Mechanism(f'cable of {links}', tuple(joints), (end,), near, links - 3, reach=0.02)


def gears() -> Mechanism:
    """Return an arm whose second joint turns against the first, and whose third follows a cam on the second."""
    joints = (
        replace(moving('first', BASE, (0.0, 0.0, 0.0), rod(0.4, 1.2)), rotor=0.02),
        moving('second', 'first', (0.4, 0.0, 0.0), rod(0.3, 0.7)),
        moving('follower', 'second', (0.3, 0.0, 0.0), rod(0.2, 0.3), Z, 'prismatic'),
        moving('free end', 'second', (0.3, 0.0, 0.0), rod(0.25, 0.4)),
    )
    couplings = (
        Coupling('second joint', 'first joint', (0.1, -2.0)),
        Coupling('follower joint', 'second joint', (0.0, 0.05, 0.02, -0.01, 0.003)),
    )
    return Mechanism('gears', joints, couplings, np.array([0.3, -0.5, 0.0, 0.2]), 2)


# Parallel robots


THREE_RPR = {'base': ((0.0, 0.0), (1.591, 0.0), (0.0, 1.0)), 'sides': (1.704, 2.084, 1.654)}
"""m: feet of the legs, and sides of the platform between balls 0 and 1, 0 and 2, 1 and 2 (Innocenti and
Parenti-Castelli 1998, a tenth of it): it goes from one assembly mode to another without a singular position."""


def three_rpr(place=(0.0, 0.0), turn: float = 0.0) -> Mechanism:
    """Return a planar platform on three legs that turn at their feet and get longer; ball 0 is at ``place``."""
    d01, d02, d12 = THREE_RPR['sides']
    c = (d01**2 + d02**2 - d12**2) / (2.0 * d01 * d02)
    balls, feet = np.array([[0.0, 0.0], [d01, 0.0], [d02 * c, d02 * np.sqrt(1.0 - c * c)]]), np.array(THREE_RPR['base'])
    joints, near = [], []
    legs = place + balls @ about_z(turn)[:2, :2].T - feet
    for k, ((x, y), leg) in enumerate(zip(feet, legs, strict=True)):
        joints.append(moving(f'leg {k}', BASE, (x, y, 0.0), box(2.0, (0.2, 0.1, 0.1), (0.1, 0.05, 0.0)), Z))
        joints.append(
            moving(f'rod {k}', f'leg {k}', (0.0, 0.0, 0.0), box(1.0, (0.2, 0.1, 0.1), (0.1, 0.05, 0.0)), X, 'prismatic')
        )
        near += [np.arctan2(leg[1], leg[0]), np.hypot(*leg)]
    joints.append(moving('platform', 'rod 0', (0.0, 0.0, 0.0), box(5.0, (0.2, 0.1, 0.1), (0.1, 0.05, 0.0)), Z))
    near.append(turn - near[0])
    closures = (
        LoopClosure(f'ball {k}', f'rod {k}', pose(), 'platform', pose((*balls[k], 0.0)), 'planar_point') for k in (1, 2)
    )
    return Mechanism('3-RPR', tuple(joints), tuple(closures), np.array(near), 3)


def about_z(angle: float) -> np.ndarray:
    return Rotation.from_euler('z', angle).as_matrix()


DELTA = {'base': 0.2, 'platform': 0.05, 'upper': 0.25, 'fore': 0.6, 'half': 0.04}
"""m: radii of shoulders and of the platform's joints, lengths of the arms, half the distance of two rods."""


def _delta_start() -> tuple[float, float, float]:
    """Return shoulder and elbow angles and the platform's height where all arms are at the same angle."""
    shoulder, d = -0.2, DELTA
    inwards = d['base'] + d['upper'] * np.cos(shoulder) - d['platform']
    down = np.sqrt(d['fore'] ** 2 - inwards**2)
    return shoulder, np.arctan2(-down, -inwards) - shoulder, d['upper'] * np.sin(shoulder) - down


def delta() -> Mechanism:
    """Return a delta robot: rods on universal joints, their ends held to points of a free platform."""
    shoulder, elbow, height = _delta_start()
    d, disc = DELTA, box(0.3, (0.1, 0.1, 0.02))
    joints = [Joint('platform joint', 'platform', BASE, 'free', X, np.eye(3), np.zeros(3), disc)]
    loops, near = [], [0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0]
    for k in range(3):
        turned = about_z(2.0 * np.pi * k / 3.0)
        arm = moving(f'arm {k}', BASE, turned @ (d['base'] * X), rod(d['upper'], 0.8), rotation=turned)
        joints.append(replace(arm, rotor=0.01))
        near.append(shoulder)
        for side in (-1, 1):
            cross, fore = f'cross {k} {side}', f'rod {k} {side}'
            joints += [
                moving(cross, f'arm {k}', (d['upper'], side * d['half'], 0.0), box(0.02, (0.02, 0.02, 0.02))),
                moving(fore, cross, (0.0, 0.0, 0.0), rod(d['fore'], 0.1), Z),
            ]
            near += [elbow, 0.0]
            at = turned @ (d['platform'], side * d['half'], 0.0)
            loops.append(LoopClosure(f'end {k} {side}', 'platform', pose(at), fore, pose((d['fore'], 0.0, 0.0))))
    return Mechanism('delta', tuple(joints), tuple(loops), np.array(near), 3)


def delta_of_parallelograms() -> Mechanism:
    """Return a delta robot of hinges alone, its platform the tip of one arm: 25 rows, 12 of them redundant."""
    shoulder, elbow, _ = _delta_start()
    d, joints, loops, near = DELTA, [], [], []
    for k in range(3):
        turned = about_z(2.0 * np.pi * k / 3.0)
        arm, bar, low = f'arm {k}', f'bar {k}', f'low bar {k}'
        joints += [
            moving(arm, BASE, turned @ (d['base'] * X), rod(d['upper'], 0.8), rotation=turned),
            moving(bar, arm, (d['upper'], 0.0, 0.0), rod(2.0 * d['half'], 0.05, Y, begin=-d['half'])),
            moving(f'rod {k}', bar, (0.0, d['half'], 0.0), rod(d['fore'], 0.1), Z),
            moving(f'other rod {k}', bar, (0.0, -d['half'], 0.0), rod(d['fore'], 0.1), Z),
            moving(low, f'rod {k}', (d['fore'], 0.0, 0.0), rod(2.0 * d['half'], 0.05, -Y), Z),
        ]
        near += [shoulder, elbow, 0.0, 0.0, 0.0]
        held = pose((0.0, -2.0 * d['half'], 0.0)), pose((d['fore'], 0.0, 0.0))
        loops.append(LoopClosure(f'parallelogram {k}', low, held[0], f'other rod {k}', held[1], 'revolute'))
        # the platform's frame is at the wrist of the first arm
        if k == 0:
            disc = box(0.3, (0.1, 0.1, 0.02), (-d['platform'], 0.0, 0.0))
            joints.append(moving('platform', low, (0.0, -d['half'], 0.0), disc))
            near.append(-shoulder - elbow)
        else:
            at = d['platform'] * (turned @ X - X)
            ends = pose(at, turned @ IN_PLANE), pose((0.0, -d['half'], 0.0), IN_PLANE)
            loops.append(LoopClosure(f'wrist {k}', 'platform', ends[0], low, ends[1], 'revolute'))
    return Mechanism('delta of parallelograms', tuple(joints), tuple(loops), np.array(near), 3)


def stewart(on_a_leg: bool = False) -> Mechanism:
    """Return a Stewart platform on six legs: universal joint, slide, and a ball that holds the platform.

    The platform is free, or the tip of the first leg.
    """
    plate, height = box(5.0, (0.5, 0.5, 0.04)), 0.6
    joints, loops, near = [], [], []
    angles = [(2 * (k // 2) + s * 0.2, 2 * (k // 2) + s * 0.8) for k in range(6) for s in (-1 + 2 * (k % 2),)]
    for k, (low, high) in enumerate(np.pi / 3.0 * np.array(angles)):
        foot, ball = about_z(low) @ (0.4 * X), about_z(high) @ (0.25 * X)
        cross, cylinder, piston = f'cross {k}', f'cylinder {k}', f'piston {k}'
        joints += [
            moving(cross, BASE, foot, box(0.1, (0.04, 0.04, 0.04)), X),
            moving(cylinder, cross, (0.0, 0.0, 0.0), rod(0.4, 1.0, Z, 0.03), Y),
            moving(piston, cylinder, (0.0, 0.0, 0.0), rod(0.4, 0.5, Z, 0.015, begin=-0.4), Z, 'prismatic'),
        ]
        leg = ball + height * Z - foot
        length = np.linalg.norm(leg)
        x, y, z = leg / length
        tilt = np.arctan2(-y, z), np.arcsin(x)
        near += [*tilt, length]
        if on_a_leg and k == 0:
            upright = Rotation.from_euler('XY', tilt).inv()
            # the platform's frame is at its ball on this leg
            moved = ten_parameters(5.0, -ball, np.diag(5.0 / 12.0 * np.array([0.2516, 0.2516, 0.5])))
            joints.append(moving('platform', piston, (0.0, 0.0, 0.0), moved, Z, 'spherical'))
            near += upright.as_quat().tolist()
            first = ball
        else:
            at = ball - first if on_a_leg else ball
            loops.append(LoopClosure(f'ball {k}', 'platform', pose(at), piston))
    if not on_a_leg:
        joints.append(moving('platform', BASE, (0.0, 0.0, 0.0), plate, X, 'free'))
        near += [0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0]
    name = 'Stewart platform on a leg' if on_a_leg else 'Stewart platform'
    return Mechanism(name, tuple(joints), tuple(loops), np.array(near), 6)


PALLETIZER = {'upper': 0.9, 'fore': 1.0, 'rear': 0.3, 'bracket': (-0.12, 0.0, 0.16), 'corner': (0.06, 0.0, 0.18)}
"""m: upper arm and forearm, the forearm behind the elbow, and the ends of the ties from the shoulder, elbow, wrist."""
PALLETIZER_ACTUATED = 'column joint', 'upper arm joint', 'lever joint', 'tool joint'


def palletizer() -> Mechanism:
    """Return a palletizer: column, upper arm, and a lever that moves the forearm by a parallelogram; a level wrist.

    Two parallelograms of ties keep the wrist plate level, on which the tool turns.
    """
    d, upper, fore = PALLETIZER, 1.4, -0.2
    bracket, corner, ahead = d['bracket'], d['corner'], (d['upper'], 0.0, 0.0)
    joints = [
        moving('column', BASE, (0.0, 0.0, 0.4), box(60.0, (0.4, 0.4, 0.5)), Z),
        moving('upper arm', 'column', (0.2, 0.0, 0.3), rod(d['upper'], 25.0, radius=0.06)),
        moving('lever', 'column', (0.2, 0.0, 0.3), rod(d['rear'], 6.0, -X, 0.04)),
        moving('rod', 'lever', (-d['rear'], 0.0, 0.0), rod(d['upper'], 5.0, radius=0.02)),
        moving('forearm', 'upper arm', ahead, rod(d['fore'] + d['rear'], 18.0, radius=0.05, begin=-d['rear'])),
        moving('tie', 'column', np.add((0.2, 0.0, 0.3), bracket), rod(d['upper'], 3.0)),
        moving('triangle', 'upper arm', ahead, box(2.0, (0.2, 0.03, 0.2), (0.0, 0.0, 0.1))),
        moving('fore tie', 'triangle', corner, rod(d['fore'], 3.0)),
        moving('wrist', 'forearm', (d['fore'], 0.0, 0.0), box(4.0, (0.15, 0.1, 0.2), (0.03, 0.0, 0.05))),
        moving('tool', 'wrist', (0.05, 0.0, -0.1), box(3.0, (0.3, 0.2, 0.1), (0.02, 0.01, -0.1)), Z),
    ]
    ends = [
        ('lever rod', 'rod', (d['upper'], 0.0, 0.0), 'forearm', (-d['rear'], 0.0, 0.0)),
        ('upper ties', 'tie', (d['upper'], 0.0, 0.0), 'triangle', bracket),
        ('fore ties', 'fore tie', (d['fore'], 0.0, 0.0), 'wrist', corner),
    ]
    loops = [LoopClosure(name, a, pose(at, IN_PLANE), b, pose(to, IN_PLANE), 'revolute') for name, a, at, b, to in ends]
    near = [0.0, upper, fore, upper - fore, fore - upper, upper, -upper, fore, -fore, 0.0]
    return Mechanism('palletizer', tuple(joints), tuple(loops), np.array(near), 4)


def start_of(mechanism: Mechanism) -> dict[str, float]:
    """Return the positions where the loops are closed, of the joints of one coordinate."""
    names = [mechanism.robot.model.joint_of_coordinate(k) for k in range(mechanism.robot.nq)]
    return {name: float(x) for name, x in zip(names, mechanism.q, strict=True) if names.count(name) == 1}


def actuated(mechanism: Mechanism, joints) -> Robot:
    """Return the robot of a mechanism with these joints actuated."""
    return mechanism.robot.with_loops(mechanism.loops, actuated=joints, near=start_of(mechanism))


MECHANISMS = {
    mechanism.name: mechanism
    for mechanism in (
        *map(four_bar, ('point', 'planar_point', 'revolute', 'weld')), floating_four_bar(), parallelogram(), gears(),
        palletizer(), delta(), delta_of_parallelograms(), stewart(), stewart(on_a_leg=True), ladder(), cable(20),
    )
}  # fmt: skip


ARMS, PISTONS = (tuple(f'{name} {k} joint' for k in range(count)) for name, count in (('arm', 3), ('piston', 6)))
ACTUATED = {
    'palletizer': PALLETIZER_ACTUATED,
    'four-bar, revolute': ('crank joint',),
    'four-bar, weld': ('crank joint',),
    'parallelogram': ('crank joint',),
    'gears': ('first joint', 'free end joint'),
    'delta': ARMS,
    'delta of parallelograms': ARMS,
    'Stewart platform': PISTONS,
    'Stewart platform on a leg': PISTONS,
}
"""Joints with a motor, of mechanisms that have some."""
