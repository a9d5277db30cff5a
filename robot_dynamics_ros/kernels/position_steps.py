"""Steps of positions on the configuration manifold; ``model.configuration`` has the same in NumPy."""

import numpy as np

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.sincos import sincos
from robot_dynamics_ros.kernels.spatial import cross


@kernel
def position_after(model, q, step, end):
    """Write end (nq; rad, m), the position after ``step`` (nv; rad, m) from q (nq), a motion of constant velocity.

    Planar, spherical and free joints move by the exponential of SE(2), SO(3), SE(3) of a step in the link's frame
    (Lynch & Park 2017, eq. 3.51 and 3.88); other joints add it to their coordinates. Quaternions get length 1.
    """
    for i in range(1, model.parent.shape[0]):
        k = model.first[i] - 1
        if model.quaternion[i] >= 0:
            j = model.quaternion[i]
            t, s, c = half_angle(step[k], step[k + 1], step[k + 2])
            if model.slides[i] > 0:
                # p = p + R(q) V(w) v
                p = model.slide[i]
                x, y, z = displacement(
                    t, s, c, step[k], step[k + 1], step[k + 2], step[k + 3], step[k + 4], step[k + 5]
                )
                x, y, z = rotated(q[j], q[j + 1], q[j + 2], q[j + 3], x, y, z)
                end[p], end[p + 1], end[p + 2] = q[p] + x, q[p + 1] + y, q[p + 2] + z
            # q = q exp(w / 2) / |q|
            f = s / t
            x, y, z, w = product(q[j], q[j + 1], q[j + 2], q[j + 3], f * step[k], f * step[k + 1], f * step[k + 2], c)
            f = 1.0 / np.sqrt(x * x + y * y + z * z + w * w)
            end[j], end[j + 1], end[j + 2], end[j + 3] = f * x, f * y, f * z, f * w
        elif model.slides[i] == 2:
            # p = p + R(angle) V(w) v
            p, j = model.slide[i], model.angle[i]
            t, s, c = half_angle(0.0, 0.0, step[k + 2])
            x, y, z = displacement(t, s, c, 0.0, 0.0, step[k + 2], step[k], step[k + 1], 0.0)
            s, c = sincos(q[j])
            end[p], end[p + 1], end[j] = q[p] + (c * x - s * y), q[p + 1] + (s * x + c * y), q[j] + step[k + 2]
        else:
            j = model.angle[i] if model.angle[i] >= 0 else model.slide[i]
            for m in range(model.first[i + 1] - model.first[i]):
                end[j + m] = q[j + m] + step[k + m]


@kernel
def step_velocity(model, step, qd, rate):
    """Write rate (nv, per s), the time derivative of a ``step`` (nv) at whose end the velocity is qd (nv, per s).

    rate = qd + [step, qd] / 2 + [step, [step, qd]] / 12 for planar, spherical and free joints, with an error of the
    fourth power of the step (Munthe-Kaas 1999, section 3, for exponentials on the right); rate = qd for other joints.
    """
    for i in range(1, model.parent.shape[0]):
        k = model.first[i] - 1
        if model.quaternion[i] >= 0:
            wx, wy, wz = step[k], step[k + 1], step[k + 2]
            x, y, z = cross(wx, wy, wz, qd[k], qd[k + 1], qd[k + 2])
            xx, yy, zz = cross(wx, wy, wz, x, y, z)
            rate[k] = qd[k] + (0.5 * x + xx / 12.0)
            rate[k + 1] = qd[k + 1] + (0.5 * y + yy / 12.0)
            rate[k + 2] = qd[k + 2] + (0.5 * z + zz / 12.0)
            if model.slides[i] > 0:
                # [ (w, v), (a, b) ] = ( w x a, w x b + v x a )
                vx, vy, vz = step[k + 3], step[k + 4], step[k + 5]
                bx, by, bz = cross(wx, wy, wz, qd[k + 3], qd[k + 4], qd[k + 5])
                ax, ay, az = cross(vx, vy, vz, qd[k], qd[k + 1], qd[k + 2])
                ax, ay, az = ax + bx, ay + by, az + bz
                bx, by, bz = cross(wx, wy, wz, ax, ay, az)
                xx, yy, zz = cross(vx, vy, vz, x, y, z)
                rate[k + 3] = qd[k + 3] + (0.5 * ax + (bx + xx) / 12.0)
                rate[k + 4] = qd[k + 4] + (0.5 * ay + (by + yy) / 12.0)
                rate[k + 5] = qd[k + 5] + (0.5 * az + (bz + zz) / 12.0)
        elif model.slides[i] == 2:
            # the same with w and a along z, v and b across it
            w, a = step[k + 2], qd[k + 2]
            x = step[k + 1] * a - w * qd[k + 1]
            y = w * qd[k] - step[k] * a
            rate[k] = qd[k] + (0.5 * x - w * y / 12.0)
            rate[k + 1] = qd[k + 1] + (0.5 * y + w * x / 12.0)
            rate[k + 2] = a
        else:
            for m in range(model.first[i + 1] - model.first[i]):
                rate[k + m] = qd[k + m]


@kernel
def half_angle(x, y, z):
    """Return t = |w| of a rotation vector w (x, y, z; rad), never 0, with sine and cosine of t / 2."""
    t = np.sqrt(x * x + y * y + z * z + 1e-60)
    s, c = sincos(0.5 * t)
    return t, s, c


@kernel
def displacement(t, s, c, wx, wy, wz, vx, vy, vz):
    """Return V(w) v, three components, with t, s, c of ``half_angle``.

    V = 1 + (1 - cos t) / t^2 [w] + (1 - sin(t) / t) / t^2 [w]^2 (Lynch & Park 2017, eq. 3.88).
    """
    first, second = 2.0 * (s / t) * (s / t), (1.0 - 2.0 * s * c / t) / (t * t)
    x, y, z = cross(wx, wy, wz, vx, vy, vz)
    xx, yy, zz = cross(wx, wy, wz, x, y, z)
    return vx + (first * x + second * xx), vy + (first * y + second * yy), vz + (first * z + second * zz)


@kernel
def product(ax, ay, az, aw, bx, by, bz, bw):
    """Return the product a b of quaternions, four components: rotation b, then a."""
    x, y, z = cross(ax, ay, az, bx, by, bz)
    return (
        aw * bx + bw * ax + x,
        aw * by + bw * ay + y,
        aw * bz + bw * az + z,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@kernel
def rotated(x, y, z, w, vx, vy, vz):
    """Return a vector v, three components, rotated by a unit quaternion: v + 2 w (u x v) + 2 u x (u x v)."""
    tx, ty, tz = cross(x, y, z, vx, vy, vz)
    tx, ty, tz = tx + tx, ty + ty, tz + tz
    ux, uy, uz = cross(x, y, z, tx, ty, tz)
    return vx + (w * tx + ux), vy + (w * ty + uy), vz + (w * tz + uz)
