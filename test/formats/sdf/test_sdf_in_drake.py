"""SDF is read as Drake reads it, by the library of Gazebo: random arms of all versions, nested models, public files."""

import logging
from pathlib import Path

from support.formats.random_sdf import random_sdf
from support.formats.sdf_texts import HELD, hinge, sdf
from support.robots.differentiated_robots import error

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Robot

TOLERANCE = 2e-14
"""Of the largest number of a result: rounding, of which ten times less was seen."""
NO_COULOMB = dict.fromkeys(('coulomb', 'offset', 'stribeck', 'load', 'quadratic'), 0.0)
"""Drake has viscous friction alone."""


class InDrake:
    """A robot as Drake reads it, in the order of our joints."""

    def __init__(self, source: str | Path, robot: Robot):
        plants = pytest.importorskip('pydrake.multibody.plant', reason='drake is not installed')
        from pydrake.multibody.parsing import Parser  # noqa: PLC0415

        logging.getLogger('drake').setLevel(logging.ERROR)
        self.plant = plants.MultibodyPlant(0.0)
        if isinstance(source, Path):
            Parser(self.plant).AddModels(str(source))
        else:
            Parser(self.plant).AddModelsFromString(source, 'sdf')
        if robot.link_names[0] != 'world':
            self.plant.WeldFrames(self.plant.world_frame(), self.plant.GetFrameByName(robot.link_names[0]))
        self.plant.mutable_gravity_field().set_gravity_vector(robot.gravity)
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        joints = {self.plant.get_joint(it).name(): self.plant.get_joint(it) for it in self.plant.GetJointIndices()}
        names = [name.rpartition('::')[2] for name in robot.joint_names]
        self.positions = [joints[name].position_start() for name in names]
        self.velocities = [joints[name].velocity_start() for name in names]
        if self.plant.num_actuators():
            self.plant.get_actuation_input_port().FixValue(self.context, np.zeros(self.plant.num_actuators()))

    def at(self, q, qd) -> tuple[np.ndarray, np.ndarray]:
        """Return the mass matrix, and the accelerations that springs, dampers and gravity give."""
        positions, velocities = np.zeros(self.plant.num_positions()), np.zeros(self.plant.num_velocities())
        positions[self.positions], velocities[self.velocities] = q, qd
        self.plant.SetPositions(self.context, positions)
        self.plant.SetVelocities(self.context, velocities)
        M = self.plant.CalcMassMatrix(self.context)[np.ix_(self.velocities, self.velocities)]
        return M, self.plant.get_generalized_acceleration_output_port().Eval(self.context)[self.velocities]

    def pose(self, link: str) -> np.ndarray:
        *models, name = link.split('::')
        instance = [self.plant.GetModelInstanceByName(f'outer::{"::".join(models)}')] if models else []
        return self.plant.GetFrameByName(name, *instance).CalcPoseInWorld(self.context).GetAsMatrix4()


def assert_as_in_drake(source: str | Path, robot: Robot, links=()) -> None:
    theirs = InDrake(source, robot)
    ours = robot.with_friction(**NO_COULOMB)
    for q, qd in np.random.default_rng(1).normal(size=(3, 2, robot.nv)):
        M, qdd = theirs.at(q, qd)
        assert error(ours.mass_matrix(q), M) < TOLERANCE
        assert error(ours.acceleration(q, qd, np.zeros(robot.nv)), qdd) < 10.0 * TOLERANCE
        for link in links:
            assert error(robot.link_pose(q, link), theirs.pose(link)) < TOLERANCE


@pytest.mark.parametrize('seed', range(2))
@pytest.mark.parametrize('version', ['1.4', '1.5', '1.6', '1.7', '1.11'])
def test_poses_axes_and_inertials_are_those_of_drake(version, seed):
    text = random_sdf(seed, version)
    robot = Robot.from_sdf(text)
    frames = [name for name in robot.frame_names if name.startswith('frame')]
    assert bool(frames) is (version in ('1.7', '1.11'))
    assert_as_in_drake(text, robot, ['link_0', 'link_3', *frames[:2]])


