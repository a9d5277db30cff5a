"""Table of a robot's joints: what ``print(robot)`` and notebooks show."""

from html import escape
from typing import TYPE_CHECKING, cast

import numpy as np

from robot_dynamics_ros.model.joint_types import KINDS
from robot_dynamics_ros.robot.summary.largest_gravity import Weighed, largest_gravity

if TYPE_CHECKING:
    from robot_dynamics_ros.robot.described_robot import DescribedRobot

HEAD = 'joint', 'type', 'limits, rad or m', 'velocity', 'effort', 'gravity', 'share', 'link', 'mass, kg', 'carried, kg'
ROUNDING = 1e-12
"""Of the largest torque: a smaller one is shown as 0."""


def rows_of(robot: 'DescribedRobot') -> list[tuple[str, ...]]:
    """Return ``HEAD``, and a row for each joint.

    It has the limits of the joint, its largest gravity torque within all position limits and the share of the effort
    limit that this is, the mass of its link, and all mass that it carries. '-' is what is not known; joints of several
    coordinates have no limits here, and a robot with one, or with closed loops, has no largest gravity torques.
    """
    model, limits = robot.model, robot.limits
    gravity = _largest_gravity(robot)
    arrays = model.arrays
    carried = arrays.I[:, 0].copy()
    for i in range(arrays.n, 0, -1):
        carried[arrays.parent[i]] += carried[i]
    rows: list[tuple[str, ...]] = [HEAD]
    coordinate = 0
    for i, (name, kind, link) in enumerate(
        zip(model.joint_names, model.joint_kinds, model.link_names[1:], strict=True), start=1
    ):
        single, k = KINDS[kind].coordinates == 1, int(arrays.first[i]) - 1
        lower, upper = (_number(it[coordinate]) if single else '-' for it in (limits.lower, limits.upper))
        of_motion = [_number(it[k]) if single else '-' for it in (limits.velocity, limits.effort)]
        needed = gravity[k]
        share = f'{100.0 * needed / limits.effort[k]:.0f} %' if limits.effort[k] < np.inf else '-'
        of_motion += [_number(needed), share if np.isfinite(needed) else '-']
        masses = _number(arrays.I[i, 0]), _number(carried[i])
        rows.append((name, kind, '-' if lower == upper == '-' else f'{lower} .. {upper}', *of_motion, link, *masses))
        coordinate += KINDS[kind].coordinates
    return rows


def _largest_gravity(robot: 'DescribedRobot') -> np.ndarray:
    """Return the largest gravity torque of each velocity (nv,), NaN where it is not searched for."""
    if robot.loops.all or robot.nq > robot.model.arrays.n:
        return np.full(robot.nv, np.nan)
    torque = largest_gravity(cast(Weighed, robot)).torque
    return np.where(torque > ROUNDING * torque.max(initial=0.0), torque, 0.0)


def text_of(robot: 'DescribedRobot') -> str:
    """Return the table as lines of text, below a line about the robot."""
    rows = rows_of(robot)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ['  '.join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return '\n'.join([about(robot), *lines])


def html_of(robot: 'DescribedRobot') -> str:
    """Return the table as HTML."""
    head, *rows = rows_of(robot)
    cells = [''.join(f'<th>{escape(it)}</th>' for it in head)]
    cells += [''.join(f'<td>{escape(it)}</td>' for it in row) for row in rows]
    return f'<p>{escape(about(robot))}</p><table>{"".join(f"<tr>{it}</tr>" for it in cells)}</table>'


def about(robot: 'DescribedRobot') -> str:
    """Return a line with name, numbers of joints and loops, base, moving mass, gravity and payloads."""
    arrays, count = robot.model.arrays, len(robot.loops.all)
    loops = f', {count} closed loop{"s" if count > 1 else ""}' if count else ''
    gravity = ' '.join(f'{it:g}' for it in robot.gravity)
    payloads = ''.join(f', payload on {link} {it.mass:g} kg' for link, it in robot.payloads.items())
    return (
        f'{robot.name}: {arrays.n} joints on {robot.link_names[0]}{loops}, moving mass '
        f'{np.sum(arrays.I[1:, 0]):.4g} kg, gravity ({gravity}) m/s^2{payloads}'
    )


def _number(value: float) -> str:
    return f'{value:.4g}' if np.isfinite(value) else '-'
