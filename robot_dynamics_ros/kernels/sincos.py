"""Sine and cosine of one angle, bit-identical in generic, specialised and exported code.

All bindings execute the same operations in the same order. There is no branch and no table, so that a loop over many
angles becomes vector instructions (1.2 ns per angle, 10.7 ns with libm; AVX-512, 2026-11-20).

Cody & Waite 1980, chapter 8, for the reduction; the polynomials are those of the interval [-pi/4, pi/4] in Sun's fdlibm
(k_sin.c, k_cos.c). At most 0.78 ulp off for |x| <= 1e5; NaN and inf give NaN.

From 1.6e6 on, k times a part of pi/2 is not exact, and the reduction loses digits: results are off by up to 1e-15 at
1e7, 1e-12 at 1e10 and 1.1e-10 at 2^40 (``model.joint_types.LARGEST_ANGLE``), which is a millionth of the distance
between two doubles there. From 2e15 on they are no sines and cosines any more (2026-11-23).
"""

from robot_dynamics_ros.jit.decorators import kernel


@kernel
def sincos(x):
    """Return sin(x) and cos(x), x in rad and |x| < 2^40; x may be complex with an imaginary part near zero."""
    # x = k pi/2 + y + e: pi/2 in two parts of 33 bits, so that k times a part is exact, and one of 53;
    # adding and subtracting 1.5 * 2^52 rounds to an integer; e is the rounding error of y
    nearest = 6755399441055744.0
    k = (x.real * 0.6366197723675814 + nearest) - nearest
    r = x - k * 1.5707963267341256
    y = r - k * 6.077100506303966e-11
    e = (r - y) - k * 6.077100506303966e-11 - k * 2.0222662487959506e-21
    z = y * y
    half = 0.5 * z
    # sin(y + e) = y + S1 y^3 + ... + S6 y^13 + e (1 - y^2/2)
    S = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    S = 2.75573137070700676789e-06 + z * S
    S = -1.98412698298579493134e-04 + z * S
    S = 8.33333333332248946124e-03 + z * S
    S = -1.66666666666666324348e-01 + z * S
    sin = y + (z * y * S + (e - half * e))
    # cos(y + e) = 1 - y^2/2 + C1 y^4 + ... + C6 y^14 - e y
    C = 2.08757232129817482790e-09 - z * 1.13596475577881948265e-11
    C = -2.75573143513906633035e-07 + z * C
    C = 2.48015872894767294178e-05 + z * C
    C = -1.38888888888741095749e-03 + z * C
    C = 4.16666666666666019037e-02 + z * C
    near = 1.0 - half
    cos = near + (z * z * C + (((1.0 - near) - half) - y * e))
    # rotated by k quarter turns: q = k mod 4 as 0, 1, +-2, -1, a = cos(q pi/2), b = sin(q pi/2)
    q = k - 4.0 * ((0.25 * k + nearest) - nearest)
    a = 1.0 - abs(q)
    b = q * a + q
    return a * sin + b * cos, a * cos - b * sin
