"""Operations on the configuration manifold: neutral and random positions, integration and difference.

A step (nv) is a velocity times a time. For planar, spherical and free joints it is the motion at a velocity that is
constant in the link's frame. For all other joints it is the difference of the coordinates. NumPy, not compiled.
"""

import numpy as np

from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.model import JointLimits
from robot_dynamics_ros.model.rotations import sine_and_cosine

SMALL = 1e-3
"""rad, below which (1 - cos t) / t^2 and the like are computed by their series; the first omitted term is 1e-19."""
QUATERNION_ROUNDING = 1e-6
"""Allowed deviation of a quaternion's norm from 1."""


def is_no_quaternion(numbers: np.ndarray) -> np.ndarray:
    """Return whether the norm of x, y, z, w (..., 4) differs from 1, (...) bool."""
    with np.errstate(over='ignore'):
        return np.abs(np.linalg.norm(numbers, axis=-1) - 1.0) > QUATERNION_ROUNDING


def neutral(arrays: ModelArrays) -> np.ndarray:
    """Return the position (nq,) where every joint's transform is the identity: zeros, and quaternions with w = 1."""
    q = np.zeros(arrays.nq)
    for k in arrays.quaternions:
        q[k + 3] = 1.0
    return q


def joint_pose(arrays: ModelArrays, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation (3, 3; link to parent) and origin (3, m) of the first joint's link at q; RBDA table 4.1."""
    E, origin = arrays.E0[1], arrays.r0[1]
    for k in range(arrays.slides[1]):
        origin = origin + arrays.r1[1, k] * q[arrays.slide[1] + k]
    if arrays.angle[1] >= 0:
        sine, cosine = sine_and_cosine(float(q[arrays.angle[1]]))
        E = E + arrays.Ec[1] * cosine + arrays.Es[1] * sine
    elif arrays.quaternion[1] >= 0:
        x, y, z, w = q[_quaternion(arrays, 1)].tolist()
        across = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
        E = product(np.eye(3) + 2.0 * (w * across + product(across, across)), E)
    return E.T, origin


def random(arrays: ModelArrays, limits: JointLimits, generator: 'np.random.Generator') -> np.ndarray:
    """Return a random position (nq,): uniform within the limits, quaternions uniform over all rotations.

    A coordinate without limits is uniform from -pi to pi (rad, m).
    """
    lower, upper = (
        np.where(np.isfinite(limit), limit, without)
        for limit, without in ((limits.lower, -np.pi), (limits.upper, np.pi))
    )
    q = generator.uniform(np.minimum(lower, upper), upper)
    for k in arrays.quaternions:
        quaternion = generator.normal(size=4)
        q[k : k + 4] = quaternion / np.linalg.norm(quaternion)
    return q


def integrate(arrays: ModelArrays, q, step) -> np.ndarray:
    """Return the position (..., nq) after ``step`` (..., nv) from q (..., nq)."""
    q, step = _broadcast(q, step)
    result = q.copy()
    for i in range(1, len(arrays.parent)):
        v, slides = _velocities(arrays, i), _slides(arrays, i)
        if arrays.quaternion[i] >= 0:
            quaternion = _quaternion(arrays, i)
            w = step[..., v][..., :3]
            result[..., quaternion] = _unit(_product(q[..., quaternion], _exponential(w)))
            if arrays.slides[i]:
                displacement = _displacement(w, step[..., v][..., 3:])
                result[..., slides] += _rotated(q[..., quaternion], displacement)
        elif arrays.slides[i] == 2:
            x, y, w = np.moveaxis(step[..., v], -1, 0)
            angle = q[..., arrays.angle[i]]
            displacement = _displacement(_about_z(w), np.stack([x, y, np.zeros_like(x)], -1))
            result[..., slides] += _rotated_in_plane(angle, displacement[..., :2])
            result[..., arrays.angle[i]] += w
        else:
            result[..., _first(arrays, i) + np.arange(v.stop - v.start)] += step[..., v]
    return result


def difference(arrays: ModelArrays, start, end) -> np.ndarray:
    """Return the step (..., nv) from ``start`` to ``end`` (..., nq each), for which integrate(start, step) = end.

    Planar, spherical and free joints rotate by at most half a turn.
    """
    start, end = _broadcast(start, end)
    step = np.zeros((*start.shape[:-1], arrays.nv))
    for i in range(1, len(arrays.parent)):
        v, slides = _velocities(arrays, i), _slides(arrays, i)
        if arrays.quaternion[i] >= 0:
            quaternion = _quaternion(arrays, i)
            inverse = _conjugate(start[..., quaternion])
            w = _logarithm(_product(inverse, end[..., quaternion]))
            parts = [w]
            if arrays.slides[i]:
                displacement = _rotated(inverse, end[..., slides] - start[..., slides])
                parts.append(_velocity_of_displacement(w, displacement))
            step[..., v] = np.concatenate(parts, -1)
        elif arrays.slides[i] == 2:
            angle = start[..., arrays.angle[i]]
            w = end[..., arrays.angle[i]] - angle
            w = w - 2.0 * np.pi * np.round(w / (2.0 * np.pi))
            in_plane = _rotated_in_plane(-angle, end[..., slides] - start[..., slides])
            displacement = np.concatenate([in_plane, np.zeros_like(w)[..., None]], -1)
            linear = _velocity_of_displacement(_about_z(w), displacement)[..., :2]
            step[..., v] = np.concatenate([linear, w[..., None]], -1)
        else:
            coordinates = _first(arrays, i) + np.arange(v.stop - v.start)
            step[..., v] = end[..., coordinates] - start[..., coordinates]
    return step


def derivative(arrays: ModelArrays, q, qd) -> np.ndarray:
    """Return dq/dt (..., nq) of positions q (..., nq) at the velocities qd (..., nv)."""
    q, qd = _broadcast(q, qd)
    result = np.zeros(q.shape)
    for i in range(1, len(arrays.parent)):
        velocity, slides = qd[..., _velocities(arrays, i)], _slides(arrays, i)
        if arrays.quaternion[i] >= 0:
            quaternion = _quaternion(arrays, i)
            w = np.concatenate([velocity[..., :3], np.zeros((*velocity.shape[:-1], 1))], -1)
            result[..., quaternion] = 0.5 * _product(q[..., quaternion], w)
            if arrays.slides[i]:
                result[..., slides] = _rotated(q[..., quaternion], velocity[..., 3:])
        elif arrays.slides[i] == 2:
            result[..., slides] = _rotated_in_plane(q[..., arrays.angle[i]], velocity[..., :2])
            result[..., arrays.angle[i]] = velocity[..., 2]
        else:
            result[..., _first(arrays, i) + np.arange(velocity.shape[-1])] = velocity
    return result


# indices of a joint in q and qd


def _first(arrays: ModelArrays, i: int) -> int:
    """Return the index in q of the first coordinate of a joint whose steps are differences of coordinates."""
    return min(index for index in (arrays.angle[i], arrays.slide[i] if arrays.slides[i] else -1) if index >= 0)


def _velocities(arrays: ModelArrays, i: int) -> slice:
    """Return the slice of joint i's velocities in qd."""
    return slice(arrays.first[i] - 1, arrays.first[i + 1] - 1)


def _slides(arrays: ModelArrays, i: int) -> slice:
    """Return the slice of joint i's slides in q."""
    return slice(arrays.slide[i], arrays.slide[i] + arrays.slides[i])


def _quaternion(arrays: ModelArrays, i: int) -> slice:
    """Return the slice of joint i's quaternion in q."""
    return slice(arrays.quaternion[i], arrays.quaternion[i] + 4)


def _broadcast(q, other) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays of rows with the same leading shape."""
    q, other = np.asarray(q, float), np.asarray(other, float)
    shape = np.broadcast_shapes(q.shape[:-1], other.shape[:-1])
    return np.broadcast_to(q, (*shape, q.shape[-1])), np.broadcast_to(other, (*shape, other.shape[-1]))


# rotations; quaternions are (..., 4), x, y, z, w


def _about_z(w) -> np.ndarray:
    """Return angular velocities (..., 3) about z."""
    return np.stack([np.zeros_like(w), np.zeros_like(w), w], -1)


def _rotated_in_plane(angle, v) -> np.ndarray:
    """Return vectors (..., 2) rotated by an angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * v[..., 0] - s * v[..., 1], s * v[..., 0] + c * v[..., 1]], -1)


