"""The torque of torque_controller's Cartesian impedance, by NumPy: of the last link, in the axes of the base."""

import numpy as np
from robots import Arm

from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import NO_MASS, SLACK

ROTATIONAL, TRANSLATIONAL, RATIO = (20.0, 30.0, 40.0), (500.0, 600.0, 700.0), 0.9
FARTHEST = 0.5, 0.1
"""rad, m: beyond it a spring pulls no more strongly."""
PARAMETERS = {
    'rotational_stiffness': list(ROTATIONAL),
    'translational_stiffness': list(TRANSLATIONAL),
    'damping_ratio': RATIO,
    'rotational_error_limit': FARTHEST[0],
    'translational_error_limit': FARTHEST[1],
}
K = np.array(ROTATIONAL + TRANSLATIONAL)


def impedance_torque(arm: Arm, q, qd, desired, posture, payload) -> np.ndarray:
    """Return the torque of springs and dampers about ``desired`` (q_d and qd_d), with ``posture`` (Kp and Kd)."""
    q_d, qd_d = desired
    frame, robot, still = arm.last, arm.robot, np.zeros(arm.n)
    T, T_d, J = robot.link_pose(q, frame), robot.link_pose(q_d, frame), robot.jacobian(q, frame)
    M = np.array([arm.inverse_dynamics(q, still, each, (payload, np.zeros(3))) for each in np.eye(arm.n)])
    M_inv = np.linalg.inv(0.5 * (M + M.T))
    R = T_d[:3, :3] @ T[:3, :3].T
    turn = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / np.sqrt(max(1e-12, 1.0 + np.trace(R)))
    errors = zip((turn, T_d[:3, 3] - T[:3, 3]), FARTHEST, strict=True)
    e = np.concatenate([error * min(1.0, limit / max(np.linalg.norm(error), 1e-300)) for error, limit in errors])
    A, root = J @ M_inv @ J.T, np.sqrt(K)
    values, vectors = np.linalg.eigh(root[:, None] * A * root)
    W = root[:, None] * vectors
    D = 2.0 * RATIO * (W / np.sqrt(np.maximum(values, 1e-10 * values[-1]))) @ W.T
    added = np.diag(SLACK * np.diag(A) + NO_MASS * np.trace(A))
    N = np.eye(arm.n) - M_inv @ J.T @ np.linalg.solve(A + added, J)
    tau_0 = posture[0] * arm.distance(q_d, q) + posture[1] * (N @ (qd_d - qd))
    return J.T @ (K * e + D @ J @ (qd_d - qd)) + N.T @ tau_0
