"""Compiled code of a robot: how it is chosen, compiled ahead, called from other code, and exported as C."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.table import ALGORITHMS
from robot_dynamics_ros.codegen.specialised import code_of
from robot_dynamics_ros.evaluation.c_export import PROGRAMS, Program, write_c
from robot_dynamics_ros.evaluation.described_robot import ALIGNED, Described, DescribedRobot
from robot_dynamics_ros.jit.decorators import numba_is_disabled

BINDINGS = ('generic', 'adaptive', 'specialised')


class CompiledCode(DescribedRobot):
    """The binding of a robot to generic kernels or to code of its own, and access to that code."""

    def with_binding(self: Described, binding: str, threads: int | None = None) -> Described:
        """Return this robot with another way of choosing code; results are equal, up to the sign of a zero.

        ``'generic'`` uses the kernels that all robots share. ``'specialised'`` compiles code for this robot at the
        first use of each quantity. ``'adaptive'``, the default of new robots, uses such code where it was compiled
        before, and compiles it in the background once use shows that this pays. It is kept on disk. Gravity and a
        payload on the last link are run-time inputs; with changed payloads on other links generic kernels are used.
        Batches use ``threads`` cores (None: all).

        Parameters
        ----------
        binding : {'generic', 'adaptive', 'specialised'}
            How code is chosen.
        threads : int, optional
            Number of cores that a large batch may use. Default: all.

        Returns
        -------
        Robot
        """
        validation.choice('binding', binding, BINDINGS)
        wanted = binding != 'generic' and self.nv > 0 and not numba_is_disabled()
        code = code_of(self._evaluator.arrays, threads) if wanted else None
        return self._changed(code=code, threads=threads, adaptive=binding == 'adaptive')

    def compiled(self, *quantities: str):
        """Return this robot with ``'specialised'`` binding, the code of ``quantities`` compiled now: names of methods.

        Without names, inverse and forward dynamics, mass matrix, bias and gravity torques. Raises ArgumentError.

        Parameters
        ----------
        quantities : str
            Names of methods, for instance ``inverse_dynamics``.

        Returns
        -------
        Robot
        """
        robot = self.with_binding('specialised', self._setting.threads)
        for name in quantities or PROGRAMS:
            validation.choice('quantities', name, ALGORITHMS)
            robot._evaluator.compile(name)
        return robot

    @property
    def binding(self) -> str:
        """The binding in use: ``'generic'``, ``'adaptive'`` or ``'specialised'``; see ``with_binding``."""
        if self._evaluator.specialised is None:
            return 'generic'
        return 'adaptive' if self._setting.adaptive else 'specialised'

    def kernel(self, program: str, link: str | None = None, reference_frame: str = ALIGNED) -> Callable:
        """Return a quantity, of the frame of ``link`` if given, as a function that Numba inlines in your code.

        Its arguments are the joint vectors of the method, ``robot.runtime_inputs`` and the result: C-contiguous arrays
        of float64, with flat matrices. It returns whether all numbers are finite; lengths are not checked.
        ArgumentError lists the names; it is also raised if generic kernels are in use.

        Parameters
        ----------
        program : str
            Name of a quantity, for instance ``inverse_dynamics``.
        link : str
            Name of a link or frame, one of ``frame_names``.
        reference_frame : {'local_world_aligned', 'local', 'world'}
            How 6-vectors (angular, linear) are expressed: at the origin of the link in the axes of the base, at the
            origin of the link in its own axes, or at the origin of the base in its axes.

        Returns
        -------
        Callable
        """
        return self._evaluator.code(program, 'inline', link, reference_frame)

    def address(self, program: str, link: str | None = None, reference_frame: str = ALIGNED) -> int:
        """Return the address of a quantity's compiled code, for any language in this process.

        In C: ``bool f(const double *q, ..., const double *runtime_inputs, double *result)``, with arguments and result
        as for ``kernel``. The address is valid as long as the robot exists. Raises ArgumentError as ``kernel`` does.

        Parameters
        ----------
        program : str
            Name of a quantity, for instance ``inverse_dynamics``.
        link : str
            Name of a link or frame, one of ``frame_names``.
        reference_frame : {'local_world_aligned', 'local', 'world'}
            How 6-vectors (angular, linear) are expressed: at the origin of the link in the axes of the base, at the
            origin of the link in its own axes, or at the origin of the base in its axes.

        Returns
        -------
        int
        """
        return self._evaluator.code(program, 'address', link, reference_frame)

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
        return write_c(self._evaluator, self.digest, folder, programs, type(self))

    @property
    def runtime_inputs(self) -> np.ndarray:
        """Run-time inputs of ``kernel`` and ``address``, (19,).

        Gravity (3, m/s^2), the ten inertial parameters of the last link with its payload (10), and a wrench on that
        link in its own frame (6; N m, N), zeros here.
        """
        return self._inputs.copy()

    @property
    def load(self) -> np.ndarray:
        """Deprecated: the former name of ``runtime_inputs``."""
        warnings.warn('load is deprecated: read runtime_inputs', DeprecationWarning, stacklevel=2)
        return self.runtime_inputs
