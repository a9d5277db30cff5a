"""Calls of other libraries for the same quantities, at one random state of the AUBO-i5.

For each library a function builds its model and returns, for each program that it offers, its call from Python.
"""

import logging
from functools import partial
from tempfile import NamedTemporaryFile

import numpy as np
import pinocchio as pin

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.library import named_urdf

STATE = np.random.default_rng(0).normal(size=(3, 6))
"""Position, velocity, and acceleration or torque."""
ARGUMENTS = {
    'inverse_dynamics': 3,
    'mass_matrix': 1,
    'forward_dynamics': 3,
    'gravity_torque': 1,
    'inverse_dynamics_derivatives': 3,
    'forward_dynamics_derivatives': 3,
    'torque_regressor': 3,
    'jacobian': 1,
}
"""Number of rows of STATE that are arguments of a program."""
LINK = 'ee_link'
"""Link of the Jacobian, in the reference frame local_world_aligned."""
AGREEMENT = 1e-6
"""Largest difference, relative to the largest number of a result."""


WEIGHTLESS_LINK = """<link name="ee_link"><inertial><mass value="0"/>
  <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>"""
"""Stated explicitly, since PyBullet assumes 1 kg otherwise."""


def pinocchio_calls(robot: Robot) -> dict:
    q, qd, x = STATE
    model = pin.buildModelFromXML(named_urdf('aubo_i5').read_text())
    model.armature[:] = robot.rotor_inertia
    data = model.createData()
    return {
        'inverse_dynamics': partial(pin.rnea, model, data, q, qd, x),
        'mass_matrix': partial(pin.crba, model, data, q),
        'forward_dynamics': partial(pin.aba, model, data, q, qd, x),
        'gravity_torque': partial(pin.computeGeneralizedGravity, model, data, q),
        'inverse_dynamics_derivatives': partial(pin.computeRNEADerivatives, model, data, q, qd, x),
        'forward_dynamics_derivatives': partial(pin.computeABADerivatives, model, data, q, qd, x),
        'torque_regressor': partial(pin.computeJointTorqueRegressor, model, data, q, qd, x),
        'jacobian': partial(
            pin.computeFrameJacobian, model, data, q, model.getFrameId(LINK), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        ),
    }


def mujoco_calls(robot: Robot) -> dict:
    import mujoco

    return mujoco_calls_at(robot, mujoco.MjModel.from_xml_path(str(named_urdf('aubo_i5'))), STATE)


def mujoco_calls_at(robot: Robot, model, state) -> dict:
    """Return the calls of a MuJoCo model with the rotors of ``robot`` at a state (3, nv); joints in the same order."""
    import mujoco

    q, qd, x = state
    model.dof_armature[:], model.dof_damping[:] = robot.rotor_inertia, 0.0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # dry friction and joint limits
    data = mujoco.MjData(model)
    matrix, torque = np.empty((robot.nv, robot.nv)), np.empty(robot.nv)

    def inverse_dynamics():
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, x
        mujoco.mj_inverse(model, data)
        return data.qfrc_inverse

    def mass_matrix():
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_fullM(model, data, matrix)
        return matrix

    def forward_dynamics():
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, x
        mujoco.mj_forward(model, data)
        return data.qacc

    def gravity_torque():
        data.qpos[:], data.qvel[:] = q, 0.0
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 0, torque)
        return torque

    return {call.__name__: call for call in (inverse_dynamics, mass_matrix, forward_dynamics, gravity_torque)}


def pybullet_calls(robot: Robot) -> dict:
    """PyBullet has no rotors, and forward dynamics only as a step of its simulation."""
    import pybullet

    q, qd, x = STATE.tolist()
    rest = [0.0] * 6
    pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0.0, 0.0, -9.81)
    with NamedTemporaryFile('w', suffix='.urdf') as file:
        file.write(named_urdf('aubo_i5').read_text().replace('<link name="ee_link"/>', WEIGHTLESS_LINK))
        file.flush()
        body = pybullet.loadURDF(file.name, useFixedBase=True, flags=pybullet.URDF_USE_INERTIA_FROM_FILE)
    return {
        'inverse_dynamics': lambda: pybullet.calculateInverseDynamics(body, q, qd, x),
        'mass_matrix': lambda: pybullet.calculateMassMatrix(body, q),
        'gravity_torque': lambda: pybullet.calculateInverseDynamics(body, q, rest, rest),
    }


