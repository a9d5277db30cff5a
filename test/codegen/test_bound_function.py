"""Functions with bound arguments: machine code does what the Python function does, and accepts nothing else."""

import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.guards import torque_limiter
from robot_dynamics_ros.control.joints import joint_friction, joint_order
from robot_dynamics_ros.control.laws import adaptation, joint_space_control
from robot_dynamics_ros.control.observers import friction_tracker
from robot_dynamics_ros.control.trajectories import reference
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory, sample
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.model.model import Friction
from robot_dynamics_ros.robot import friction
from robot_dynamics_ros.simulation.position_limits import is_beyond
from robot_dynamics_ros.simulation.step_arrays import Buffers, Plan, Stops
from robot_dynamics_ros.simulation.time_steps import change_velocities, end_step

pytestmark = pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: machine code is not used')

N = 6
FRICTION = len(Friction._fields)
ORDER = np.array([3, 0, 5, 1])


def numbers(random, *shape):
    """Return numbers of which some are zero, infinite or NaN."""
    special = random.choice([0.0, -0.0, np.inf, np.nan, -1e300], shape)
    return np.where(random.random(shape) < 0.03, special, random.normal(size=shape))


def of_counts(length=N):
    return np.zeros(length, np.int64), np.zeros((2, length), np.int64), *np.zeros((2, length))


def rows_of_friction(random):
    qd, tau, torque = numbers(random, 3, 5, N)
    return qd, tau, np.zeros(N), torque


def of_trajectory(random):
    times, positions = np.cumsum(random.uniform(0.1, 1.0, 4)), random.normal(size=(4, N))
    trajectory = Trajectory(times, positions, random.normal(size=(4, N)))
    return (*trajectory.segments, *np.zeros((3, N))), (float(random.uniform(-0.5, 4.0)),)


def of_record(random):
    clock = np.array([random.integers(100), random.integers(4), random.integers(-1, 3), 1])
    fastest, turn = 1e7 * np.abs(numbers(random, N)), np.where(random.integers(2, size=N), 0.5, 0.0)
    fixed = numbers(random, 4, N), numbers(random, 3), clock, 1e-7, 0.01, fastest, turn, numbers(random, 3, N)
    return fixed, (int(random.integers(200)), int(random.integers(3)), float(random.choice([0.0, 0.5])))


CASES = {
    'gather': (joint_order.gather, lambda random: ((), (numbers(random, N), ORDER, np.zeros(len(ORDER))))),
    'limit': (
        torque_limiter._limit,
        lambda random: (
            (*np.abs(numbers(random, 2, N)), numbers(random, N), *of_counts(), bool(random.integers(2))),
            (numbers(random, N), float(random.uniform(0.0, 2.0))),
        ),
    ),
    'feedback': (joint_space_control._feedback, lambda random: ((*numbers(random, 3, N),), (*numbers(random, 6, N),))),
    'sample': (sample, of_trajectory),
    'record': (reference._record, of_record),
    'extrapolate': (
        reference._extrapolate,
        lambda random: (
            (numbers(random, 4, N), random.integers(0, 3, 4), 1e-9 * random.integers(3), *np.zeros((3, N))),
            (int(random.integers(4)),),
        ),
    ),
    'friction': (
        joint_friction.add_friction,
        lambda random: ((numbers(random, FRICTION, N),), (*numbers(random, 3, N),)),
    ),
    'track friction': (
        friction_tracker.track_friction,
        lambda random: (
            (*np.abs(numbers(random, 2, N)), np.abs(numbers(random, N, 5)), *random.uniform(0.5, 1.0, (2, N)), 1.0),
            (*numbers(random, 3, N), float(random.choice([0.01, 0.5, 0.0]))),
        ),
    ),
    'friction of rows': (
        friction._of_rows,
        lambda random: ((np.array(numbers(random, FRICTION, N)), np.zeros((0, 0))), rows_of_friction(random)),
    ),
    'friction of rows of coupled motors': (
        friction._of_rows,
        lambda random: ((np.array(numbers(random, FRICTION, N)), numbers(random, N, N)), rows_of_friction(random)),
    ),
}


def bits(arguments):
    """Return the bytes of all arrays among arguments; one NaN is as good as another."""
    arrays = [array for it in arguments for array in (it if isinstance(it, tuple) else (it,))]
    return [np.where(array == array, array, np.nan).tobytes() for array in arrays if isinstance(array, np.ndarray)]


@pytest.mark.parametrize(('function', 'make'), CASES.values(), ids=CASES)
@np.errstate(all='ignore')
def test_machine_code_gives_the_same_bits_and_type_as_python(function, make):
    results = set()
    for seed in range(60):
        (fixed, given), theirs = (make(np.random.default_rng(seed)) for _ in range(2))
        before = bits((*fixed, *given))
        result = bound(function, *fixed, then=given)(*given)
        assert result == function(*theirs[0], *theirs[1])
        assert bits((*fixed, *given)) == bits((*theirs[0], *theirs[1]))
        results.add((type(result), result, bits((*fixed, *given)) != before))
    returned = function.__annotations__['return']
    assert {kind for kind, _, _ in results} == {returned or type(None)}
    assert len(results) > 1 or (returned is None and results.pop()[2])


