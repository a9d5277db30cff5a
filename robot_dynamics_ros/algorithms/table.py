"""The table of algorithms: which kernel computes a quantity, from which inputs, and the shape of its result.

A kernel's parameters say what else it reads: ``gravity``, external wrenches ``f_ext``, a frame. What a row does not
have as an input is zero: ``bias_torque`` is inverse dynamics without accelerations.
"""

from typing import NamedTuple

from robot_dynamics_ros.algorithms import choice
from robot_dynamics_ros.algorithms.choice import Choice
from robot_dynamics_ros.jit.decorators import Kernel
from robot_dynamics_ros.kernels import centroidal
from robot_dynamics_ros.kernels import operational_space as factors
from robot_dynamics_ros.kernels import operational_space_propagation as propagation
from robot_dynamics_ros.kernels.closed_loops import quantities as loops
from robot_dynamics_ros.kernels.closed_loops.closure_torque import closure_torque, spring_torque
from robot_dynamics_ros.kernels.closed_loops.driven_motion import closing_step, driven_motion
from robot_dynamics_ros.kernels.coriolis_matrix import coriolis_matrix
from robot_dynamics_ros.kernels.crba import crba
from robot_dynamics_ros.kernels.crba_forward import crba_forward
from robot_dynamics_ros.kernels.energy import kinetic_energy, potential_energy, total_energy
from robot_dynamics_ros.kernels.energy_regressors import kinetic_energy_regressor, potential_energy_regressor
from robot_dynamics_ros.kernels.forward_derivatives import forward_derivatives
from robot_dynamics_ros.kernels.joint_torques import add_joint_torques, transmitted_torque
from robot_dynamics_ros.kernels.kinematics import frame_acceleration, frame_pose, frame_velocity, jacobian
from robot_dynamics_ros.kernels.mass_matrix_inverse import mass_matrix_inverse
from robot_dynamics_ros.kernels.poses import link_poses
from robot_dynamics_ros.kernels.regressor import torque_regressor
from robot_dynamics_ros.kernels.rnea import rnea
from robot_dynamics_ros.kernels.rnea_derivatives import rnea_derivatives


class Algorithm(NamedTuple):
    """A row of the table."""

    kernel: Kernel | Choice
    """The kernel, or the choice of one for the shape of a robot."""
    inputs: tuple[str, ...]
    """Names of the vectors of a state."""
    shape: tuple[int | str, ...] = ()
    """Shape of the result: numbers, and sizes of the robot by their names, which ``program`` has."""
    bodies: bool = False
    """Whether the true inertial parameters are needed; otherwise regrouped ones are used (``model.regrouping``)."""
    of_tree: bool = False
    """Whether closed loops change the result but not what the kernel computes."""
    of_derivative: bool = False
    """Whether qd has to be the time derivative of q."""
    of_loops: bool = False
    """Whether there is nothing to compute without closed loops."""
    before: Kernel | None = None
    """A kernel that writes the transmitted torque for ``tau``, from which the other one computes."""
    after: Kernel | None = None
    """A kernel that adds to the result."""


VECTOR, MATRIX, MATRICES, CONSTRAINTS = ('nv',), ('nv', 'nv'), (3, 'nv', 'nv'), ('constraints',)
MOTION, FORWARD, MOVING = ('q', 'qd', 'qdd'), ('q', 'qd', 'tau'), ('base_velocity', 'base_acceleration')

