"""The core of robot_dynamics_controllers for tests: compiled once a session, and called through C."""

import ctypes
import fcntl
import functools
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

from support.project.project_files import ROOT

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.codegen.c.frame_law import FrameLawCode
from robot_dynamics_ros.codegen.c.library import library_source
from robot_dynamics_ros.control.arm.driven_code import driven_library, write_driven_c
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.robot.export.c_library_export import controller_library

PACKAGE = ROOT / 'robot_dynamics_controllers'
INCLUDE = PACKAGE / 'include'
WARNINGS = ('-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Wno-sign-conversion', '-Werror', '-ffp-contract=off')
OUTCOMES = (
    'inactive', 'sent', 'gravity_only', 'reference_refused', 'state_held', 'state_lost', 'stopping', 'stopped', 'held',
)  # fmt: skip
RATE = 1000.0
"""Hz, of the updates."""
MILLISECOND = 1_000_000
NONE, MOTION, BOTH, EFFORT = range(4)
"""Kinds of references."""
FOLDER: list[Path] = []


def run(*command) -> str:
    """Return what a command prints; it has to succeed."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    text = done.stdout.decode(errors='replace')
    assert done.returncode == 0, text
    return text


def use_folder(folder: Path) -> None:
    """Keep compiled files in ``folder``, which several processes may share."""
    folder.mkdir(exist_ok=True)
    FOLDER[:] = [folder]


def folder() -> Path:
    """Return the folder of compiled files."""
    return FOLDER[0]


@contextmanager
def made_once(path: Path):
    """Give a path to write to, or None where ``path`` exists; other processes wait meanwhile. It is tried once."""
    with path.with_name(f'{path.name}.lock').open('a+') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():
            yield None
            return
        assert not lock.tell(), f'{path.name} could not be compiled before'
        lock.write('tried')
        lock.flush()
        unfinished = path.with_name(f'unfinished_{path.name}')
        yield unfinished
        unfinished.rename(path)


def compiled(compiler: str, name: str, source: str, *options) -> Path:
    """Return a compiled C++ file of the package's tests."""
    path = folder() / name
    with made_once(path) as target:
        if target:
            options = ('-std=c++17', *WARNINGS, '-I', INCLUDE, '-I', PACKAGE / 'src', *options)
            run(compiler, PACKAGE / 'test' / source, *options, '-o', target, '-ldl', '-pthread')
    return path


def exported(robot: Robot | DrivenRobot, name: str, frame_law: FrameLawCode | None = None) -> Path:
    """Return the shared library of a robot, as its package builds it."""
    sources = folder() / name
    with made_once(folder() / f'{name}.so') as target:
        if target:
            driven = isinstance(robot, DrivenRobot)
            library = (driven_library if driven else controller_library)(robot, frame_law)
            if driven:
                _, dynamics, _ = write_driven_c(robot, sources, frame_law)
            else:
                _, dynamics, _ = robot.export_c(sources, library.programs)
            source = sources / f'{library.title}.c'
            source.write_text(library_source(library))
            linked(target, source, dynamics)
    return folder() / f'{name}.so'


def linked(path: Path, *sources) -> Path:
    """Return a shared library of C files, compiled as CMakeLists.txt says."""
    strict = ('-std=c99', '-trigraphs', '-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Werror')
    run('gcc', *strict, '-O1', '-ffp-contract=off', '-shared', '-fPIC', '-I', INCLUDE, *sources, '-o', path, '-lm')
    return path


@functools.cache
def core(compiler: str = 'gcc') -> ctypes.CDLL:
    """Return the core with the functions of test/driver.cpp, optimised by gcc."""
    compiler, level = {'gcc': ('g++', '-O1'), 'clang': ('clang++', '-O0')}[compiler]
    driver = ctypes.CDLL(str(compiled(compiler, f'{compiler}_driver.so', 'driver.cpp', level, '-shared', '-fPIC')))
    driver.law_new.restype = driver.terms_new.restype = ctypes.c_void_p
    return driver


def has_compilers(*names: str) -> bool:
    """Return whether the compilers are there, by default gcc's of C and C++."""
    return all(map(shutil.which, names or ('gcc', 'g++')))