def limit(torque=None):
    """Return a limiter's function of a torque (6) and a time."""
    example = np.zeros(N) if torque is None else torque
    return bound(torque_limiter._limit, *np.ones((3, N)), *of_counts(), True, then=(example, 0.0))


@pytest.mark.parametrize(
    'wrong',
    [
        (np.zeros(N),),
        (),
        (np.zeros(N), 1.0, 1.0),
        (np.zeros(5), 1.0),
        (np.zeros(7), 1.0),
        (np.zeros((6, 1)), 1.0),
        (np.zeros(()), 1.0),
        (np.zeros(12)[::2], 1.0),
        (np.zeros(N, np.float32), 1.0),
        (np.zeros(N, np.int64), 1.0),
        (np.zeros(N, '>f8'), 1.0),
        (np.frombuffer(bytes(49), offset=1), 1.0),
        (np.matrix(np.zeros(6)), 1.0),
        ([0.0] * N, 1.0),
        (None, 1.0),
    ],
    ids=lambda wrong: ', '.join(f'{type(it).__name__}{getattr(it, "shape", "")}' for it in wrong),
)
def test_arguments_unlike_the_examples_are_refused(wrong):
    with pytest.raises(TypeError, match=r'^_limit: expected a C-contiguous float64 array \(6,\), float$'):
        limit()(*wrong)


def test_axes_may_have_any_length():
    for length in (N, 2 * N):
        effort_limit, torque = np.arange(1.0, length + 1.0), np.full(length, 3.5)
        parts = effort_limit, np.full(length, np.inf), np.zeros(length), *of_counts(length), True
        bound(torque_limiter._limit, *parts, then=(torque, 0.0))(torque, 0.0)
        assert torque.tolist() == [1.0, 2.0, 3.0] + [3.5] * (length - 3)


def test_numbers_are_converted_as_python_does():
    call = limit()
    for number in (1, True, np.float32(1.0), np.int64(1), -1.0):
        call(np.zeros(N), number)
    with pytest.raises(TypeError, match='must be real number'):
        call(np.zeros(N), '1')
    desired, clock = np.zeros((3, N)), np.zeros(4, np.int64)
    follow = bound(reference._extrapolate, np.zeros((4, N)), clock, 1.0, *desired, then=(0,))
    assert follow(-1) == follow(np.int64(-1)) == reference.NONE_YET
    for wrong, error in ((1.0, TypeError), ('1', TypeError), (1 << 63, OverflowError)):
        with pytest.raises(error):
            follow(wrong)


def test_an_axis_of_length_0_in_an_example_accepts_any_length():
    gather = joint_order.bound_gather(np.array([1, 0]))
    for size in (2, 9):
        assert gather(np.arange(float(size)), np.array([1, 0]), np.zeros(2))
    with pytest.raises(TypeError, match=r'\(any,\)'):
        gather(np.zeros(2), np.array([1, 0]), np.zeros(3))


def test_arrays_from_another_process_are_accepted():
    torque = pickle.loads(pickle.dumps(np.full(N, 2.0)))
    assert limit()(torque, 10.0) == torque_limiter.EFFORT and (torque == 1.0).all()


def test_arguments_to_be_bound_must_be_contiguous():
    with pytest.raises(TypeError, match='C-contiguous'):
        bound(adaptation._equal, np.zeros(2 * N)[::2], then=(np.zeros(N),))


PLAN = Plan(0.5, np.zeros(1), np.ones(1), True, True, False, False, False, False, 1, 1)


@pytest.mark.parametrize(
    ('function', 'fixed', 'then', 'refusal'),
    [
        (adaptation._equal, (np.zeros(N, np.float32),), (np.zeros(N),), 'computed: .* float64 with 1 axis, .* float32'),
        (adaptation._equal, (np.zeros((1, N)),), (np.zeros(N),), 'computed: .* with 1 axis, .* with 2 axes'),
        (adaptation._equal, (np.zeros(N),), (np.zeros(N, int),), 'sent: .* float64 with 1 axis, .* int64'),
        (adaptation._equal, ([0.0],), (np.zeros(N),), 'computed: expected .*, got list'),
        (adaptation._equal, (), (np.zeros(N),), 'expected arguments computed, got 0'),
        (adaptation._equal, (np.zeros(N),), (), 'expected arguments sent, got 0'),
        (reference._extrapolate, (np.zeros((4, N)), np.zeros(4, int), 1, *np.zeros((3, N))), (0,), 'age_limit: .* int'),
        (change_velocities, (Buffers.of(PLAN, 1, N, N)._replace(qd=np.zeros(N)),), (), r'x\.qd: .* with 2 axes'),
        (change_velocities, (PLAN,), (), 'x: expected Buffers, got Plan'),
        (
            is_beyond,
            (Stops(*np.zeros((2, 0), int), *np.zeros((2, 0)), 0.0), Buffers.of(PLAN, 1, N, N), True),
            (),
            'nv: ',
        ),
    ],
    ids=lambda it: getattr(it, '__name__', None),
)
def test_arguments_of_another_kind_than_the_declared_one_are_refused_by_name(function, fixed, then, refusal):
    name = f'{function.__module__}.{function.__name__}'.removeprefix('robot_dynamics_ros.')
    with pytest.raises(TypeError, match=f'^{name}: {refusal}'):
        bound(function, *fixed, then=then)


