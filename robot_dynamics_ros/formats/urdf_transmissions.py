"""Rotor inertias and gear ratios of <transmission>, as Drake reads them; other statements about motors are reported.

A simple transmission whose actuator has a <drake:rotor_inertia> J (kg m^2, of the motor) and a <drake:gear_ratio> N
reflects N^2 J to its joint. Several motors of one joint add up.
"""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from xml.etree.ElementTree import Element

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import numbers, only_child
from robot_dynamics_ros.model.model import Finding

ROTOR_INERTIA = 'drake:rotor_inertia'
GEAR_RATIO = 'drake:gear_ratio'
OF_MOTORS = ('motorInertia', 'motor_inertia', 'rotorInertia', 'rotor_inertia')
"""Elements that other descriptions have; no document says what their units are."""


class Motor(NamedTuple):
    """Motor data of one joint, from its transmissions."""

    rotor: float = 0.0  # kg m^2, reflected to the joint
    gear_ratio: float = math.nan  # motor rotation per joint rotation; NaN: not stated, or not the same for all motors


def motors_of(robot: Element, moving: Mapping[str, str]) -> tuple[dict[str, Motor], list[Finding]]:
    """Return the motors by joint, and findings on what of a transmission is not used.

    ``moving`` are the kinds of the joints that move. Raises ModelError naming transmission and element.
    """
    motors: dict[str, Motor] = {}
    findings: list[Finding] = []
    for count, transmission in enumerate(robot.findall('transmission'), start=1):
        where = f'transmission {transmission.get("name", f"number {count}")!r:.80}'
        findings += _without_units(where, transmission)
        inertia, ratio = (list(transmission.iter(tag)) for tag in (ROTOR_INERTIA, GEAR_RATIO))
        if not inertia and not ratio:
            continue
        joint, unused = _joint_of(transmission, moving)
        if unused:
            findings.append(Finding('warning', where, f'its rotor inertia and gear ratio are not used: {unused}'))
            continue
        motor = _motor(where, transmission)
        motors[joint] = _both(motors[joint], motor) if joint in motors else motor
    return motors, findings


def _joint_of(transmission: Element, moving: Mapping[str, str]) -> tuple[str, str]:
    """Return the joint of a simple transmission, or why it has none that a motor can turn."""
    element = transmission.find('type')
    kind = transmission.get('type', '') if element is None else element.text or ''
    if 'SimpleTransmission' not in kind:
        return '', f'its type is {kind.strip()!r:.80}, expected SimpleTransmission'
    joint = transmission.find('joint')
    name = '' if joint is None else joint.get('name', '')
    if name not in moving:
        return '', f'no joint {name!r:.80} moves'
    if moving[name] not in ('revolute', 'prismatic'):
        return '', f'joint {name!r} is {moving[name]}'
    return name, ''


def _motor(where: str, transmission: Element) -> Motor:
    """Return the motor of a transmission's actuator."""
    actuator = only_child(where, transmission, 'actuator')
    if actuator is None:
        raise ModelError(f'{where}: <actuator> is missing')
    inertia, ratio = (only_child(where, actuator, tag) for tag in (ROTOR_INERTIA, GEAR_RATIO))
    (J,), (N,) = numbers(where, inertia, 'value', [0.0]), numbers(where, ratio, 'value', [1.0])
    if J < 0.0:
        raise ModelError(f'{where}: <{ROTOR_INERTIA} value="{J:g}">: expected at least 0')
    if N == 0.0:
        raise ModelError(f'{where}: <{GEAR_RATIO} value="0">: expected another number')
    return Motor(N * N * J, abs(N) if ratio is not None else math.nan)


def _both(one: Motor, other: Motor) -> Motor:
    """Return two motors of one joint as one."""
    same = one.gear_ratio == other.gear_ratio
    return Motor(one.rotor + other.rotor, one.gear_ratio if same else math.nan)


def _without_units(where: str, transmission: Element) -> Iterator[Finding]:
    """Yield a finding on a rotor inertia that is not used, since its unit and its side of the gear are not known."""
    for tag in OF_MOTORS:
        for element in transmission.iter(tag):
            stated = (element.text or element.get('value') or '').strip()
            reduction = next((it.text or '' for it in transmission.iter('mechanicalReduction')), '').strip()
            gear = f' behind a reduction of {reduction:.40}' if reduction else ''
            message = (
                f'<{tag}> {stated:.40}{gear} is not used; state the inertia that is reflected to the joint in an '
                f'actuator file (rotor_inertia), or as <{ROTOR_INERTIA}> and <{GEAR_RATIO}>'
            )
            yield Finding('warning', where, message)
