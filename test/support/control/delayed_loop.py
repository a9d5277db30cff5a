"""A linear plant under a torque that is sampled, held, and late: its exact step, and whether motions grow."""

import numpy as np
from scipy.linalg import expm


def growth(M, stiffness, K, D, period, delay, damping=None):
    """Return the spectral radius of one period of M qdd + C qd + S q = (tau, 0), S = ``stiffness``, C = ``damping``.

    tau (n) = -K q - D qd of the first n coordinates at the beginning of each period acts ``delay`` later, for a period.
    M and S are (N, N), K and D are (n, n). Above 1 some motion grows.
    """
    N, n, whole = len(M), len(K), int(delay // period)
    late, still = delay - whole * period, np.zeros_like(M)
    A = np.block(
        [
            [still, np.eye(N)],
            [-np.linalg.solve(M, stiffness), -np.linalg.solve(M, still if damping is None else damping)],
        ]
    )
    B = np.vstack([np.zeros((N, n)), np.linalg.solve(M, np.eye(N, n))])
    held = np.block([[A, B], [np.zeros((n, 2 * N + n))]])
    # the torque before acts for the time ``late``, then the next one
    first, then = expm(held * late), expm(held * (period - late))
    x, F = 2 * N, np.hstack([-K, np.zeros((n, N - n)), -D, np.zeros((n, N - n))])
    step = np.zeros((x + n * (whole + 1),) * 2)
    step[:x, :x] = then[:x, :x] @ first[:x, :x]
    before = slice(x + n * whole, x + n * (whole + 1))
    step[:x, before] = then[:x, :x] @ first[:x, x:]
    if whole:
        step[:x, x + n * (whole - 1) : x + n * whole] += then[:x, x:]
    else:
        step[:x, :x] += then[:x, x:] @ F
    step[x : x + n, :x] = F
    step[x + n :, x : x + n * whole] = np.eye(n * whole)
    return np.abs(np.linalg.eigvals(step)).max()
