"""Residual of a robot: learnt torques of its joints, as numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.digest import model_digest
from robot_dynamics_ros.model.joint_types import KINDS
from robot_dynamics_ros.model.model import Model

FEATURES = (
    *('s', 's sqrt|qd|', 'qd', 'sin q', 'cos q', 'sin 2q', 'cos 2q', 's sin q', 's cos q'),
    *('sin Nq', 'cos Nq', 'sin 2Nq', 'cos 2Nq'),
)
"""Of a joint at its own position q and velocity qd, with s = qd / sqrt(qd^2 + v_s^2), and the angle of its motor, N q.

Harmonics of q are in the place of what turns with the joint, those of N q are cogging and bearings of motor and gear.
"""
LARGEST_SHARE = 0.3
"""Largest bound of a residual, as a share of the effort limit."""


class ResidualModel(NamedTuple):
    """Torques that a robot's model leaves, by joint: ``kernels.residual``."""

    model_digest: str
    joint_names: tuple[str, ...]
    gear_ratio: np.ndarray  # (n,) rad/rad, rad/m   motor rotation per joint displacement
    fastest: np.ndarray  # (n,) rad/s, m/s          largest velocity that was fitted
    bound: np.ndarray  # (n,) N m, N                largest magnitude
    weights: np.ndarray  # (n, 13) N m, N           of the features

    @property
    def rows(self) -> np.ndarray:
        """The numbers of each joint, (n, 16), as kernels read them."""
        return np.column_stack([self.gear_ratio, self.fastest, self.bound, self.weights])


def check_residual(residual: ResidualModel, model: Model) -> None:
    """Raise ArgumentError for a residual of other joints or another model, or a bound above 30 % of an effort limit.

    A residual is for joints of one coordinate.
    """
    names: Sequence[str] = model.joint_names
    for name, kind in zip(names, model.joint_kinds, strict=True):
        if KINDS[kind].coordinates > 1:
            raise ArgumentError(f'residual: joint {name!r}: expected one degree of freedom, got a {kind} joint')
    if residual.joint_names != tuple(names):
        raise ArgumentError(
            f'residual model is for joints {" ".join(residual.joint_names)}; the robot has {" ".join(names)}'
        )
    digest = model_digest(model)
    if residual.model_digest != digest:
        raise ArgumentError(
            f'residual: it was fitted to another model of the robot ({residual.model_digest}, here {digest}); '
            'fit it again'
        )
    too_large = np.flatnonzero(residual.bound > LARGEST_SHARE * model.limits.effort)
    if len(too_large):
        j = int(too_large[0])
        raise ArgumentError(
            f'residual: joint {names[j]!r}: its bound of {residual.bound[j]:.4g} is more than '
            f'{100.0 * LARGEST_SHARE:g} % of the effort limit, {model.limits.effort[j]:.4g}; identify the robot first'
        )