def test_functions_that_are_not_declared_are_refused_by_name():
    with pytest.raises(
        TypeError, match=r'^control\.joints\.joint_order\.places_of: expected a function that is declared'
    ):
        bound(joint_order.places_of, then=(np.zeros(N),))


@pytest.mark.parametrize('flag', [True, False])
def test_a_bool_in_a_bound_tuple_is_a_condition(flag):
    """``semi_implicit``: positions move at the velocity after the step, otherwise by the sum over the stages."""
    plan = PLAN._replace(semi_implicit=flag)
    x = Buffers.of(plan, 1, N, N)
    x.q[:], x.qd[:], x.qdd[:] = 1.0, 1.0, 2.0
    bound(end_step, Robot.named('aubo_i5').model.arrays, plan, x)()
    assert (x.qd == 2.0).all() and (x.q == (2.0 if flag else 1.5)).all()


def test_the_annotation_says_what_is_returned():
    @compiled(given='values')
    def wrong(values: Vector) -> int:
        values[0] = 1.0

    with pytest.raises(TypeError, match='expected a function that returns int64, got none'):
        bound(wrong, then=(np.zeros(3),))


def test_a_call_keeps_what_it_needs_and_nothing_else():
    last = np.full(N, 3.0)
    call = bound(torque_limiter._limit, *np.ones((2, N)), last, *of_counts(), True, then=(np.zeros(N), 0.0))
    alive, torque = weakref.ref(last), np.full(N, 2.0)
    before = sys.getrefcount(torque)
    del last
    gc.collect()
    for _ in range(100):
        call(torque, 1.0)
        with pytest.raises(TypeError):
            call(torque, 'wrong')
    assert alive() is not None and (alive() == 1.0).all()
    assert sys.getrefcount(torque) == before
    del call
    gc.collect()
    assert alive() is None


def test_results_are_new_references():
    gather, values = joint_order.bound_gather(ORDER), np.zeros(N)
    feedback = bound(joint_space_control._feedback, *np.zeros((3, N)), then=(values,) * 6)
    before = [sys.getrefcount(it) for it in (None, True, False)]
    for _ in range(1000):
        feedback(*[values] * 6)
        gather(values, ORDER, np.zeros(len(ORDER)))
        gather(values + np.nan, ORDER, np.zeros(len(ORDER)))
    assert np.abs(np.subtract([sys.getrefcount(it) for it in (None, True, False)], before)).max() < 100


def test_without_the_gil_other_threads_run_meanwhile():
    rows, ticks, stop = np.zeros((200_000, N)), [0], threading.Event()

    def tick():
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(10.0)  # no thread loses the GIL by itself
    thread = threading.Thread(target=tick)
    thread.start()
    try:
        counts = {}
        for nogil in (False, True):
            fixed, given = (
                (np.array(Robot.named('aubo_i5').friction), np.zeros((0, 0))),
                (rows, rows, np.zeros(N), rows),
            )
            call = bound(friction._of_rows, *fixed, then=given, nogil=nogil)
            before = ticks[0]
            for _ in range(100):  # a busy machine may run no other thread in a single call
                call(*given)
                if nogil and ticks[0] > before:
                    break
            counts[nogil] = ticks[0] - before
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        thread.join()
    assert counts[False] == 0 < counts[True]


def test_a_forked_process_calls_and_binds():
    call = limit()
    child = os.fork()
    if not child:
        ok = [made(np.full(N, 2.0), 10.0) == torque_limiter.EFFORT for made in (call, limit())]
        os._exit(0 if all(ok) else 1)
    assert os.waitpid(child, 0)[1] == 0


IMPORTS = """
import sys
import numpy as np
from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.terms.compensation import TERMS, Compensation
from robot_dynamics_ros.control.laws.joint_space_control import JointSpaceControl
from robot_dynamics_ros.control.trajectories.reference import Reference
from robot_dynamics_ros.control.guards.torque_limiter import TorqueLimiter
robot = Robot.named('aubo_i5')
row = np.zeros(6)
robot.friction_torque(row)
Compensation(robot, TERMS).torque(row, row, row, np.zeros(6))
JointSpaceControl(robot, 'computed_torque', row, row, 1.0).torque(row, row, (row, row, row), row, np.zeros(6))
Reference(robot.joint_names, 1.0, 1.0, np.zeros((3, 6))).add(0, row)
TorqueLimiter(row + 1.0, row).apply(np.zeros(6), 1.0)
print(*(name for name in ('numba', 'llvmlite', 'scipy') if name in sys.modules))
"""


def test_a_process_imports_no_compiler():
    assert subprocess.check_output([sys.executable, '-c', IMPORTS], text=True).split() == []
