"""Reference frames: one name, one default, the same meaning for wrenches, velocities and Jacobians."""

from inspect import signature

from support.code.bindings import shared
from support.matrices import matrix
from support.robots.facade_robots import robot_of, states

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.validation import REFERENCE_FRAMES

pytestmark = pytest.mark.plain

LINK = pytest.mark.parametrize(
    ('name', 'link'), [('aubo_i5', 'ee_link'), ('aubo_i5', 'foreArm_Link'), ('tree', 'tool'), ('tree', 'flag')]
)
FRAME = pytest.mark.parametrize('reference_frame', REFERENCE_FRAMES)
STEP = 1e-4


def test_every_method_has_the_same_default():
    methods = {name: signature(method).parameters for name, method in vars_of(Robot) if callable(method)}
    defaults = {name: found['reference_frame'].default for name, found in methods.items() if 'reference_frame' in found}
    assert len(defaults) >= 14 and {'jacobian', 'inverse_dynamics', 'kernel'} <= set(defaults)
    assert set(defaults.values()) == {'local_world_aligned'}
    assert not [name for name, found in methods.items() if 'frame' in found]


def vars_of(cls):
    return [(name, getattr(cls, name)) for name in dir(cls) if not name.startswith('_')]


@LINK
def test_the_jacobian_maps_a_wrench_with_defaults_on_both_sides(name, link):
    robot, (q, qd, qdd) = shared(robot_of(name)), states(name, 'inverse_dynamics')
    F = np.array([1.0, -2.0, 3.0, 40.0, 50.0, -60.0])
    free = robot.inverse_dynamics(q, qd, qdd)
    acting = robot.inverse_dynamics(q, qd, qdd, {link: F})
    assert free - acting == pytest.approx(robot.jacobian(q, link).T @ F, abs=1e-10)
    assert abs(free - acting).max() > 1.0
    # the power of the wrench is that of its torques
    assert robot.link_velocity(q, qd, link) @ F == pytest.approx(qd @ (free - acting), abs=1e-9)


def slope(function, robot, q):
    """Return the derivative of ``function`` along each velocity, by central differences to the fourth order."""

    def difference(h):
        ahead, back = (function(robot.integrate(q, sign * h * np.eye(robot.nv))) for sign in (1.0, -1.0))
        return np.swapaxes(ahead - back, -1, -2) / (2.0 * h)

    return (4.0 * difference(STEP) - difference(2.0 * STEP)) / 3.0


@pytest.mark.compiled
@LINK
@FRAME
@pytest.mark.parametrize('method', ['inverse_dynamics', 'forward_dynamics'])
def test_derivatives_hold_wrenches_constant_in_their_reference_frame(name, link, reference_frame, method):
    robot, (q, qd, x) = shared(robot_of(name)), states(name, 'inverse_dynamics')
    random = np.random.default_rng(3)
    by_name = {link: random.normal(scale=10.0, size=6), robot.link_names[1]: random.normal(scale=10.0, size=6)}
    for wrenches in (by_name, {link: by_name[link]}, random.normal(scale=10.0, size=(len(robot.link_names), 6))):
        acting = {'wrenches': wrenches, 'reference_frame': reference_frame}

        def of_position(at, acting=acting):
            return getattr(robot, method)(at, qd, x, **acting)

        expected = slope(of_position, robot, q)
        found = getattr(robot, f'{method}_derivatives')(q, qd, x, **acting)
        scale = np.abs(expected).max()
        assert np.abs(found[0] - expected).max() < 1e-8 * scale
        other = REFERENCE_FRAMES[REFERENCE_FRAMES.index(reference_frame) - 1]
        elsewhere = getattr(robot, f'{method}_derivatives')(q, qd, x, wrenches, reference_frame=other)
        assert np.abs(found[0] - elsewhere[0]).max() > 1e-3 * scale


def test_derivatives_with_wrenches_over_batches_are_those_of_single_states():
    robot, (q, qd, x) = robot_of('tree'), states('tree', 'inverse_dynamics', (4,))
    wrench = np.random.default_rng(5).normal(size=(4, 6))
    for method in (robot.inverse_dynamics_derivatives, robot.forward_dynamics_derivatives):
        together = method(q, qd, x, {'tool': wrench})
        apart = [method(q[k], qd[k], x[k], {'tool': wrench[k]}) for k in range(4)]
        assert together == pytest.approx(np.array(apart), rel=1e-12, abs=1e-12)
        shared = method(q[0], qd[0], x, {'tool': wrench})
        assert shared[2] == pytest.approx(method(q[0], qd[0], x[2], {'tool': wrench[2]}), rel=1e-12, abs=1e-12)


