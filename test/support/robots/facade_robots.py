"""Robots for tests of ``Robot``: the AUBO-i5 and a small tree, with Pinocchio's model of each."""

import pickle
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.library import named_urdf

# Two branches, a prismatic joint, links on fixed joints, and names in no order that a parser would make of them.
TREE = """
<robot name="tree">
  <link name="ground"/>
  <link name="mast">
    <inertial><origin xyz="0 0 0.3"/><mass value="4"/>
      <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.1"/></inertial>
  </link>
  <link name="boom">
    <inertial><origin xyz="0.1 0.2 -0.1" rpy="0.3 0.2 0.1"/><mass value="3"/>
      <inertia ixx="0.05" ixy="0.01" ixz="0.002" iyy="0.06" iyz="-0.004" izz="0.04"/></inertial>
  </link>
  <link name="sledge">
    <inertial><origin xyz="-0.05 0 0.1"/><mass value="2"/>
      <inertia ixx="0.02" ixy="0" ixz="0.001" iyy="0.03" iyz="0" izz="0.02"/></inertial>
  </link>
  <link name="tool">
    <inertial><origin xyz="0 0.03 0.02"/><mass value="0.7"/>
      <inertia ixx="0.003" ixy="0" ixz="0" iyy="0.002" iyz="0.0005" izz="0.004"/></inertial>
  </link>
  <link name="flag">
    <inertial><origin xyz="0.2 0 0"/><mass value="0.5"/>
      <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
  </link>
  <joint name="feet" type="fixed">
    <parent link="ground"/><child link="mast"/><origin xyz="0.1 0.2 0.3" rpy="0.1 0 0.4"/>
  </joint>
  <joint name="z_turn" type="revolute">
    <parent link="mast"/><child link="boom"/><origin xyz="0 0.1 0.6" rpy="0.5 -0.2 0.3"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-3" upper="3" velocity="2" effort="50"/><dynamics damping="0.8" friction="1.5"/>
  </joint>
  <joint name="m_slide" type="prismatic">
    <parent link="boom"/><child link="sledge"/><origin xyz="0.2 0 0.1" rpy="0 0.7 0"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="80"/><dynamics damping="5" friction="3"/>
  </joint>
  <joint name="bolt" type="fixed">
    <parent link="sledge"/><child link="tool"/><origin xyz="0.1 -0.2 0.05" rpy="1.1 0.4 -0.6"/>
  </joint>
  <joint name="a_wag" type="revolute">
    <parent link="boom"/><child link="flag"/><origin xyz="0 0.3 0" rpy="0 0 1"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="2" effort="0"/>
  </joint>
</robot>
"""
JOINTS = ('z_turn', 'm_slide', 'a_wag')
ACTUATORS = {
    'rotor_inertia': dict(zip(JOINTS, (0.3, 0.9, 0.02), strict=True)),
    'friction_offset': dict(zip(JOINTS, (0.4, -0.7, 0.1), strict=True)),
    'friction_transition': dict(zip(JOINTS, (0.1, 0.05, 0.2), strict=True)),
    'friction_stribeck': dict(zip(JOINTS, (0.0, 0.8, 0.3), strict=True)),
    'friction_stribeck_velocity': dict(zip(JOINTS, (1.0, 0.4, 0.7), strict=True)),
    'friction_quadratic': dict(zip(JOINTS, (0.0, 0.3, 1.2), strict=True)),
    'gear_ratio': dict(zip(JOINTS, (100.0, 2000.0, 30.0), strict=True)),
    'torque_constant': dict(zip(JOINTS, (8.0, 120.0, 0.5), strict=True)),
}
ROBOTS = ('aubo_i5', 'tree')
MERGED = {'aubo_i5': 'ee_link', 'tree': 'tool'}  # a link on a fixed joint, turned and (tree) moved
# method: (the arguments it takes, shape of its result for n joints)
METHODS = {
    'inverse_dynamics': ('q qd x', lambda n: (n,)),
    'forward_dynamics': ('q qd x', lambda n: (n,)),
    'mass_matrix': ('q', lambda n: (n, n)),
    'mass_matrix_inverse': ('q', lambda n: (n, n)),
    'gravity_torque': ('q', lambda n: (n,)),
    'bias_torque': ('q qd', lambda n: (n,)),
    'coriolis_torque': ('q qd', lambda n: (n,)),
    'coriolis_matrix': ('q qd', lambda n: (n, n)),
    'inertia_torque': ('q x', lambda n: (n,)),
    'torque_regressor': ('q qd x', lambda n: (n, 10 * n)),
    'inverse_dynamics_derivatives': ('q qd x', lambda n: (3, n, n)),
    'forward_dynamics_derivatives': ('q qd x', lambda n: (3, n, n)),
    'friction_torque': ('qd', lambda n: (n,)),
    'motor_current': ('tau', lambda n: (n,)),
    'torque_of_current': ('current', lambda n: (n,)),
    'link_pose': ('q', lambda n: (4, 4)),
    'link_velocity': ('q qd', lambda n: (6,)),
    'link_acceleration': ('q qd x', lambda n: (6,)),
    'jacobian': ('q', lambda n: (6, n)),
    'jacobian_dot_qd': ('q qd', lambda n: (6,)),
    'center_of_mass': ('q', lambda n: (3,)),
    'center_of_mass_jacobian': ('q', lambda n: (3, n)),
    'centroidal_momentum_matrix': ('q', lambda n: (6, n)),
    'centroidal_momentum': ('q qd', lambda n: (6,)),
    'integrate': ('q step', lambda n: (n,)),
    'difference': ('start end', lambda n: (n,)),
    'kinetic_energy': ('q qd', lambda n: ()),
    'potential_energy': ('q', lambda n: ()),
    'total_energy': ('q qd', lambda n: ()),
    'kinetic_energy_regressor': ('q qd', lambda n: (10 * n,)),
    'potential_energy_regressor': ('q', lambda n: (10 * n,)),
}
OF_A_LINK = ('link_pose', 'link_velocity', 'link_acceleration', 'jacobian', 'jacobian_dot_qd')
METHOD = pytest.mark.parametrize('method', METHODS)
ROBOT = pytest.mark.parametrize('name', ROBOTS)
TOLERANCE = 1e-10


