"""``Robot``: how a robot is created, prepared and written; its other methods are in the classes it is derived from."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.formats.description import found_description, model_from_description
from robot_dynamics_ros.formats.dh import DHRow, model_from_dh
from robot_dynamics_ros.formats.library import named_model
from robot_dynamics_ros.formats.mjcf import model_from_mjcf
from robot_dynamics_ros.formats.sdf.sdf import model_from_sdf
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.formats.urdf_export import urdf_of
from robot_dynamics_ros.formats.yaml_files.model_yaml import model_from_yaml, yaml_of
from robot_dynamics_ros.model.editing import chain
from robot_dynamics_ros.model.model import GRAVITY
from robot_dynamics_ros.robot.changed_copies import ChangedCopies
from robot_dynamics_ros.robot.closed_loops import ClosedLoops
from robot_dynamics_ros.robot.derivatives import Derivatives
from robot_dynamics_ros.robot.dynamics import Dynamics
from robot_dynamics_ros.robot.kinematics import Kinematics
from robot_dynamics_ros.robot.operational_space import OperationalSpace
from robot_dynamics_ros.robot.quantity_key import key_of
from robot_dynamics_ros.robot.shared_parameters import documented
from robot_dynamics_ros.robot.torque_terms import TorqueTerms
from robot_dynamics_ros.robot.whole_robot import WholeRobot

MIMIC = ('ignore', 'couple')


@documented()
class Robot(Dynamics, TorqueTerms, Kinematics, WholeRobot, Derivatives, OperationalSpace, ClosedLoops, ChangedCopies):
    """An immutable robot and its dynamics, for one state or for batches of states (..., nq or nv), which broadcast.

    ``named``, ``from_urdf`` and the like create a robot; ``with_gravity``, ``chain`` and the like return a copy.
    Joint vectors are in the order of ``joint_names``, in SI units (rad, N m; m, N for prismatic joints); 6-vectors have
    their angular part first. ArgumentError names an argument of a wrong shape, or with NaN or inf.
    """

    @classmethod
    def named(cls, name: str) -> 'Robot':
        """Return a robot of the package, for instance ``'aubo_i5'``; UnknownNameError lists the names.

        Parameters
        ----------
        name : str
            Name of the robot, without ``.urdf``.

        Returns
        -------
        Robot
        """
        return cls(named_model(name))

    @classmethod
    def from_description(
        cls,
        source: str | Path,
        mimic: str = 'ignore',
        loops_file: str | Path | None = None,
        xacro_args: Mapping[str, str | float] | None = None,
    ) -> 'Robot':
        """Return the robot of any description, as commands do: ``named`` or by its format.

        A name that ends with _description is one of the Python package robot_descriptions, which clones the repository
        of the description at the first call; of its formats URDF comes first, then xacro, then MJCF. xacro files need
        the Python package xacro. Raises ModelError as ``from_urdf``, ``from_sdf`` and the like do, and where a
        package is not installed; UnknownNameError lists the robots of the package; ArgumentError for ``xacro_args``
        without a xacro file.

        Parameters
        ----------
        source : str or Path
            Name of a robot of the package or of robot_descriptions, path or URI of a URDF, xacro, SDF, MJCF or YAML
            file, or text of a URDF or SDF.
        mimic
        loops_file
        xacro_args : mapping, optional
            Text or numbers by name for the arguments of a xacro file, such as ``{'ur_type': 'ur5e', 'name': 'ur'}``.

        Returns
        -------
        Robot
        """
        validation.choice('mimic', mimic, MIMIC)
        found = found_description(source, xacro_args)
        return cls(*model_from_description(found, couple_mimics=mimic == 'couple', loops_file=loops_file))

    @classmethod
    def from_urdf(
        cls,
        source: str | Path,
        base_link: str | None = None,
        tip_link: str | None = None,
        mimic: str = 'ignore',
        gravity: ArrayLike | None = None,
        loops_file: str | Path | None = None,
    ) -> 'Robot':
        """Return the robot of a URDF, or its ``chain``; ModelError names an unsupported element.

        A joint that mimics another is imported as an independent joint and reported as a finding; with
        ``mimic='couple'`` it has a ``Coupling`` with the joint that it mimics, if such a joint moves. Closed loops are
        those that the URDF states, such as by a joint in <gazebo>, and those of ``loops_file``. Gravity is
        (0, 0, -9.81) in the frame of the URDF's root, unless it is given. Raises ArgumentError.

        Parameters
        ----------
        source
        base_link
        tip_link
        mimic
        gravity
        loops_file

        Returns
        -------
        Robot
        """
        validation.choice('mimic', mimic, MIMIC)
        model = model_from_urdf(source, couple_mimics=mimic == 'couple', loops_file=loops_file)
        return cls(*chain(model, GRAVITY, base_link, tip_link, gravity))

    @classmethod
    def from_sdf(cls, source: str | Path, mimic: str = 'ignore') -> 'Robot':
        """Return the robot of an SDF, with the gravity of its <world>; ModelError names an unsupported element.

        SDFormat 1.4 to 1.12 is read. The base is the world where a joint holds the robot in it, else the link that no
        joint moves; without a <world> gravity is 9.81 m/s^2 along -z of the world. Springs of joints are read, joints
        that give a link a second way to the base close loops, and ``findings`` say what is left out. Files that it
        includes are not opened.

        Parameters
        ----------
        source
        mimic

        Returns
        -------
        Robot
        """
        validation.choice('mimic', mimic, MIMIC)
        return cls(*model_from_sdf(source, mimic == 'couple'))

    @classmethod
    def from_dh(
        cls, rows: Sequence[DHRow | Mapping[str, object]], convention: str = 'standard', **more: Any
    ) -> 'Robot':
        """Return the robot of a Denavit-Hartenberg table; see ``formats.dh.model_from_dh``.

        Parameters
        ----------
        rows : list of DHRow or mapping
            Rows of the table: a (m), alpha (rad), d (m), theta (rad) and other fields.
        convention : {'standard', 'modified'}
            Distal (Siciliano) or proximal (Craig) Denavit-Hartenberg parameters.
        more : optional
            Other keyword arguments of ``model_from_dh``.

        Returns
        -------
        Robot
        """
        return cls(model_from_dh(rows, convention, **more))

    @classmethod
    def from_mjcf(cls, source: str | Path, springs: bool = True) -> 'Robot':
        """Return the robot of an MJCF with the gravity of that file, with or without springs of joints; needs MuJoCo.

        ``findings`` say what is left out, such as limits of tendons and a medium.

        Parameters
        ----------
        source
        springs : bool
            Whether springs of joints become part of the robot. Without them, a finding names each.

        Returns
        -------
        Robot
        """
        return cls(*model_from_mjcf(source, springs))

    @classmethod
    def from_yaml(cls, source: str | Path) -> 'Robot':
        """Return the robot of a YAML file or text by ``to_yaml``.

        Parameters
        ----------
        source

        Returns
        -------
        Robot
        """
        return cls(*model_from_yaml(source))

    def prepare(self, *quantities: str) -> None:
        """Look up the code of quantities now: the first call of their methods takes no longer than later ones.

        For instance before a control loop starts: otherwise the first call of a quantity in a process takes some
        milliseconds, and reads files. Raises ArgumentError for an unknown name.

        Parameters
        ----------
        quantities
        """
        for name in quantities:
            quantity = self._evaluator.prepare(key_of(name))
            self._evaluator.calls[name] = quantity.call

    def to_urdf(self) -> str:
        """Return this robot as URDF text, without rotors, gears, torque constants and further friction terms.

        Couplings of degree one become <mimic>. Raises ModelError naming what a URDF cannot hold, such as a closure.

        Returns
        -------
        str
        """
        return urdf_of(self._model)

    def to_yaml(self) -> str:
        """Return this robot as YAML text with gravity and lumped payloads, without the findings of the model check.

        Raises ModelError naming a joint of several coordinates of which some have limits.

        Returns
        -------
        str
        """
        return yaml_of(self._model, self._setting.gravity)