def has_sanitizer(kinds: str) -> bool:
    """Return whether g++ has sanitizers, such as 'thread', and their programs run.

    Their libraries may not be installed, and older ones refuse to start where the kernel randomizes addresses more
    than they expect.
    """
    path = folder() / f'sanitized_{kinds}'
    empty = subprocess.run(
        ['g++', '-x', 'c++', '-', f'-fsanitize={kinds}', '-o', path], input='int main() {}', text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    return not empty.returncode and not subprocess.run([path], capture_output=True, check=False).returncode


def _numbers(values) -> ctypes.c_void_p:
    return values.ctypes.data_as(ctypes.c_void_p)


def _text(text: str) -> bytes:
    return text.encode()


def body_numbers(payload) -> np.ndarray:
    """Return mass, centre and inertia of a payload in the order of messages, (10,)."""
    J = np.asarray(payload.inertia)
    return np.array([payload.mass, *payload.com, J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])


NO_BODY = np.zeros(10)


class Law:
    """An EffortLaw; ValueError with type and text of a C++ exception."""

    def __init__(
        self, library, joints, preset='', gravity_owner='', compensation=(), measured=False, effort_limit=(0.0,),
        rate_limit=(0.0,), fade_in_time=-1.0, ramp_time=0.5, reference_timeout=0.1, update_rate=RATE, digest='',
        compiler='gcc', stiffness=0.0, damping=0.0, rehearses=False, torque_delay=0.0,
        control_law='pd_feedforward',
    ):  # fmt: skip
        self.core, self.n = core(compiler), len(joints)
        effort, rate = np.array(effort_limit, float), np.array(rate_limit, float)
        times = np.array([fade_in_time, ramp_time, reference_timeout, update_rate, torque_delay])
        gains = np.array([np.broadcast_to(it, self.n) for it in (stiffness, damping)], float)
        self._said = ctypes.create_string_buffer(2000)
        made = self.core.law_new(
            str(library).encode(), _text('\n'.join(joints)), _text(preset), _text(gravity_owner),
            _text('\n'.join(compensation)), int(measured), _numbers(effort), len(effort), _numbers(rate), len(rate),
            _numbers(times), _numbers(gains), _text(control_law), _text(digest), int(rehearses), self._said,
            ctypes.c_size_t(len(self._said)),
        )  # fmt: skip
        if not made:
            raise ValueError(self._said.value.decode())
        self.handle: ctypes.c_void_p | None = ctypes.c_void_p(made)
        self.now = 1_700_000_000_000_000_000

    def __del__(self):
        if getattr(self, 'handle', None):
            self.core.law_delete(self.handle)

    def activate(self, last=None) -> None:
        self.core.law_activate(self.handle, None if last is None else _numbers(np.array(last, float)))

    def deactivate(self) -> None:
        self.core.law_deactivate(self.handle)

    def resume(self) -> None:
        self.core.law_resume(self.handle)

    def want_stiffness(self, stiffness, frame='') -> None:
        """Have the frame follow a stiffness (6); ValueError with type and text of a C++ exception."""
        self._want(stiffness, frame, None)

    def want_wrench(self, wrench, frame='', now=None, steady=None, waited=0, age=0) -> None:
        """Add a wrench (6) of a message that came at ``now`` (ns, that of the last update), likewise; see Arrival."""
        now = self.now if now is None else now
        self._want(wrench, frame, np.array([now, now if steady is None else steady, waited, age], np.int64))

    def _want(self, numbers, frame, times) -> None:
        said, numbers = self._said, np.array(numbers, float)
        at = None if times is None else _numbers(times)
        self.core.law_want(self.handle, _text(frame), _numbers(numbers), at, said, ctypes.c_size_t(len(said)))
        if said.value:
            raise ValueError(said.value.decode())

    @property
    def commands(self) -> np.ndarray:
        """Stiffness that the last torque followed and had, and its wrench in the axes of base and frame, (4, 6)."""
        found = np.empty((4, 6))
        self.core.law_commands(self.handle, _numbers(found))
        return found

    @property
    def stiffness(self) -> np.ndarray:
        """The stiffness (6) that the last torque followed."""
        return self.commands[0]

    @property
    def loop_fault(self) -> str:
        """Why loops are not closed at the state or reference of the last update."""
        self.core.law_loop_fault(self.handle, self._said, ctypes.c_size_t(len(self._said)))
        return self._said.value.decode()

    def recent_loop_fault(self) -> str:
        """Return why loops were not closed at a state or reference since the last call."""
        self.core.law_recent_loop_fault(self.handle, self._said, ctypes.c_size_t(len(self._said)))
        return self._said.value.decode()

    @property
    def warning(self) -> str:
        """What limits the law of a frame."""
        self.core.law_warning(self.handle, self._said, ctypes.c_size_t(len(self._said)))
        return self._said.value.decode()

    def end_finished_ramps(self) -> None:
        self.core.law_end_finished_ramps(self.handle, ctypes.c_int64(self.now))

    def request_stop(self) -> None:
        self.core.law_request_stop(self.handle, ctypes.c_int64(self.now))

    @property
    def stopped(self) -> bool:
        return bool(self.core.law_stopped(self.handle))

    @property
    def blends(self) -> bool:
        return bool(self.core.law_blends(self.handle))

    def reset(self) -> None:
        """Clear what the limiter counts and the joints that it names."""
        self.core.law_reset(self.handle)

    def count(self, flag: int) -> int:
        """Return how many efforts had a flag of the limiter."""
        self.core.law_count.restype = ctypes.c_uint64
        return self.core.law_count(self.handle, flag)

    def limited(self, joint: int) -> int:
        return self.core.law_limited(self.handle, joint)

    def clock_set(self, before: int, after: int) -> None:
        self.core.law_clock_set(self.handle, ctypes.c_int64(before), ctypes.c_int64(after))

    def payload(self, after=NO_BODY, frame='', before=(), start=0, duration=0, now=None):
        """Return (accepted, early, message) for numbers of a body and pairs (frame, numbers) before it."""
        rows = np.array([numbers for _, numbers in before], float).ravel()
        after = np.array(after, float)
        return self._taken(
            self.core.law_payload, _text(frame), _numbers(after), _text(''.join(f'{name}\n' for name, _ in before)),
            _numbers(rows), *self._span(start, duration, now),
        )  # fmt: skip

    def gravity(self, after, before, frame='', start=0, duration=0, now=None):
        """Return (accepted, early, message)."""
        after, before = np.array(after, float), np.array(before, float)
        span = self._span(start, duration, now)
        return self._taken(self.core.law_gravity, _text(frame), _numbers(after), _numbers(before), *span)

    def updates(self, states, references=None, kinds=NONE, times=None, period=1.0 / RATE):
        """Return efforts (count, n) and names of outcomes for states (count, 2, n) and references (count, 4, n)."""
        states = np.ascontiguousarray(states, float)
        count = len(states)
        references = np.zeros((count, 4, self.n)) if references is None else np.ascontiguousarray(references, float)
        kinds = np.broadcast_to(np.asarray(kinds, np.int32), count).copy()
        if times is None:
            times = self.now + round(period * 1e9) * np.arange(1, count + 1)
        times = np.ascontiguousarray(times, np.int64)
        efforts, outcomes = np.full((count, self.n), 7e7), np.zeros(count, np.int32)
        assert states.shape == (count, 2, self.n) and references.shape == (count, 4, self.n)
        self.core.law_updates(
            self.handle, count, self.n, _numbers(times), ctypes.c_double(period), _numbers(states),
            _numbers(references), _numbers(kinds), _numbers(efforts), _numbers(outcomes),
        )  # fmt: skip
        self.now = int(times[-1])
        return efforts, [OUTCOMES[it] for it in outcomes]

    def _span(self, start, duration, now):
        return [ctypes.c_int64(it) for it in (start, duration, self.now if now is None else now)]

    def _taken(self, function, *arguments):
        said = self._said
        taken = function(self.handle, *arguments, said, ctypes.c_size_t(len(said)))
        return bool(taken & 1), bool(taken & 2), said.value.decode()


def counts_of(outcomes, written, reset_after=0) -> list[int]:
    """Return updates, followed ones, refused references, refused states, efforts not written, and activations."""
    numbers, counts = [np.array(it, np.int32) for it in (outcomes, written)], np.zeros(6, np.uint64)
    core().count_outcomes(*map(_numbers, numbers), len(outcomes), reset_after, _numbers(counts))
    return counts.tolist()


class Terms:
    """Policy and compensation of the core; ValueError as ``Law``."""

    def __init__(self, library, preset='', gravity_owner='', compensation=(), compiler='gcc'):
        self.core, said = core(compiler), ctypes.create_string_buffer(2000)
        made = self.core.terms_new(
            str(library).encode(), _text(preset), _text(gravity_owner), _text('\n'.join(compensation)), said,
            ctypes.c_size_t(len(said)),
        )  # fmt: skip
        if not made:
            raise ValueError(said.value.decode())
        self._terms = ctypes.c_void_p(made)
        self.owner, commands, motor_pd, fade_in_time, *self.names = said.value.decode().split()
        self.takes_commands, self.motor_pd = commands == 'commands', motor_pd == 'pd'
        self.fade_in_time = float(fade_in_time)

    def __del__(self):
        if hasattr(self, '_terms'):
            self.core.terms_delete(self._terms)

    def torques(self, motions, inputs):
        """Return torques (count, n) of motions (count, 3, n) and how many are finite."""
        motions, inputs = np.ascontiguousarray(motions, float), np.ascontiguousarray(inputs, float)
        count, _, n = motions.shape
        torques = np.full((count, n), 7e7)
        finite = self.core.terms_torques(self._terms, count, n, *map(_numbers, (motions, inputs, torques)))
        return torques, finite