@cache
def robot_of(name) -> Robot:
    if name == 'aubo_i5':
        return Robot.named(name)
    tree = Robot.from_urdf(TREE).with_actuators(ACTUATORS).with_gravity((1.0, -2.0, -9.0))
    return tree  # so that both bindings are looked at


def urdf_of(name) -> str:
    return TREE if name == 'tree' else named_urdf(name).read_text(encoding='utf-8')


def call(name, method, arguments, robot=None, **more):
    if method in OF_A_LINK:
        more['link'] = MERGED[name]
    return getattr(robot or robot_of(name), method)(*arguments, **more)


def states(name, method, batch=(), seed=0):
    rng = np.random.default_rng([seed, *map(ord, method)])
    return [rng.uniform(-2.0, 2.0, (*batch, robot_of(name).nv)) for _ in METHODS[method][0].split()]


def same_bits(one, two) -> bool:
    return one.shape == two.shape and one.dtype == two.dtype and one.tobytes() == two.tobytes()


@cache
def twin(name, gravity):
    """Return Pinocchio's model of the same URDF, rotors included, and where our joints stand in it."""
    pin = pytest.importorskip(
        'pinocchio',
        minversion='3.4',  # 2.6 knows no rotors
        reason='the outside source, Pinocchio (package pin), is not installed',
    )
    model = pin.buildModelFromXML(urdf_of(name))
    order = np.array([model.getJointId(joint) - 1 for joint in robot_of(name).joint_names])
    rotor = np.zeros(model.nv)
    rotor[order] = robot_of(name).rotor_inertia
    model.armature = rotor
    model.gravity.linear = np.array(gravity)
    return SimpleNamespace(pin=pin, model=model, data=model.createData(), order=order)