@LINK
@FRAME
@pytest.mark.parametrize('method', ['inverse_dynamics', 'forward_dynamics', 'inverse_dynamics_derivatives'])
def test_all_forms_of_wrenches_are_the_same_wrenches(name, link, reference_frame, method):
    robot, (q, qd, x) = shared(robot_of(name)), states(name, 'inverse_dynamics')
    F = np.random.default_rng(8).normal(scale=10.0, size=6)
    compute = getattr(robot, method)
    by_name = compute(q, qd, x, {link: F}, reference_frame=reference_frame)
    with_more = compute(q, qd, x, {link: F, robot.link_names[0]: np.ones(6)}, reference_frame=reference_frame)
    assert with_more == pytest.approx(by_name, rel=1e-11, abs=1e-11)
    assert np.abs(by_name - compute(q, qd, x)).max() > 0.1
    if link in robot.link_names:
        rows = np.zeros((len(robot.link_names), 6))
        rows[robot.link_names.index(link)] = F
        as_array = compute(q, qd, x, rows, reference_frame=reference_frame)
        assert as_array == pytest.approx(by_name, rel=1e-11, abs=1e-11)


@FRAME
def test_constant_wrenches_on_two_frames_of_a_link_act_on_all_states_of_a_batch(reference_frame):
    robot, rows = robot_of('tree'), states('tree', 'inverse_dynamics', (4,))
    tool = robot.model.frames['tool']
    assert tool.origin.any()
    wrenches = {'tool': np.arange(6.0), robot.link_names[tool.link]: np.arange(6.0, 12.0)}
    options = {'wrenches': wrenches, 'reference_frame': reference_frame}
    together = robot.forward_dynamics(*rows, **options)
    for k in range(4):
        assert (together[k] == robot.forward_dynamics(*(row[k] for row in rows), **options)).all()


@FRAME
def test_a_wrench_on_the_base_is_borne_by_the_ground(reference_frame):
    robot, (q, qd, qdd) = robot_of('tree'), states('tree', 'inverse_dynamics')
    wrenches = {robot.link_names[0]: np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])}
    assert (robot.inverse_dynamics(q, qd, qdd, wrenches, reference_frame=reference_frame)
            == robot.inverse_dynamics(q, qd, qdd)).all()  # fmt: skip


DYNAMICS = [(name, frame) for name in ('inverse_dynamics', 'forward_dynamics') for frame in REFERENCE_FRAMES]
DERIVATIVES = [('forward_dynamics_derivatives', frame) for frame in REFERENCE_FRAMES]  # 3 s each to compile


@pytest.mark.parametrize(
    ('name', 'reference_frame'),
    matrix([*DYNAMICS, *DERIVATIVES], [*DYNAMICS[::4], ('forward_dynamics_derivatives', 'local_world_aligned')]),
)
@pytest.mark.compiled
def test_wrenches_have_the_same_bits_by_all_code(name, reference_frame):
    robot, rows = Robot.named('aubo_i5').compiled(), states('aubo_i5', 'inverse_dynamics', (37,))
    random = np.random.default_rng(2)
    for wrenches in ({'ee_link': random.normal(size=(37, 6))}, random.normal(size=(37, 7, 6))):
        expected = getattr(shared(robot), name)(*rows, wrenches, reference_frame=reference_frame)
        assert (getattr(robot, name)(*rows, wrenches, reference_frame=reference_frame) == expected).all()
        for k in range(0, 37, 6):
            one = {'ee_link': wrenches['ee_link'][k]} if isinstance(wrenches, dict) else wrenches[k]
            state = [row[k] for row in rows]
            for _ in range(2):  # prepared, and by the builtin function
                found = getattr(robot, name)(*state, one, reference_frame=reference_frame)
                assert (found == expected[k]).all()
    own = {it.program.name for it in robot._evaluator._prepared.values() if it._own is not None}
    assert any(it.startswith(f'{name}_with_wrench_') for it in own)
    assert any(it.startswith(f'{name}_with_wrenches_') for it in own)


def test_generic_kernels_of_one_frame_after_the_other():
    """Each frame has its own constants, also where the memory of an earlier frame is used again."""
    robot, q = Robot.named('aubo_i5'), np.linspace(0.1, 0.6, 6)
    generic = shared(robot)
    for _ in range(20):
        for link in robot.link_names:
            assert (generic.link_pose(q, link) == robot.link_pose(q, link)).all()