ALGORITHMS = {
    'inverse_dynamics': Algorithm(rnea, MOTION, VECTOR),
    'bias_torque': Algorithm(rnea, ('q', 'qd'), VECTOR),
    'gravity_torque': Algorithm(rnea, ('q',), VECTOR),
    'torque': Algorithm(rnea, MOTION, VECTOR, of_tree=True, after=add_joint_torques),
    'acceleration': Algorithm(choice.forward_dynamics, FORWARD, VECTOR, of_tree=True, before=transmitted_torque),
    'mass_matrix': Algorithm(crba, ('q',), MATRIX),
    'mass_matrix_inverse': Algorithm(mass_matrix_inverse, ('q',), MATRIX),
    'forward_dynamics': Algorithm(choice.forward_dynamics, FORWARD, VECTOR),
    'coriolis_matrix': Algorithm(coriolis_matrix, ('q', 'qd'), MATRIX, of_derivative=True),
    'torque_regressor': Algorithm(torque_regressor, MOTION, ('nv', 'parameters')),
    'inverse_dynamics_derivatives': Algorithm(rnea_derivatives, MOTION, MATRICES),
    'forward_dynamics_derivatives': Algorithm(forward_derivatives, FORWARD, MATRICES, of_tree=True),
    'inverse_dynamics_on_moving_base': Algorithm(rnea, MOTION + MOVING, VECTOR),
    'forward_dynamics_on_moving_base': Algorithm(choice.forward_dynamics, FORWARD + MOVING, VECTOR, of_tree=True),
    'kinetic_energy': Algorithm(kinetic_energy, ('q', 'qd'), bodies=True),
    'potential_energy': Algorithm(potential_energy, ('q',), bodies=True),
    'total_energy': Algorithm(total_energy, ('q', 'qd'), bodies=True),
    'kinetic_energy_regressor': Algorithm(kinetic_energy_regressor, ('q', 'qd'), ('parameters',), bodies=True),
    'potential_energy_regressor': Algorithm(potential_energy_regressor, ('q',), ('parameters',), bodies=True),
    'center_of_mass': Algorithm(centroidal.center_of_mass, ('q',), (3,), bodies=True),
    'center_of_mass_jacobian': Algorithm(centroidal.center_of_mass_jacobian, ('q',), (3, 'nv'), bodies=True),
    'centroidal_momentum': Algorithm(centroidal.centroidal_momentum, ('q', 'qd'), (6,), bodies=True),
    'centroidal_momentum_matrix': Algorithm(centroidal.centroidal_momentum_matrix, ('q',), (6, 'nv'), bodies=True),
    'link_poses': Algorithm(link_poses, ('q',), ('links', 4, 4)),
    'loop_errors': Algorithm(loops.loop_errors, ('q',), CONSTRAINTS, of_loops=True),
    'loop_jacobian': Algorithm(loops.loop_jacobian, ('q',), ('constraints', 'nv'), of_loops=True),
    'loop_rates': Algorithm(loops.loop_rates, ('q', 'qd'), CONSTRAINTS, of_loops=True),
    'loop_accelerations': Algorithm(loops.loop_accelerations, MOTION, CONSTRAINTS, of_loops=True),
    'loop_step': Algorithm(loops.loop_step, ('q', 'change'), VECTOR, of_loops=True),
    'closing_step': Algorithm(closing_step, ('q', 'change'), ('closing',), of_loops=True),
    'driven_motion': Algorithm(driven_motion, ('q', 'rates', 'accelerations'), ('driven', 'nv'), of_loops=True),
    'spring_torque': Algorithm(spring_torque, ('q', 'qd'), VECTOR),
    'closure_torque': Algorithm(closure_torque, ('q', 'torques'), VECTOR, of_loops=True),
}
STEPS_OF_CLOSING = ('loop_step', 'closing_step', 'driven_motion')
"""Quantities that other quantities are computed by; messages do not list them."""
QUANTITIES = tuple(name for name in ALGORITHMS if name not in STEPS_OF_CLOSING)
METHODS = {
    'articulated': Algorithm(choice.articulated, FORWARD, VECTOR),
    'mass_matrix': Algorithm(crba_forward, FORWARD, VECTOR, of_tree=True),
}
"""Methods of forward dynamics that the caller may choose."""
BY_METHOD = {f'forward_dynamics_by_{method}': algorithm for method, algorithm in METHODS.items()}
BY_METHOD |= {
    f'{name}_on_moving_base': algorithm._replace(inputs=FORWARD + MOVING, of_tree=True)
    for name, algorithm in BY_METHOD.items()
}
OF_A_FRAME = {
    'link_pose': Algorithm(frame_pose, ('q',), (4, 4)),
    'link_velocity': Algorithm(frame_velocity, ('q', 'qd'), (6,)),
    'link_acceleration': Algorithm(frame_acceleration, MOTION, (6,)),
    'jacobian': Algorithm(jacobian, ('q',), (6, 'nv')),
}
"""Kinematics of a frame."""
INERTIA = choice.by_depth(factors.operational_space_inertia, propagation.inertia_by_propagation)
INERTIA_INVERSE = choice.by_depth(factors.operational_space_inertia_inverse, propagation.inertia_inverse_by_propagation)
CONSISTENT_INVERSE = choice.by_depth(factors.consistent_inverse, propagation.consistent_inverse_by_propagation)
BIAS = choice.by_depth(factors.operational_space_bias, propagation.bias_by_propagation)
OPERATIONAL_SPACE = {
    'operational_space_inertia': Algorithm(INERTIA, ('q',), (6, 6)),
    'operational_space_inertia_inverse': Algorithm(INERTIA_INVERSE, ('q',), (6, 6)),
    'consistent_inverse': Algorithm(CONSISTENT_INVERSE, ('q',), ('nv', 6)),
    'operational_space_bias': Algorithm(BIAS, ('q', 'qd'), (6,)),
    'operational_space_gravity': Algorithm(BIAS, ('q',), (6,)),
}
"""Dynamics of a frame. But for the inverse of the inertia, results are not finite unless it moves in all directions."""
OF_FRAMES = {
    'operational_space_inertia': Algorithm(propagation.inertia_of_frames, ('q',), ('wrenches', 'wrenches')),
    'operational_space_inertia_inverse': Algorithm(
        propagation.inertia_inverse_of_frames, ('q',), ('wrenches', 'wrenches')
    ),
    'response_to_wrenches': Algorithm(propagation.response_to_wrenches, ('q',), ('nv', 'wrenches')),
}
"""Dynamics of several frames together."""
