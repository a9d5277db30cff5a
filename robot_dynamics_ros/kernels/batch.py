"""Every algorithm over many states: the first axis of states and results counts them.

The loops reuse one workspace. ``f_ext`` has one row for all states or one for each.
"""

from robot_dynamics_ros.jit.decorators import entry
from robot_dynamics_ros.kernels.aba import aba
from robot_dynamics_ros.kernels.centroidal import center_of_mass, centroidal_momentum_matrix
from robot_dynamics_ros.kernels.crba import crba
from robot_dynamics_ros.kernels.crba_forward import crba_forward
from robot_dynamics_ros.kernels.energy import kinetic_energy, potential_energy
from robot_dynamics_ros.kernels.energy_regressors import kinetic_energy_regressor, potential_energy_regressor
from robot_dynamics_ros.kernels.forward_derivatives import forward_derivatives
from robot_dynamics_ros.kernels.friction import friction_torque
from robot_dynamics_ros.kernels.kinematics import (
    frame_acceleration,
    frame_pose,
    frame_velocity,
    jacobian,
    link_poses,
)
from robot_dynamics_ros.kernels.mass_matrix_inverse import mass_matrix_inverse
from robot_dynamics_ros.kernels.regressor import torque_regressor
from robot_dynamics_ros.kernels.rnea import rnea, rnea_on_moving_base
from robot_dynamics_ros.kernels.rnea_derivatives import rnea_derivatives


@entry
def rnea_batch(model, work, q, qd, qdd, gravity, f_ext, tau):
    """Write tau (count, n) by ``rnea`` for q, qd, qdd (count, n)."""
    for b in range(q.shape[0]):
        rnea(model, work, q[b], qd[b], qdd[b], gravity, f_ext[min(b, f_ext.shape[0] - 1)], tau[b])


@entry
def rnea_on_moving_base_batch(model, work, q, qd, qdd, v_0, a_0, gravity, f_ext, tau):
    """Write tau (count, n) by ``rnea_on_moving_base`` for q, qd, qdd (count, n), v_0, a_0 (count, 6)."""
    for b in range(q.shape[0]):
        f = f_ext[min(b, f_ext.shape[0] - 1)]
        rnea_on_moving_base(model, work, q[b], qd[b], qdd[b], v_0[b], a_0[b], gravity, f, tau[b])


@entry
def aba_batch(model, work, q, qd, tau, gravity, f_ext, qdd):
    """Write qdd (count, n) by ``aba`` for q, qd, tau (count, n)."""
    for b in range(q.shape[0]):
        aba(model, work, q[b], qd[b], tau[b], gravity, f_ext[min(b, f_ext.shape[0] - 1)], qdd[b])


@entry
def crba_forward_batch(model, work, q, qd, tau, gravity, f_ext, qdd):
    """Write qdd (count, n) by ``crba_forward`` for q, qd, tau (count, n)."""
    for b in range(q.shape[0]):
        crba_forward(model, work, q[b], qd[b], tau[b], gravity, f_ext[min(b, f_ext.shape[0] - 1)], qdd[b])


@entry
def rnea_derivatives_batch(model, work, q, qd, qdd, gravity, f_ext, D):
    """Write D (count, 3, nv, nv) by ``rnea_derivatives`` for q (count, nq), qd, qdd (count, nv)."""
    for b in range(q.shape[0]):
        rnea_derivatives(model, work, q[b], qd[b], qdd[b], gravity, f_ext[min(b, f_ext.shape[0] - 1)], D[b])


@entry
def forward_derivatives_batch(model, work, q, qd, tau, gravity, f_ext, D):
    """Write D (count, 3, nv, nv) by ``forward_derivatives`` for q (count, nq), qd, tau (count, nv)."""
    for b in range(q.shape[0]):
        forward_derivatives(model, work, q[b], qd[b], tau[b], gravity, f_ext[min(b, f_ext.shape[0] - 1)], D[b])


@entry
def crba_batch(model, work, q, M):
    """Write M (count, n, n) by ``crba`` for q (count, n)."""
    for b in range(q.shape[0]):
        crba(model, work, q[b], M[b])