def expected(name, method, arguments, gravity=None):
    """Return what Pinocchio (and, for friction, a line of our own) makes of one state."""
    t = twin(name, tuple(robot_of(name).gravity if gravity is None else gravity))
    pin, model, data, order = t.pin, t.model, t.data, t.order
    given = dict(zip(METHODS[method][0].split(), arguments, strict=True))
    back = np.argsort(order)
    q, qd, x = (given.get(key, np.zeros(model.nv))[back] for key in ('q', 'qd', 'x'))
    if method == 'friction_torque':
        friction, qd = robot_of(name).friction, given['qd']
        smooth = qd / np.sqrt(qd**2 + friction.transition**2)
        level = friction.coulomb + friction.stribeck / (1.0 + (qd / friction.stribeck_velocity) ** 2)
        return (friction.viscous + friction.quadratic * np.abs(qd)) * qd + level * smooth + friction.offset
    if method in ('motor_current', 'torque_of_current'):
        constant = robot_of(name).actuators.torque_constant
        return arguments[0] / constant if method == 'motor_current' else arguments[0] * constant
    if method in ('integrate', 'difference'):
        one, other = arguments
        return one + other if method == 'integrate' else other - one
    if method in OF_A_LINK:
        return of_a_link(t, method, q, qd, x, model.getFrameId(MERGED[name]), 'local_world_aligned')
    if method.startswith('cent'):
        return of_the_mass(t, method, q, qd)
    if method == 'potential_energy':
        return pin.computePotentialEnergy(model, data, q)
    if method.endswith('_regressor'):
        made = {
            'torque_regressor': lambda: pin.computeJointTorqueRegressor(model, data, q, qd, x)[order],
            'kinetic_energy_regressor': lambda: pin.computeKineticEnergyRegressor(model, data, q, qd),
            'potential_energy_regressor': lambda: pin.computePotentialEnergyRegressor(model, data, q),
        }[method]()
        # Pinocchio has xx, xy, yy, xz, yz, zz
        by_link = made.reshape(*made.shape[:-1], model.nv, 10)[..., order, :][..., [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]]
        return by_link.reshape(made.shape)
    if method.endswith('_derivatives'):
        derive = {'i': pin.computeRNEADerivatives, 'f': pin.computeABADerivatives}[method[0]]
        by_q, by_qd, upper = derive(model, data, q, qd, x)
        return np.array([D[np.ix_(order, order)] for D in (by_q, by_qd, symmetric(upper))])
    if method == 'mass_matrix_inverse':
        return symmetric(pin.computeMinverse(model, data, q))[np.ix_(order, order)]
    M = symmetric(pin.crba(model, data, q))
    if method == 'mass_matrix':
        return M[np.ix_(order, order)]
    if method == 'kinetic_energy':
        return 0.5 * qd @ M @ qd
    if method == 'total_energy':
        return 0.5 * qd @ M @ qd + pin.computePotentialEnergy(model, data, q)
    if method == 'coriolis_matrix':
        return christoffel(lambda at: pin.crba(model, data, at), q, qd)[np.ix_(order, order)]
    gravity_torque = pin.computeGeneralizedGravity(model, data, q)
    bias = pin.nonLinearEffects(model, data, q, qd)
    return {
        'inverse_dynamics': lambda: pin.rnea(model, data, q, qd, x),
        'forward_dynamics': lambda: pin.aba(model, data, q, qd, x),
        'gravity_torque': lambda: gravity_torque,
        'bias_torque': lambda: bias,
        'coriolis_torque': lambda: bias - gravity_torque,
        'inertia_torque': lambda: M @ x,
    }[method]()[order]


