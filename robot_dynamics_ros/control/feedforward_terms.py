"""Whether a feedforward torque from another node may be added to one's own torque."""

from typing import NamedTuple


class TorqueTerms(NamedTuple):
    """What a torque holds, as its producer says on the info topic beside it, or as a consumer needs it."""

    joint_names: tuple[str, ...]
    terms: tuple[str, ...]
    """Of gravity, coriolis, inertia, friction; for a consumer those that may be added."""
    gravity_owner: str
    """node or robot."""
    model_digest: str
    gravity: tuple[float, ...]
    """(3,) m/s^2 in the base link, after its ramp."""
    payload: tuple
    """Frame, mass, centre and inertia of each body that is carried after its ramp."""


def mismatch(produced: TorqueTerms, needed: TorqueTerms) -> str:
    """Return why a torque may not be added for good, '' where nothing is against it."""
    twice = [term for term in produced.terms if term not in needed.terms]
    if twice:
        return f'it contains {twice[0]}, which the robot compensates itself'
    if set(produced.joint_names) != set(needed.joint_names):
        return f'it is for the joints {" ".join(produced.joint_names)}'
    if produced.gravity_owner != needed.gravity_owner:
        return f'gravity_owner is {produced.gravity_owner} there and {needed.gravity_owner} here'
    if produced.model_digest != needed.model_digest:
        return f'it was computed with another model ({produced.model_digest}, here {needed.model_digest})'
    return ''


def load_mismatch(produced: TorqueTerms, needed: TorqueTerms) -> str:
    """Return how payload or gravity differ, '' where they do not; they may, while a change is on its way."""
    if produced.gravity != needed.gravity:
        return f'it was computed for gravity {produced.gravity} m/s^2, here {needed.gravity}'
    if produced.payload != needed.payload:
        return f'it was computed for the payload {produced.payload}, here {needed.payload}'
    return ''
