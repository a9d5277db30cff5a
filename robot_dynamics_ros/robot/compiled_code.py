"""Code of a robot's own: how it is asked for, called from other code, and exported as C."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot.described_robot import ALIGNED, Described, DescribedRobot, Program
from robot_dynamics_ros.robot.export.differentiable import differentiable
from robot_dynamics_ros.robot.quantity_key import key_of
from robot_dynamics_ros.robot.shared_parameters import documented

if TYPE_CHECKING:
    import casadi
    import jax
    import torch

PROGRAMS = ('torque', 'inverse_dynamics', 'gravity_torque', 'bias_torque', 'mass_matrix', 'forward_dynamics')
"""Quantities that are exported as C by default."""


@documented()
class CompiledCode(DescribedRobot):
    """Code of a robot's own: how it is asked for, called from other code, and exported as C."""

    def compiled(self: Described, *quantities: str, threads: int | None = None) -> Described:
        """Return this robot with code of its own, that of ``quantities`` compiled now, others at their first call.

        Without it, all robots share the code that was compiled when this package was built; only a batch of a million
        states has code of the robot's own compiled. Results are equal, up to the sign of a zero. Code is kept on disk.
        Gravity and a payload on the last link are run-time inputs of it; with changed payloads on other links the
        shared code is used. Raises ArgumentError.

        Parameters
        ----------
        quantities
        threads : int, optional
            Number of cores that a large batch may use. Default: all.

        Returns
        -------
        Robot
        """
        keys = [key_of(name) for name in quantities]
        robot = self._changed(compiled=self._evaluator.arrays, threads=threads)
        for key in keys:
            robot._evaluator.prepare(key)
        return robot

    @property
    def is_compiled(self) -> bool:
        """Whether code of this robot's own is used; see ``compiled``."""
        return self._evaluator.asked

    def kernel(self, program: str, link: str | None = None, reference_frame: str = ALIGNED) -> Callable:
        """Return a quantity, of the frame of ``link`` if given, as a function that your code for Numba calls.

        Its arguments are the joint vectors of the method, ``robot.runtime_inputs`` and the result: C-contiguous arrays
        of float64, with flat matrices. It returns whether all numbers are finite; lengths are not checked.
        ArgumentError lists the names. Numba compiles your code in each process again: it caches no addresses.

        Parameters
        ----------
        program
        link
        reference_frame

        Returns
        -------
        Callable
        """
        # needs Numba
        from robot_dynamics_ros.codegen.called_address import called_address  # noqa: PLC0415

        return called_address(program, *self._evaluator.address(program, link, reference_frame))

    def address(self, program: str, link: str | None = None, reference_frame: str = ALIGNED) -> int:
        """Return the address of a quantity's compiled code, for any language in this process.

        In C: ``bool f(const double *q, ..., const double *runtime_inputs, double *result)``, with arguments and result
        as for ``kernel``. The address is valid as long as the robot exists. Raises ArgumentError as ``kernel`` does.

        Parameters
        ----------
        program
        link
        reference_frame

        Returns
        -------
        int
        """
        _, address, _ = self._evaluator.address(program, link, reference_frame)
        return address

    def export_c(self, folder: str | Path, programs: Sequence[Program] = PROGRAMS) -> list[Path]:
        """Write quantities of this robot as C99, and a CMakeLists.txt; return the paths of the files.

        The results have the same bits as those of specialised code. Gravity, the last link's inertia with its payload,
        and a wrench on that link are run-time inputs. Raises ArgumentError, before anything is written, for a
        program that does not exist and for a file in ``folder`` that is not of an earlier export of this robot.

        Parameters
        ----------
        folder : str or Path
            Folder of the files. It is created if it does not exist.
        programs : list of str or tuple
            Quantities: names such as ``inverse_dynamics``, and for one of a frame tuples such as ``('link_pose',
            'tool0')`` and ``('jacobian', 'tool0', 'local')``.

        Returns
        -------
        list
        """
        # imported by those who export, with the code that traces
        from robot_dynamics_ros.robot.export.c_export import write_c  # noqa: PLC0415

        return write_c(self._evaluator, self.digest, folder, programs, type(self))

    def casadi(
        self,
        program: str,
        link: str | None = None,
        reference_frame: str = ALIGNED,
        inputs: Collection[str] = (),
        payload_link: str | None = None,
    ) -> 'casadi.Function':
        """Return a quantity, of the frame of ``link`` if given, as a function of CasADi's SX; needs CasADi.

        It is for one state: its inputs are the joint vectors of the method, as columns, and further ``inputs``; its
        output is ``result``. Results with three axes are stacked: those of (3, nv, nv) are (3 nv, nv). CasADi
        differentiates it. No number is checked: quaternions need length 1, and results at singular positions are wrong.

        Raises ArgumentError for an unknown name, which lists those that exist, and if CasADi is not installed;
        ModelError for closed loops, whose tree is ``with_loops([])``, and as the method does; UnknownNameError.

        Parameters
        ----------
        program
        link
        reference_frame
        inputs : collection of {'gravity', 'payload'}
            Further inputs, which are constants otherwise: gravity (3, m/s^2, base frame), and
            ``Payload.ten_parameters`` (10: kg, kg m, kg m^2) of a payload beside those that the robot has. Default:
            neither, results are those of this robot.
        payload_link : str, optional
            Link or frame that carries the payload of ``inputs``, as in ``with_payload``. Default: the last link.

        Returns
        -------
        casadi.Function
        """
        with needs('casadi', 'CasADi'):
            from robot_dynamics_ros.robot.export.casadi_export import function_of  # noqa: PLC0415
        return function_of(self._evaluator, program, link, reference_frame, inputs, payload_link)

    def jax(self, program: str, link: str | None = None) -> 'Callable[..., jax.Array]':
        """Return a quantity, of the frame of ``link`` if given, as a function of JAX; needs JAX.

        Its arguments are the joint vectors of the method, (..., n) of float64 on the processor, in its units; they are
        broadcast. Compiled code computes values, with the method's bits, and exact first derivatives: JAX
        differentiates, maps and compiles calls of it (grad, jvp, vmap, jit).

        Quantities: inverse_dynamics, forward_dynamics, torque, acceleration, bias_torque, gravity_torque, mass_matrix,
        kinetic_energy, potential_energy, total_energy, center_of_mass; of the frame of a link: link_pose.

        Raises ArgumentError for another one, which lists these, and if JAX is not installed; ModelError for planar,
        spherical and free joints, and as the method does; UnknownNameError. The function raises ArgumentError for other
        shapes, float32, other devices, and second derivatives. Errors of computing under ``jit`` are JAX's, with the
        method's message in theirs.

        Parameters
        ----------
        program
        link

        Returns
        -------
        Callable
        """
        with needs('jax', 'JAX'):
            from robot_dynamics_ros.robot.export.jax_export import function_of  # noqa: PLC0415
        return function_of(differentiable(self._evaluator, program, link))

    def torch(self, program: str, link: str | None = None) -> 'Callable[..., torch.Tensor]':
        """Return a quantity, of the frame of ``link`` if given, as a function of PyTorch; needs PyTorch.

        As ``jax``, for tensors (..., n) of ``torch.float64`` on the processor: ``backward``, ``torch.func`` and forward
        derivatives apply. Raises ArgumentError, ModelError and UnknownNameError as ``jax`` does.

        Parameters
        ----------
        program
        link

        Returns
        -------
        Callable
        """
        with needs('torch', 'PyTorch'):
            from robot_dynamics_ros.robot.export.torch_export import function_of  # noqa: PLC0415
        return function_of(differentiable(self._evaluator, program, link))

    @property
    def runtime_inputs(self) -> np.ndarray:
        """Run-time inputs of ``kernel`` and ``address``, (19,).

        Gravity (3, m/s^2), the ten inertial parameters of the last link with its payload (10), and a wrench on that
        link in its own frame (6; N m, N), zeros here.
        """
        return self._inputs.copy()


@contextmanager
def needs(package: str, library: str) -> Iterator[None]:
    """Raise ArgumentError where a module cannot be imported because a library's package is not installed."""
    try:
        yield
    except ModuleNotFoundError:
        raise ArgumentError(f'{package}: {library} is not installed: pip install {package}') from None
