"""Check whether a feedforward torque from another node may be added: its terms, gravity owner, payload and model."""

from typing import NamedTuple

from robot_dynamics_ros.control.terms.compensation import RESIDUAL


class TorqueTerms(NamedTuple):
    """What a torque includes: as its node publishes it on the info topic, or as another node requires it."""

    joint_names: tuple[str, ...]
    terms: tuple[str, ...]
    """Among gravity, coriolis, inertia, friction and residual; of a consumer: those of the model that the robot does
    not compensate itself."""
    gravity_owner: str
    """node or robot."""
    model_digest: str
    gravity: tuple[float, ...]
    """(3,) m/s^2 in the base link, at the end of its ramp."""
    payload: tuple
    """Frame, mass, centre of mass and inertia of each body, at the end of the payload's ramp."""


def mismatch(produced: TorqueTerms, needed: TorqueTerms) -> str:
    """Return why a torque must not be added as long as its producer keeps these terms; '' if it may."""
    # a residual is what friction of the model leaves
    taken = (*needed.terms, *((RESIDUAL,) if 'friction' in needed.terms else ()))
    twice = [term for term in produced.terms if term not in taken]
    if twice:
        return f'it contains {twice[0]}, which the robot compensates itself'
    if 'gravity' in needed.terms and 'gravity' not in produced.terms:
        return (
            f'it contains {" ".join(produced.terms)} but not gravity, which nothing else would compensate; add gravity '
            'to compensation of its node, or set gravity_owner to robot on both nodes if the robot compensates it'
        )
    if set(produced.joint_names) != set(needed.joint_names):
        return f'it is for joints {" ".join(produced.joint_names)}; this node has {" ".join(needed.joint_names)}'
    if produced.gravity_owner != needed.gravity_owner:
        return f'gravity_owner is {produced.gravity_owner} there and {needed.gravity_owner} here'
    if produced.model_digest != needed.model_digest:
        return f'it was computed with another model ({produced.model_digest}, here {needed.model_digest})'
    return ''


def lacking(produced: TorqueTerms, needed: TorqueTerms) -> list[str]:
    """Return the terms that neither the torque nor the robot adds."""
    return [term for term in needed.terms if term not in produced.terms]


def payload_gravity_mismatch(produced: TorqueTerms, needed: TorqueTerms) -> str:
    """Return how payload or gravity differ, as they do briefly during a change; '' if they do not."""
    if produced.gravity != needed.gravity:
        return f'it was computed for gravity {produced.gravity} m/s^2, here {needed.gravity}'
    if produced.payload != needed.payload:
        return f'it was computed for the payload {produced.payload}, here {needed.payload}'
    return ''
