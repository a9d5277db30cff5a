"""Closures of loops and couplings of joints, the records that all importers create."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

COMPONENTS: dict[str, tuple[int, ...]] = {
    'point': (3, 4, 5),
    'weld': (0, 1, 2, 3, 4, 5),
    'revolute': (6, 7, 3, 4, 5),
    'planar_point': (3, 4),
}
"""Components of the constraints of each kind of closure, see ``kernels.closed_loops.constraints``."""
GAIN = 20.0
"""1/s. Errors decay with a time constant of 50 ms; explicit steps of up to 20 ms stay stable."""
TOLERANCE = 1e-5
"""Axes with six decimals leave up to 1.3e-6 of a dependent constraint (a delta robot of hinges). A constraint that is
meant has 0.001 or more of its effect, with masses of 1e6 : 1 (2026-11-23)."""
LEAST_TOLERANCE = 1e-8
"""Below the square root of the rounding unit, rounding of the constraints before could count as a constraint."""
LARGEST_TOLERANCE = 1e-2


@dataclass(frozen=True, eq=False)
class LoopClosure:
    """A joint that closes a loop: frame B, fixed to ``link_b``, is held to frame A, fixed to ``link_a``.

    Parameters
    ----------
    name : str
        Unique name.
    link_a, link_b : str or None
        Names of links or frames; None is the base.
    pose_a, pose_b : array_like, (4, 4), optional
        Poses of A and B in the frames of these links, m. Default: identity.
    kind : {'point', 'weld', 'revolute', 'planar_point'}
        'point' holds the origins of A and B together (3 constraints), 'planar_point' only along x and y of A (2),
        'weld' the whole frames (6), 'revolute' the origins and the z axes (5).
    stiffness, damping : float
        Of a spring and a damper about the z axis, N m/rad and N m s/rad; 'revolute' only.
    rest : float
        Angle of B against A about the z axis where the spring has no torque, rad, between -pi and pi.
    """

    name: str
    link_a: str | None = None
    pose_a: np.ndarray = field(default_factory=lambda: np.eye(4))
    link_b: str | None = None
    pose_b: np.ndarray = field(default_factory=lambda: np.eye(4))
    kind: str = 'point'
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0


@dataclass(frozen=True)
class Coupling:
    """A joint whose position is a polynomial of another joint's: gears, belts, mimic joints.

    Parameters
    ----------
    joint : str
        Name of a revolute, prismatic or helical joint.
    other : str or None
        Name of another such joint; None where the polynomial is a constant.
    polynomial : sequence of float
        Up to five coefficients of 1, x, x^2, x^3, x^4, with x the position of ``other``; rad or m.
    """

    joint: str
    other: str | None
    polynomial: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Loops:
    """The loops of a model, the rate at which their errors decay (1/s), and the tolerance of dependent constraints.

    ``actuated`` are the joints with a motor, by name; empty where nothing says which ones. Loops are closed ``near``
    these positions by joint, in rad or m; 0 for other joints.
    """

    closures: tuple[LoopClosure, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    gain: float = GAIN
    tolerance: float = TOLERANCE
    actuated: tuple[str, ...] = ()
    near: Mapping[str, float] = field(default_factory=dict)

    @property
    def all(self) -> tuple[LoopClosure | Coupling, ...]:
        """Closures, then couplings: the order of their constraints."""
        return self.closures + self.couplings

    @property
    def are_mimic_joints(self) -> bool:
        """Whether joints follow others by multiplier and offset alone, if at all."""
        return not self.closures and not any(any(it.polynomial[2:]) for it in self.couplings)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """What each constraint belongs to: a closure, or the coupling of a joint."""
        closing = (f'loop {it.name!r}' for it in self.closures for _ in COMPONENTS[it.kind])
        return (*closing, *(f'coupling of joint {it.joint!r}' for it in self.couplings))