NESTED = """<sdf version="1.9"><model name="outer"><pose>0.1 0 0 0 0 0.3</pose>
  <link name="base"/><joint name="held" type="fixed"><parent>world</parent><child>base</child></joint>
  <link name="arm"><pose>0 0.2 0.5 0.4 0 0</pose></link>
  <joint name="turn" type="revolute"><parent>base</parent><child>arm</child><axis><xyz>0 1 1</xyz></axis></joint>
  <frame name="flange" attached_to="arm"><pose>0.3 0 0 0 0.2 0</pose></frame>
  <model name="gripper" placement_frame="mount" canonical_link="palm"><pose relative_to="flange">0 0 0.1 0 0 1</pose>
    <link name="finger"><pose>0 0.1 0.2 0 0 0.5</pose></link><link name="palm"><pose>0 0 0.1 0.7 0 0</pose></link>
    <frame name="mount" attached_to="palm"><pose>0 0 -0.1 0.2 0 0</pose></frame>
    <frame name="free"><pose>0 1 0 0 0 0</pose></frame>
    <joint name="slide" type="prismatic"><parent>palm</parent><child>finger</child>
      <axis><xyz expressed_in="mount">1 0 0.2</xyz></axis></joint>
    <frame name="inside" attached_to="finger"><pose>0 0.01 0 1 0 0</pose></frame>
    <model name="pad"><pose relative_to="inside">0.1 0 0 0 0 1</pose><link name="pad"/>
      <frame name="tip" attached_to="pad"><pose>0 0 0.02 0 0 0</pose></frame></model>
    <joint name="stick" type="fixed"><parent>finger</parent><child>pad</child></joint></model>
  <joint name="wrist" type="revolute"><parent>flange</parent><child>gripper::mount</child>
    <pose relative_to="gripper::palm">0.05 0 0 0 0 0</pose><axis><xyz expressed_in="arm">0 0 1</xyz></axis></joint>
</model></sdf>"""


def test_nested_models_and_frames_as_ends_of_joints_are_those_of_drake():
    robot = Robot.from_sdf(NESTED)
    assert robot.joint_names == ('turn', 'wrist', 'gripper::slide')
    links = ['flange', 'gripper::palm', 'gripper::finger', 'gripper::mount', 'gripper::free', 'gripper::pad::tip']
    assert_as_in_drake(NESTED, robot, links)


SCREW = hinge(in_joint='<thread_pitch>0.5</thread_pitch>').replace('"revolute"', '"screw"').replace('0 1 0', '0 1 1')
PLACED = {
    '<link name="b"/>': '<link name="b"><pose frame="a">1 2 3 1 0 0</pose></link>',
    '<link name="c"/>': '<link name="c"><pose frame="b">0.1 0.2 0 0 1 0</pose></link>',
}
TWO = hinge() + hinge(name='k', link='c').replace('<parent>a', '<parent>b')
for plain, placed in PLACED.items():
    TWO = TWO.replace(plain, placed)
OF_OLD_VERSIONS = {
    'a thread in rad/m': sdf(HELD + SCREW, '1.9'),
    'poses in frames': sdf(HELD + TWO, '1.6'),
}


@pytest.mark.parametrize('text', OF_OLD_VERSIONS.values(), ids=OF_OLD_VERSIONS)
def test_what_old_versions_say_is_what_drake_reads(text):
    assert_as_in_drake(text, Robot.from_sdf(text), ['b'])


@pytest.mark.parametrize(
    'path', ['acrobot/Acrobot.sdf', 'multibody/cart_pole/cart_pole.sdf', 'planar_gripper/planar_brick.sdf']
)
def test_public_files_are_read_as_by_drake(path):
    pydrake = pytest.importorskip('pydrake', reason='drake is not installed')
    file = Path(pydrake.__file__).parent / 'share/drake/examples' / path
    if not file.exists():
        pytest.skip(f'this drake has no {path}')
    assert_as_in_drake(file, Robot.from_sdf(file))


def test_a_ball_joint_has_the_poses_and_energies_of_drake():
    text = """<sdf version="1.7"><model name="m"><link name="a"/><link name="b"><pose>0.1 0.2 0.3 0.3 0.2 0.1</pose>
      <inertial><pose>0.1 0 0.2 0 0 0</pose><mass>2</mass></inertial></link>
      <joint name="w" type="fixed"><parent>world</parent><child>a</child></joint>
      <joint name="ball" type="ball"><pose>0.05 0 0.1 1 0.5 0</pose><parent>a</parent><child>b</child></joint>
      </model></sdf>"""
    robot, rpy = Robot.from_sdf(text), np.array([0.4, -0.3, 0.8])
    theirs = InDrake(text, robot.with_locked_joints({'ball': [0.0, 0.0, 0.0, 1.0]}))
    theirs.plant.SetPositions(theirs.context, rpy)
    # our axes are those of the child
    J = Rotation.from_euler('xyz', [1.0, 0.5, 0.0])
    q = (J * Rotation.from_euler('xyz', rpy) * J.inv()).as_quat()
    assert error(robot.link_pose(q, 'b'), theirs.pose('b')) < TOLERANCE
    energy = theirs.plant.CalcPotentialEnergy(theirs.context)
    assert robot.potential_energy(q) == pytest.approx(energy, rel=1e-12)