def symmetric(matrix):
    """Return a matrix of Pinocchio's, of which only the upper triangle is relied on."""
    return np.triu(matrix) + np.triu(matrix, 1).T


def christoffel(mass_matrix, q, qd):
    """Return C_ij, the sum of (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) qd_k / 2, by central differences to 1e-11."""
    step, units = 1e-3, np.eye(len(q))

    def slope(e, h):
        return (symmetric(mass_matrix(q + h * e)) - symmetric(mass_matrix(q - h * e))) / (2.0 * h)

    # Richardson: errors of h^2 and of h^4 go
    slopes = [[slope(e, step * 2.0**k) for k in range(3)] for e in units]
    once = [[(4.0 * s[k] - s[k + 1]) / 3.0 for k in range(2)] for s in slopes]
    dM = np.array([(16.0 * s[0] - s[1]) / 15.0 for s in once])  # [k, i, j]
    symbols = 0.5 * (np.einsum('kij->ijk', dM) + np.einsum('jik->ijk', dM) - np.einsum('ijk->ijk', dM))
    return symbols @ qd


def of_a_link(t, method, q, qd, x, frame, seen_from):
    """Return what Pinocchio makes of a frame; ``q``, ``qd``, ``x`` are in its order, columns come back in ours."""
    pin, model, data = t.pin, t.model, t.data
    reference = getattr(pin, seen_from.upper())
    pin.forwardKinematics(model, data, q, qd, np.zeros(model.nv) if method == 'jacobian_dot_qd' else x)
    pin.updateFramePlacements(model, data)
    if method == 'link_pose':
        return data.oMf[frame].homogeneous
    if method == 'jacobian':
        return angular_first(pin.computeFrameJacobian(model, data, q, frame, reference))[:, t.order]
    if method == 'link_velocity':
        return angular_first(pin.getFrameVelocity(model, data, frame, reference).vector)
    classical = seen_from == 'local_world_aligned'  # there theirs is spatial unless asked for otherwise
    acceleration = pin.getFrameClassicalAcceleration if classical else pin.getFrameAcceleration
    return angular_first(acceleration(model, data, frame, reference).vector)


def of_the_mass(t, method, q, qd):
    """Return what Pinocchio makes of the centre of mass and the momentum, columns in our order."""
    pin, model, data = t.pin, t.model, t.data
    return {
        'center_of_mass': lambda: pin.centerOfMass(model, data, q),
        'center_of_mass_jacobian': lambda: pin.jacobianCenterOfMass(model, data, q)[:, t.order],
        'centroidal_momentum_matrix': lambda: angular_first(pin.computeCentroidalMap(model, data, q))[:, t.order],
        'centroidal_momentum': lambda: angular_first(pin.computeCentroidalMomentum(model, data, q, qd).vector),
    }[method]()


def angular_first(array):
    return np.concatenate([array[3:], array[:3]])


def assert_close(actual, wanted):
    assert actual.shape == wanted.shape
    scale = np.abs(wanted).max(initial=1.0)
    assert np.abs(actual - wanted).max(initial=0.0) < TOLERANCE * scale


def strided(array):
    wide = np.full((*array.shape[:-1], 2 * array.shape[-1]), np.nan)
    wide[..., ::2] = array
    return wide[..., ::2]


def readonly(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def unaligned(array):
    return np.frombuffer(b'\0' + array.tobytes(), offset=1).reshape(array.shape)


FORMS = {
    'nested lists': np.ndarray.tolist,
    'tuple of arrays': tuple,
    'Fortran order': np.asfortranarray,
    'strided': strided,
    'backwards': lambda array: array[::-1].copy()[::-1],
    'read-only': readonly,
    'unaligned': unaligned,
    'unpickled': lambda array: pickle.loads(pickle.dumps(array)),
    'the other byte order': lambda array: array.astype(array.dtype.newbyteorder()),
}
