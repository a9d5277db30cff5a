"""``Payload``: a rigid body that is fixed to a link, and the model of a robot with payloads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError, alternatives
from robot_dynamics_ros.formats.urdf import inertials_from_urdf
from robot_dynamics_ros.model.audit import ROUNDING
from robot_dynamics_ros.model.inertial_parameters import (
    body_numbers,
    central_parameters,
    is_inertia,
    moved,
    ten_parameters,
)
from robot_dynamics_ros.model.limbs import end_link
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.model import Model

IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Payload:
    """A rigid body that is fixed to a link; ``a + b`` combines two payloads.

    Parameters
    ----------
    mass : float
        kg.
    com : array_like, (3,)
        Centre of mass in the frame of the link, m.
    inertia : array_like, (3, 3), optional
        About the centre of mass, axes parallel to the frame of the link, kg m^2. Default: zeros, a point mass.

    Raises
    ------
    ArgumentError
        For a physically inconsistent inertia: a negative mass, an inertia without mass, or a principal moment that
        exceeds the sum of the others by 1.5e-6 kg m^2 or more, the rounding of six printed decimals.
    """

    mass: float
    com: Sequence[float] | np.ndarray
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    def __post_init__(self) -> None:
        """Validate the values; ArgumentError for a physically inconsistent inertia."""
        mass = float(validation.not_negative('mass', self.mass, (), 'kg'))
        com = validation.finite('com', self.com, (3,))
        inertia = validation.finite('inertia', self.inertia, (3, 3))
        if np.abs(inertia - inertia.T).max() > 1e-12 * np.abs(inertia).max():  # R J R' is symmetric up to rounding
            raise ArgumentError('inertia: expected a symmetric matrix (3, 3)')
        inertia = 0.5 * (inertia + inertia.T)
        if mass == 0.0 and inertia.any():
            raise ArgumentError('inertia: expected zeros, since the mass is 0')
        if not is_inertia(body_numbers(mass, com, inertia), ROUNDING):
            try:
                moments = np.linalg.eigvalsh(inertia)
            except np.linalg.LinAlgError:
                raise ArgumentError('inertia: its principal moments overflow') from None
            shown = ', '.join(f'{moment:.6g}' for moment in moments)
            raise ArgumentError(
                f'inertia: expected principal moments none of which exceeds the sum of the others, got {shown} kg m^2'
            )
        inertia.flags.writeable = False
        for name, value in (('mass', mass), ('com', tuple(com.tolist())), ('inertia', inertia)):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Pickle and copy through ``__post_init__``, since NumPy's copies are writable."""
        return Payload, (self.mass, self.com, self.inertia)

    def __add__(self, other: 'Payload') -> 'Payload':
        """Return the combined payload; both are expressed in the same frame."""
        if not isinstance(other, Payload):
            return NotImplemented
        return Payload(*central_parameters(self.ten_parameters + other.ten_parameters))

    @property
    def ten_parameters(self) -> np.ndarray:
        """Mass, first moments and inertia about the frame's origin, (10,); see ``model.inertial_parameters``."""
        return ten_parameters(self.mass, self.com, self.inertia)

    @classmethod
    def box(
        cls, mass: float, size: ArrayLike, center: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike = IDENTITY
    ) -> 'Payload':
        """Return a solid box.

        Parameters
        ----------
        mass : float
            kg.
        size : array_like, (3,)
            Lengths along its own x, y and z axes, m.
        center : array_like, (3,)
            Centre in the frame of the link, m.
        rotation : array_like, (3, 3)
            Rotation matrix from the axes of the box to those of the link.

        Returns
        -------
        Payload
        """
        return cls._solid(mass, validation.not_negative('size', size, (3,), 'm') ** 2 / 12.0, center, rotation)

    @classmethod
    def cylinder(
        cls,
        mass: float,
        radius: float,
        length: float,
        center: ArrayLike = (0.0, 0.0, 0.0),
        rotation: ArrayLike = IDENTITY,
    ) -> 'Payload':
        """Return a solid cylinder about its own z axis.

        Parameters
        ----------
        mass : float
            kg.
        radius : float
            m.
        length : float
            m.
        center : array_like, (3,)
            Centre in the frame of the link, m.
        rotation : array_like, (3, 3)
            Rotation matrix from the axes of the cylinder to those of the link.

        Returns
        -------
        Payload
        """
        across = float(validation.not_negative('radius', radius, (), 'm')) ** 2 / 4.0
        along = float(validation.not_negative('length', length, (), 'm')) ** 2 / 12.0
        return cls._solid(mass, np.array([across, across, along]), center, rotation)

    @classmethod
    def sphere(cls, mass: float, radius: float, center: ArrayLike = (0.0, 0.0, 0.0)) -> 'Payload':
        """Return a solid sphere.

        Parameters
        ----------
        mass : float
            kg.
        radius : float
            m.
        center : array_like, (3,)
            Centre in the frame of the link, m.

        Returns
        -------
        Payload
        """
        squared = float(validation.not_negative('radius', radius, (), 'm')) ** 2
        return cls._solid(mass, np.full(3, squared / 5.0), center, IDENTITY)

    @classmethod
    def from_urdf(cls, source: str | Path, link: str | None = None) -> 'Payload':
        """Return the inertial of a link of a URDF, in the frame of that link.

        Parameters
        ----------
        source : str or Path
            Path or text of the URDF.
        link : str, optional
            Name of the link. Default: the one that has a mass.

        Returns
        -------
        Payload

        Raises
        ------
        ArgumentError
            If ``link`` is omitted and not exactly one link has a mass; it lists those that have one.
        ModelError
            For a URDF that cannot be read.
        UnknownNameError
            For an unknown link.
        """
        inertials = inertials_from_urdf(source)
        if link is None:
            heavy = [name for name, inertial in inertials.items() if inertial.mass != 0.0]
            if len(heavy) != 1:
                raise ArgumentError(f'link: required, since the links with a mass are: {", ".join(heavy) or "none"}')
            link = heavy[0]
        if link not in inertials:
            raise UnknownNameError(f'no link {link!r}; {alternatives(link, inertials)}')
        return cls(*inertials[link])

    @classmethod
    def _solid(cls, mass, squares: np.ndarray, center, rotation) -> 'Payload':
        """Return the body with the second moments mass * ``squares`` (3, m^2) along its own axes."""
        mass = float(validation.not_negative('mass', mass, (), 'kg'))
        center = validation.finite('center', center, (3,))
        R = validation.rotation('rotation', rotation)
        x, y, z = squares
        return cls(mass, center, product(R, np.diag(mass * (x + y + z - squares)), R.T))


def carrying_frame(model: Model, name: str | None, argument: str = 'link') -> str:
    """Return the name of the frame that carries a payload, by default ``end_link``.

    Raises UnknownNameError for a frame that ``model`` does not have, ArgumentError naming the ``argument`` for none
    where there are several tips.
    """
    if name is not None:
        model.frame(name)
        return name
    link = end_link(model)
    if link is None:
        parents = model.arrays.parent[1:]
        tips = [link for i, link in enumerate(model.link_names) if i not in parents]
        raise ArgumentError(f'{argument}: required, since {model.name} has several tips: {", ".join(tips)}')
    return link


def loaded(model: Model, payloads: Mapping[str, Payload]) -> Model:
    """Return ``model`` with each payload added to the link or frame that is its key; the same object for none.

    In whatever order they were given, those of links come first, and names are sorted.
    """
    if not payloads:
        return model
    inertia = np.array(model.arrays.I)
    for name in sorted(payloads, key=lambda it: (it not in model.link_names, it)):
        frame = model.frames[name]
        inertia[frame.link] += moved(payloads[name].ten_parameters, frame.rotation, frame.origin)
    return replace(model, arrays=model.arrays._replace(I=inertia))
