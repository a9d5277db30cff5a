"""Export of a robot's quantities as C99: choice of the functions, their comments, and writing of the files."""

from collections.abc import Iterable, Mapping, Sequence
from inspect import cleandoc
from pathlib import Path
from types import FunctionType

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.program import algorithm_of
from robot_dynamics_ros.algorithms.table import ALGORITHMS, OF_A_FRAME, QUANTITIES, Algorithm
from robot_dynamics_ros.codegen.c import functions as c
from robot_dynamics_ros.codegen.c.text import identifier, mark, numbered
from robot_dynamics_ros.codegen.straight_line import StraightLine
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.model.configuration import neutral
from robot_dynamics_ros.robot.described_robot import ALIGNED, Program
from robot_dynamics_ros.robot.evaluator import Evaluator
from robot_dynamics_ros.robot.quantity_key import QuantityKey, named
from robot_dynamics_ros.robot.shared_parameters import meaning

WITHOUT_METHOD = {
    'forward_dynamics_on_moving_base': ('Joint accelerations on a moving base.', 'rad/s^2 (prismatic: m/s^2).'),
    'inverse_dynamics_on_moving_base': ('Joint torques of a motion on a moving base.', 'N m (prismatic: N).'),
    'loop_step': ("Step M^-1 J' (J M^-1 J')^-1 change of positions or velocities.", 'rad (prismatic: m); also per s.'),
    'link_poses': ('Poses T of all links in the base frame: x_base = T x_link.', 'Translation in m.'),
}
"""Description and unit of the quantities that have no method of their own."""
INPUTS = {
    **{vector: meaning(vector) for vector in ('q', 'qd', 'qdd', 'tau')},
    'base_velocity': "Velocity of the base's origin, angular part first, in the base's axes; rad/s, m/s.",
    'base_acceleration': 'Classical acceleration of that point in the same form; rad/s^2, m/s^2.',
    'change': 'Change of the residuals of the constraints, in rad or m; or of their rates.',
    'rates': 'Rates of the residuals of the constraints, in rad/s or m/s.',
    'accelerations': 'Accelerations of the residuals of the constraints, in rad/s^2 or m/s^2.',
    'torques': 'Torque of each closure in N m.',
}
"""Description of each input."""


def write_c(
    evaluator: Evaluator,
    digest: str,
    folder: str | Path,
    programs: Sequence[Program],
    methods: type,
    others: Sequence[tuple[Evaluator, Sequence[Program]]] = (),
    addition: c.Addition | None = None,
) -> list[Path]:
    """Write source, header and CMakeLists.txt of the functions for ``programs`` and return their paths.

    The docstrings of ``methods``, a class, become the comments of the functions. ``others`` are functions of the same
    joints with closed loops, and an ``addition`` calls all of them.

    Raises, before anything is written: ArgumentError for a program that does not exist or occurs twice, and for a file
    in ``folder`` that is not of an earlier export of this robot; ModelError for a joint without inertia in forward
    dynamics, for a Coriolis matrix of joints that have none, and for quantities of loops that the robot does not have.
    """
    model = evaluator.model
    if not model.joint_names:
        raise ModelError(f'{model.name}: no joint moves, so that there is nothing to export')
    folder = validation.output_folder('folder', folder)
    try:
        prefix = identifier(model.name, 'robot')
        functions = _functions(evaluator, prefix, programs, methods)
        for other, of_loops in others:
            functions += _functions(other, prefix, of_loops, methods)
        export = c.Export(model, digest, evaluator.inputs, functions, addition)
        texts = {
            folder / f'{export.title}.h': c.header(export),
            folder / f'{export.title}.c': c.source(export),
            folder / 'CMakeLists.txt': c.cmake(export),
        }
    except ArithmeticError:
        error = evaluator.without_inertia(model.name, neutral(model.arrays)[None])
        raise error or ModelError(f'{model.name}: its numbers are too large for constants in C') from None
    check_replaceable(texts, export.title)
    return write_files(texts)