def drake_calls(robot: Robot) -> dict:
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import MultibodyForces

    q, qd, x = STATE
    plant = MultibodyPlant(time_step=0.0)
    logging.getLogger('drake').setLevel(
        logging.ERROR
    )  # it warns about the dry friction of each joint, which it ignores
    Parser(plant).AddModels(str(named_urdf('aubo_i5')))
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName('base_link'))
    for name, rotor in zip(robot.joint_names, robot.rotor_inertia, strict=True):
        joint = plant.GetJointByName(name)
        joint.set_default_damping(0.0)
        plant.AddJointActuator(name, joint).set_default_rotor_inertia(rotor)
    plant.Finalize()
    context, forces = plant.CreateDefaultContext(), MultibodyForces(plant)
    torque = plant.get_actuation_input_port().FixValue(context, np.zeros(6))

    def inverse_dynamics():
        plant.SetPositions(context, q)
        plant.SetVelocities(context, qd)
        plant.CalcForceElementsContribution(context, forces)  # gravity
        return plant.CalcInverseDynamics(context, x, forces)

    def mass_matrix():
        plant.SetPositions(context, q)
        return plant.CalcMassMatrix(context)

    def forward_dynamics():
        plant.SetPositions(context, q)
        plant.SetVelocities(context, qd)
        torque.GetMutableData().get_mutable_value().SetFromVector(x)
        return plant.EvalTimeDerivatives(context).get_generalized_velocity().CopyToVector()

    def gravity_torque():
        plant.SetPositions(context, q)
        return -plant.CalcGravityGeneralizedForces(context)

    return {call.__name__: call for call in (inverse_dynamics, mass_matrix, forward_dynamics, gravity_torque)}


def roboticstoolbox_calls(robot: Robot) -> dict:
    import roboticstoolbox
    from roboticstoolbox.models.URDF.URDFRobot import URDF_file

    q, qd, x = STATE
    links, _, _ = URDF_file(named_urdf('aubo_i5'))
    model = roboticstoolbox.Robot(links)
    joints = [link for link in model.links if link.isjoint]
    for joint, rotor in zip(joints, robot.rotor_inertia, strict=True):
        joint.Jm, joint.G, joint.B, joint.Tc = rotor, 1.0, 0.0, (0.0, 0.0)
    return {
        'inverse_dynamics': lambda: model.rne(q, qd, x),
        'mass_matrix': lambda: model.inertia(q),
        'forward_dynamics': lambda: model.accel(q, qd, x),
        'gravity_torque': lambda: model.gravload(q),
    }


PEERS = {
    'pin': pinocchio_calls,
    'mujoco': mujoco_calls,
    'pybullet': pybullet_calls,
    'drake': drake_calls,
    'roboticstoolbox-python': roboticstoolbox_calls,
}
"""Libraries by the package to install."""
WITHOUT_ROTORS = ('pybullet',)


def of_link(program: str) -> tuple[str, ...]:
    """Return the link argument of a program as a tuple, empty if it has none."""
    return (LINK,) if program == 'jacobian' else ()


def peers_found(robot: Robot) -> dict[str, dict]:
    """Return the calls of each library, and print its largest difference from this package, or that it is missing."""
    found = {}
    for name, calls_of in PEERS.items():
        try:
            found[name] = calls_of(robot)
        except ImportError as error:
            print(f'{name}: missing, pip install -r requirements/benchmark.txt ({error})')
        else:
            print(f'{name}: agrees to {disagreement(robot, name, found[name]):.0e}')
    return found


def disagreement(robot: Robot, peer: str, calls: dict) -> float:
    """Return the largest relative difference between results of a library and ours; AssertionError above AGREEMENT."""
    ours = robot
    if peer in WITHOUT_ROTORS:
        ours = ours.with_actuators({'rotor_inertia': dict.fromkeys(robot.joint_names, 0.0)})
    largest = 0.0
    for program, call in calls.items():
        expected = getattr(ours, program)(*STATE[: ARGUMENTS[program]], *of_link(program))
        theirs = np.asarray(call())
        if program == 'torque_regressor':  # Pinocchio has xx, xy, yy, xz, yz, zz
            theirs = theirs.reshape(6, 6, 10)[..., [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]].reshape(6, 60)
        if program == 'jacobian':  # Pinocchio has the linear part first
            theirs = np.roll(theirs, 3, axis=0)
        if program.endswith('_derivatives'):  # and only the upper triangle of the last matrix
            theirs[2] = np.triu(theirs[2]) + np.triu(theirs[2], 1).T
        difference = np.abs(theirs - expected).max() / np.abs(expected).max()
        assert difference < AGREEMENT, f'{peer}, {program}: off by {difference:.1e}'
        largest = max(largest, difference)
    return largest
