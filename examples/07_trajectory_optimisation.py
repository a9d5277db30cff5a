"""A motion from rest to rest with the least torque: a small trajectory optimisation with exact derivatives (scipy).

The unknowns are the positions at 20 knots. Velocities and accelerations are finite differences of them, torques come
from inverse dynamics, and the gradient from ``inverse_dynamics_derivatives``, for all knots in one call.
"""

import numpy as np
from scipy.optimize import check_grad, minimize

from robot_dynamics_ros import Robot

robot = Robot.named('aubo_i5')
knots, duration, n = 20, 1.5, 6
h = duration / (knots + 1)
start, end = np.radians([0, -45, 60, 0, 30, 0]), np.radians([80, 20, 40, 30, -20, 0])

# At rest before and after: positions are start, start, the knots, end, end; a row of an operator for all but two.
rows = knots + 2
at = np.eye(rows, rows + 2, 1)
D = (np.eye(rows, rows + 2, 2) - np.eye(rows, rows + 2)) / (2 * h)
D2 = (np.eye(rows, rows + 2, 2) - 2 * at + np.eye(rows, rows + 2)) / h**2


def cost(x):
    """Return half the integral of the squared torques, N^2 m^2 s, and its gradient."""
    path = np.vstack([start, start, x.reshape(knots, n), end, end])
    q, qd, qdd = at @ path, D @ path, D2 @ path
    tau = robot.inverse_dynamics(q, qd, qdd)
    derivatives = robot.inverse_dynamics_derivatives(q, qd, qdd)  # by q, qd and qdd, (rows, 3, n, n)
    by_q, by_qd, by_qdd = h * np.einsum('ki,kdij->dkj', tau, derivatives)
    gradient = at.T @ by_q + D.T @ by_qd + D2.T @ by_qdd
    return 0.5 * h * np.sum(tau**2), gradient[2:-2].ravel()


part = np.linspace(0.0, 1.0, rows)[1:-1, None]
straight = (start + (end - start) * part**2 * (3 - 2 * part)).ravel()
before, gradient = cost(straight)
error = check_grad(lambda x: cost(x)[0], lambda x: cost(x)[1], straight) / np.linalg.norm(gradient)
print(f'gradient against differences: within 1e-4: {error < 1e-4}')

bounds = list(zip(robot.limits.lower, robot.limits.upper, strict=True)) * knots
best = minimize(cost, straight, jac=True, method='L-BFGS-B', bounds=bounds, options={'maxiter': 300})
print(f'cost of the straight motion {before:8.1f} N^2 m^2 s')
print(f'cost of the best motion     {best.fun:8.1f} N^2 m^2 s')