def check_replaceable(paths: Iterable[Path], title: str) -> None:
    """Raise ArgumentError for a file that exists and whose first line lacks the ``mark`` of an export of ``title``."""
    for path in paths:
        if path.exists() and mark(title) not in path.read_text(encoding='utf-8', errors='replace').partition('\n')[0]:
            raise ArgumentError(f'folder: {path} exists and is not of an export of {title}; choose another one')


def write_files(texts: Mapping[Path, str]) -> list[Path]:
    """Write files, with the folders that they need, and return their paths."""
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding='utf-8')
    return list(texts)


def _functions(evaluator: Evaluator, prefix: str, programs: Sequence[Program], methods: type) -> list[c.Function]:
    """Return the functions for ``programs``, with identifiers that differ."""
    if isinstance(programs, str) or not isinstance(programs, Sequence) or not programs:
        raise ArgumentError(f'programs: expected a list of quantities, got {programs!r:.80}')
    functions: dict[QuantityKey, c.Function] = {}
    for program in programs:
        key = _key(program)
        algorithm = algorithm_of(key.name, len(key.links))
        if key in functions:
            raise ArgumentError(f'programs: {program!r:.80} occurs twice')
        if algorithm.of_loops and not evaluator.arrays.constraints:
            raise ModelError(f'{program}: {evaluator.model.name} has no closed loops')
        steps = evaluator.program(key)
        if not all(steps.inputs.values()):  # torques of closures where all loops are couplings
            raise ModelError(f'{program}: {evaluator.model.name} has no loop closures')
        axes = [key.reference_frame] if key.links and key.name != 'link_pose' else []
        name = c.function_name(prefix, key.name, *key.links, *axes)
        own = numbered(name, {function.code.name for function in functions.values()})
        arrays = evaluator.model.arrays if algorithm.bodies else evaluator.arrays
        code = StraightLine.of(steps, arrays)._replace(name=own)
        functions[key] = c.Function(code, _paragraphs(key, algorithm, methods))
    return list(functions.values())


def _key(program: Program) -> QuantityKey:
    """Return the evaluator's key of a program; ArgumentError unless it has one of the forms of ``Program``."""
    if isinstance(program, str) and program in ALGORITHMS:
        return QuantityKey(program)
    if isinstance(program, tuple) and len(program) in (2, 3) and isinstance(program[0], str):
        name, link, *reference_frame = program
        if name == 'link_pose' and not reference_frame:
            return QuantityKey(name, (link,), 'world')
        if name != 'link_pose' and name in OF_A_FRAME:
            return QuantityKey(name, (link,), reference_frame[0] if reference_frame else ALIGNED)
    raise ArgumentError(
        f'programs: expected names among {", ".join(QUANTITIES)}, or tuples (name, link) or (name, link, '
        f'reference_frame) with a name among {", ".join(OF_A_FRAME)}, got {named(program, [*QUANTITIES, *OF_A_FRAME])}'
    )


def _paragraphs(key: QuantityKey, algorithm: Algorithm, methods: type) -> tuple[str, ...]:
    """Return the comment of a function: what it computes, then arguments and result with shapes and units."""
    name = key.name
    computed, unit = WITHOUT_METHOD[name] if name in WITHOUT_METHOD else _documented(getattr(methods, name))
    for link in key.links:
        computed += f' Frame: {link}; reference frame: {key.reference_frame}.'
    shape = ' x '.join(map(str, algorithm.shape)) or '1'
    return (computed, '', *(f'{vector}: {INPUTS[vector]}' for vector in algorithm.inputs), f'result ({shape}): {unit}')


def _documented(method: FunctionType) -> tuple[str, str]:
    """Return what a method computes and the unit of its result, by its docstring; python -OO leaves none."""
    computed, _, sections = cleandoc(method.__doc__ or '').partition('\n')
    _, _, result = sections.partition('Returns\n-------\nndarray, ')
    return computed.replace('``', ''), ' '.join(result.split('\n    ')[1:])