@entry
def mass_matrix_inverse_batch(model, work, q, M_inv):
    """Write M_inv (count, n, n) by ``mass_matrix_inverse`` for q (count, n)."""
    for b in range(q.shape[0]):
        mass_matrix_inverse(model, work, q[b], M_inv[b])


@entry
def link_poses_batch(model, work, q, T):
    """Write T (count, n + 1, 4, 4) by ``link_poses`` for q (count, n)."""
    for b in range(q.shape[0]):
        link_poses(model, work, q[b], T[b])


@entry
def frame_pose_batch(model, work, q, i, rotation, origin, pose):
    """Write pose (count, 4, 4) by ``frame_pose`` for q (count, nq)."""
    for b in range(q.shape[0]):
        frame_pose(model, work, q[b], i, rotation, origin, pose[b])


@entry
def frame_velocity_batch(model, work, q, qd, i, rotation, origin, view, v):
    """Write v (count, 6) by ``frame_velocity`` for q (count, nq), qd (count, nv)."""
    for b in range(q.shape[0]):
        frame_velocity(model, work, q[b], qd[b], i, rotation, origin, view, v[b])


@entry
def frame_acceleration_batch(model, work, q, qd, qdd, i, rotation, origin, view, a):
    """Write a (count, 6) by ``frame_acceleration`` for q (count, nq), qd, qdd (count, nv)."""
    for b in range(q.shape[0]):
        frame_acceleration(model, work, q[b], qd[b], qdd[b], i, rotation, origin, view, a[b])


@entry
def jacobian_batch(model, work, q, i, rotation, origin, view, J):
    """Write J (count, 6, nv) by ``jacobian`` for q (count, nq)."""
    for b in range(q.shape[0]):
        jacobian(model, work, q[b], i, rotation, origin, view, J[b])


@entry
def center_of_mass_batch(model, work, q, c):
    """Write c (count, 3) by ``center_of_mass`` for q (count, nq)."""
    for b in range(q.shape[0]):
        center_of_mass(model, work, q[b], c[b])


@entry
def centroidal_momentum_matrix_batch(model, work, q, A):
    """Write A (count, 6, nv) by ``centroidal_momentum_matrix`` for q (count, nq)."""
    for b in range(q.shape[0]):
        centroidal_momentum_matrix(model, work, q[b], A[b])


@entry
def kinetic_energy_batch(model, work, q, qd, T):
    """Write T (count, 1) by ``kinetic_energy`` for q, qd (count, n)."""
    for b in range(q.shape[0]):
        kinetic_energy(model, work, q[b], qd[b], T[b])


@entry
def potential_energy_batch(model, work, q, gravity, V):
    """Write V (count, 1) by ``potential_energy`` for q (count, n)."""
    for b in range(q.shape[0]):
        potential_energy(model, work, q[b], gravity, V[b])


@entry
def torque_regressor_batch(model, work, q, qd, qdd, gravity, Y):
    """Write Y (count, n, 10 n) by ``torque_regressor`` for q, qd, qdd (count, n)."""
    for b in range(q.shape[0]):
        torque_regressor(model, work, q[b], qd[b], qdd[b], gravity, Y[b])


@entry
def kinetic_energy_regressor_batch(model, work, q, qd, y):
    """Write y (count, 10 n) by ``kinetic_energy_regressor`` for q, qd (count, n)."""
    for b in range(q.shape[0]):
        kinetic_energy_regressor(model, work, q[b], qd[b], y[b])


@entry
def potential_energy_regressor_batch(model, work, q, gravity, y):
    """Write y (count, 10 n) by ``potential_energy_regressor`` for q (count, n)."""
    for b in range(q.shape[0]):
        potential_energy_regressor(model, work, q[b], gravity, y[b])


@entry
def friction_torque_batch(friction, qd, tau, torque):
    """Write torque (count, n) by ``friction_torque`` for qd (count, n) and tau (1 or count, n)."""
    for b in range(qd.shape[0]):
        friction_torque(friction, qd[b], tau[min(b, tau.shape[0] - 1)], torque[b])