def _product(a, b) -> np.ndarray:
    """Return the product a b of quaternions: rotation b, then a."""
    u, s, v, t = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = s * v + t * u + np.cross(u, v)
    return np.concatenate([vector, s * t - (u * v).sum(-1, keepdims=True)], -1)


def _conjugate(a) -> np.ndarray:
    """Return the inverse of unit quaternions."""
    return a * np.array([-1.0, -1.0, -1.0, 1.0])


def _unit(a) -> np.ndarray:
    """Return normalised quaternions."""
    return a / np.linalg.norm(a, axis=-1, keepdims=True)


def _rotated(a, v) -> np.ndarray:
    """Return vectors (..., 3) rotated by unit quaternions."""
    u, s = a[..., :3], a[..., 3:]
    t = 2.0 * np.cross(u, v)
    return v + s * t + np.cross(u, t)


def _exponential(w) -> np.ndarray:
    """Return the quaternion of a rotation vector (..., 3): |w| rad about w."""
    half = 0.5 * np.linalg.norm(w, axis=-1, keepdims=True)
    # sinc(x) = sin(pi x) / (pi x)
    return np.concatenate([0.5 * np.sinc(half / np.pi) * w, np.cos(half)], -1)


def _logarithm(a) -> np.ndarray:
    """Return the rotation vector (..., 3) of a unit quaternion, at most pi long."""
    a = np.where(a[..., 3:] < 0.0, -a, a)
    sine = np.linalg.norm(a[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, a[..., 3:])
    with np.errstate(invalid='ignore', divide='ignore'):
        return np.where(sine > 0.0, angle / sine, 2.0) * a[..., :3]


def _displacement(w, v) -> np.ndarray:
    """Return V(w) v, the displacement (..., 3) of a body after one second at w and v, constant in its own frame.

    V = 1 + (1 - cos t) / t^2 [w] + (t - sin t) / t^3 [w]^2 with t = |w| (Lynch & Park 2017, eq. 3.88).
    """
    t = np.linalg.norm(w, axis=-1, keepdims=True)
    small = t < SMALL
    safe = np.where(small, 1.0, t)
    first = np.where(small, 0.5 - t**2 / 24.0, (1.0 - np.cos(safe)) / safe**2)
    second = np.where(small, 1.0 / 6.0 - t**2 / 120.0, (safe - np.sin(safe)) / safe**3)
    wv = np.cross(w, v)
    return v + first * wv + second * np.cross(w, wv)


def _velocity_of_displacement(w, displacement) -> np.ndarray:
    """Return v = V(w)^-1 displacement (..., 3) of ``_displacement``, |w| < 2 pi (Lynch & Park 2017, eq. 3.92)."""
    t = np.linalg.norm(w, axis=-1, keepdims=True)
    small = t < SMALL
    safe = np.where(small, 1.0, t)
    second = np.where(small, 1.0 / 12.0 + t**2 / 720.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    wv = np.cross(w, displacement)
    return displacement - 0.5 * wv + second * np.cross(w, wv)
