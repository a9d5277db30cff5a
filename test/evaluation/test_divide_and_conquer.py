"""Forward dynamics by divide and conquer from ``Robot``: arguments, batches, threads, and ten thousand links."""

import dataclasses
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from support import random_trees as trees
from support.cables import cable, state_of

import numpy as np
import pytest

from robot_dynamics_ros import LoopClosure, Payload, Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError
from robot_dynamics_ros.evaluation import divide_and_conquer
from robot_dynamics_ros.evaluation.divide_and_conquer import METHOD
from robot_dynamics_ros.model.model import Model

TOLERANCE = 1e-10  # of the largest acceleration
ARTICULATED = 'articulated'


def case(count=9):
    """Return a tree of all kinds of joints, five states, wrenches and base motions."""
    joints = trees.random_joints(count, count=count, general=0.4)
    robot = Robot(Model.of('tree', trees.BASE, joints), (1.0, -3.0, -9.0))
    random = np.random.default_rng(count)
    q = np.array([robot.random(random) for _ in range(5)])
    qd, tau = random.normal(size=(2, 5, robot.nv))
    return SimpleNamespace(
        robot=robot, q=q, qd=qd, tau=tau,
        wrenches=random.normal(scale=5.0, size=(5, count + 1, 6)), base=random.normal(size=(2, 5, 6)),
    )  # fmt: skip


@pytest.mark.parametrize('reference_frame', ['local_world_aligned', 'local', 'world'])
def test_wrenches_and_base_motions_act_as_by_articulated_bodies(reference_frame):
    c = case()
    tip = c.robot.link_names[-1]
    motion = {'base_velocity': c.base[0], 'base_acceleration': c.base[1]}
    for more in (
        {'wrenches': c.wrenches},
        {'wrenches': {tip: c.wrenches[:, 0], c.robot.link_names[2]: c.wrenches[:, 1]}},
        {'wrenches': {tip: c.wrenches[0, 0]}},
        {'wrenches': c.wrenches, **motion},
        {'base_acceleration': c.base[1, 0]},
        {},
    ):
        arguments = {'reference_frame': reference_frame, **more}
        expected = c.robot.forward_dynamics(c.q, c.qd, c.tau, method=ARTICULATED, **arguments)
        found = c.robot.forward_dynamics(c.q, c.qd, c.tau, method=METHOD, **arguments)
        assert np.abs(found - expected).max() < TOLERANCE * np.abs(expected).max()


def chain_of_masses(decades, seed) -> Robot:
    """Return 16 links of 0.1 m with axes at right angles, their masses random within so many powers of ten."""
    masses = 10.0 ** (decades * np.random.default_rng(seed).uniform(-0.5, 0.5, 16))
    inertia = np.diag([1e-3, 2e-3, 3e-3])
    rows = [
        {'a': 0.1, 'mass': mass, 'com': [-0.05, 0.0, 0.0], 'inertia': inertia * mass, 'alpha': (-1) ** k * np.pi / 2}
        for k, mass in enumerate(masses)
    ]
    return Robot.from_dh(rows).with_binding('generic')


@pytest.mark.parametrize(('decades', 'of_random_torques', 'of_a_motion'), [(0, 4e-15, 1e-11), (6, 2e-12, 2e-7)])
def test_unequal_masses_cost_the_digits_that_the_page_says(decades, of_random_torques, of_a_motion):
    """The figures of the page on large robots, each with ten times the room."""
    for seed in range(5):
        robot, random = chain_of_masses(decades, seed), np.random.default_rng(seed + 50)
        q, qd, tau, motion = random.normal(size=(4, robot.nv))
        expected = robot.forward_dynamics(q, qd, tau, method=ARTICULATED)
        found = robot.forward_dynamics(q, qd, tau, method=METHOD)
        assert np.abs(found - expected).max() < 10.0 * of_random_torques * np.abs(expected).max()
        found = robot.forward_dynamics(q, qd, robot.inverse_dynamics(q, qd, motion), method=METHOD)
        assert np.abs(found - motion).max() < 10.0 * of_a_motion * np.abs(motion).max()


def slides(size) -> Robot:
    """Return four links of 1 kg and a radius of gyration of some ``size`` on slides at right angles."""
    inertia = trees.ten_parameters(1.0, np.zeros(3), np.diag([1.0, 2.0, 2.5]) * size**2)
    joint = trees.random_joints(0, count=1, prismatic=1.0)[0]
    joints = [
        dataclasses.replace(
            joint, name=f'slide {k}', link=f'link {k}', parent=f'link {k - 1}' if k else trees.BASE,
            axis=np.eye(3)[k % 3], rotation=np.eye(3), origin=np.zeros(3), inertia=inertia, rotor=0.0,
        )
        for k in range(4)
    ]  # fmt: skip
    return Robot(Model.of('slides', trees.BASE, joints)).with_binding('generic')


WORSE = r'^divide and conquer: torques of the accelerations are off by \S+ of the largest one, more than 1e-07: '


def test_links_that_are_small_for_their_distances_lose_digits_and_are_refused():
    """The figures of the page on large robots, at distances of about a metre, each with ten times the room."""
    random = np.random.default_rng(0)
    for q, qd, motion in random.normal(size=(5, 3, 4)):
        for size, error in ((0.1, 5e-11), (1e-3, 2e-7)):
            tau = slides(size).inverse_dynamics(q, qd, motion)
            found = slides(size).forward_dynamics(q, qd, tau, method=METHOD)
            assert np.abs(found - motion).max() < error * np.abs(motion).max()
        tau = slides(1e-6).inverse_dynamics(q, qd, motion)
        with pytest.raises(ModelError, match=WORSE):
            slides(1e-6).forward_dynamics(q, qd, tau, method=METHOD)
    # one of several states
    states = np.stack([np.zeros((5, 4)), random.normal(size=(5, 4)), random.normal(size=(5, 4))])
    states[0, 2] = 1.0
    with pytest.raises(ModelError, match=WORSE):
        slides(1e-6).forward_dynamics(*states, method=METHOD)


def test_masses_that_differ_by_twelve_powers_of_ten_are_refused():
    robot, random = chain_of_masses(12, 0), np.random.default_rng(50)
    q, qd, _, motion = random.normal(size=(4, robot.nv))
    with pytest.raises(ModelError, match=WORSE):
        robot.forward_dynamics(q, qd, robot.inverse_dynamics(q, qd, motion), method=METHOD)


def test_no_torque_and_no_gravity_need_no_acceleration():
    robot = slides(0.1).with_gravity((0.0, 0.0, 0.0))
    assert not robot.forward_dynamics(*np.zeros((3, 4)), method=METHOD).any()
    free = slides(0.1).forward_dynamics(*np.zeros((3, 4)), method=METHOD)
    assert np.abs(free - [0.0, 0.0, -9.81, 0.0]).max() < 1e-13


def test_states_alone_in_batches_and_broadcast_have_the_same_bits():
    c = case()
    out = np.full_like(c.qd, np.nan)
    assert c.robot.forward_dynamics(c.q, c.qd, c.tau, method=METHOD, out=out) is out
    for k in range(5):
        assert (c.robot.forward_dynamics(c.q[k], c.qd[k], c.tau[k], method=METHOD) == out[k]).all()
    stacked = c.robot.forward_dynamics(c.q[:, None], c.qd[0], c.tau[None, :2], method=METHOD)
    assert stacked.shape == (5, 2, c.robot.nv)
    assert (stacked[0, 0] == out[0]).all()
    # the same array for torques and result, and one that is not contiguous
    tau, wide = c.tau.copy(), np.zeros((5, 2 * c.robot.nv))
    assert (c.robot.forward_dynamics(c.q, c.qd, tau, method=METHOD, out=tau) == out).all()
    assert (c.robot.forward_dynamics(c.q, c.qd, c.tau, method=METHOD, out=wide[:, ::2]) == out).all()


def test_a_call_leaves_nothing_to_the_next_one():
    c = case()
    expected = c.robot.forward_dynamics(c.q[0], c.qd[0], c.tau[0], method=METHOD)
    c.robot.forward_dynamics(
        c.q[0], c.qd[0], c.tau[0], wrenches=c.wrenches[0], method=METHOD, base_velocity=c.base[0, 0]
    )
    assert (c.robot.forward_dynamics(c.q[0], c.qd[0], c.tau[0], method=METHOD) == expected).all()


def test_payloads_and_gravity_are_those_of_the_robot():
    arm = Robot.named('aubo_i5').with_payload(Payload(2.0, (0.0, 0.01, 0.05), np.diag([0.01, 0.02, 0.015])))
    arm = arm.with_gravity((1.0, 2.0, 3.0))
    random = np.random.default_rng(0)
    q, qd, tau = random.normal(size=(3, 6))
    expected = arm.forward_dynamics(q, qd, tau, method=ARTICULATED)
    assert np.abs(arm.forward_dynamics(q, qd, tau, method=METHOD) - expected).max() < 1e-11 * np.abs(expected).max()


def test_bad_arguments_are_named():
    c = case()
    q, qd, tau = c.q[0], c.qd[0], c.tau[0]
    for error, culprit, arguments, more in (
        (ArgumentError, 'method: expected one of articulated, mass_matrix, divide_and_conquer', (q, qd, tau), 'other'),
        (ArgumentError, 'qd: expected shape', (q, qd[:-1], tau), METHOD),
        (ArgumentError, r'tau\[0\]: nan is not finite', (q, qd, np.full_like(tau, np.nan)), METHOD),
        (ArgumentError, 'some of q, qd, tau are too large', (q, 1e200 * qd, tau), METHOD),
    ):
        with pytest.raises(error, match=culprit):
            c.robot.forward_dynamics(*arguments, method=more)
    with pytest.raises(UnknownNameError, match="wrenches: no link 'nobody'"):
        c.robot.forward_dynamics(q, qd, tau, wrenches={'nobody': np.zeros(6)}, method=METHOD)
    with pytest.raises(ArgumentError, match='out: expected a writable'):
        c.robot.forward_dynamics(q, qd, tau, out=np.zeros(3), method=METHOD)
    with pytest.raises(ArgumentError, match='reference_frame'):
        c.robot.forward_dynamics(q, qd, tau, reference_frame='mine', method=METHOD)


def test_a_massless_link_is_refused_by_name_and_no_obstacle_to_others():
    joints = trees.random_joints(7, count=5, prismatic=0.0)
    joints[2] = dataclasses.replace(joints[2], inertia=np.zeros(10), rotor=1.0)
    robot = Robot(Model.of('tree', trees.BASE, joints))
    with pytest.raises(ModelError, match="divide and conquer: link 'link_3' has no mass; use another method"):
        robot.forward_dynamics(*np.zeros((3, 5)), method=METHOD)
    assert np.isfinite(robot.forward_dynamics(*np.zeros((3, 5)), method=ARTICULATED)).all()


def test_a_robot_with_loops_is_refused_by_name():
    c = case()
    looped = c.robot.with_loops([LoopClosure('strut', None, np.eye(4), c.robot.link_names[-1], np.eye(4))])
    with pytest.raises(ModelError, match='divide and conquer: not available for tree, which has closed'):
        looped.forward_dynamics(c.q[0], c.qd[0], c.tau[0], method=METHOD)


# threads


def test_threads_change_no_bit(monkeypatch):
    """Parts of some links each, by several threads at once, and several callers of one robot."""
    monkeypatch.setattr(divide_and_conquer, 'LEAST_LINKS_OF_A_THREAD', 20)
    model = Model.of('tree', trees.BASE, trees.random_joints(3, count=150, chain=0.7, general=0.2))
    one = Robot(model).with_binding('generic', threads=1)
    random = np.random.default_rng(0)
    q, qd, tau = one.random(random), *random.normal(size=(2, one.nv))
    expected = one.forward_dynamics(q, qd, tau, method=METHOD)
    assert one._divide_and_conquer._parts == 1
    for threads in (2, 3, 5):
        robot = Robot(model).with_binding('generic', threads=threads)
        assert (robot.forward_dynamics(q, qd, tau, method=METHOD) == expected).all()
        assert robot._divide_and_conquer._parts == threads
        with ThreadPoolExecutor(4) as callers:
            calls = [callers.submit(robot.forward_dynamics, q, qd, tau, method=METHOD) for _ in range(40)]
            assert all((call.result() == expected).all() for call in calls)


# ten thousand links


def test_python_takes_as_many_steps_for_many_links_as_for_a_few():
    steps = []
    for count in (5, 50):
        robot = cable(count)
        state = state_of(robot)
        robot.forward_dynamics(*state, method=METHOD)
        seen = []
        sys.setprofile(lambda frame, event, argument, seen=seen: seen.append(event))
        try:
            robot.forward_dynamics(*state, method=METHOD)
        finally:
            sys.setprofile(None)
        steps.append(len(seen))
    assert steps[0] == steps[1]


@pytest.fixture(scope='module')
def long_cable():
    """Return a cable of 10,000 links, a state and its accelerations by articulated bodies."""
    robot = cable(10_000)
    state = state_of(robot)
    return robot, state, robot.forward_dynamics(*state, method=ARTICULATED)


def test_ten_thousand_links(long_cable):
    robot, (q, qd, tau), by_bodies = long_cable
    found = robot.forward_dynamics(q, qd, tau, method=METHOD)
    assert np.abs(found - by_bodies).max() < 1e-13 * np.abs(by_bodies).max()  # it is 3e-15
    # inverse dynamics: torques as far off as after a change of the last digits of each acceleration
    noise = 1.0 + 1e-14 * np.random.default_rng(0).normal(size=robot.nv)
    allowed = np.abs(robot.inverse_dynamics(q, qd, noise * by_bodies) - tau).max()
    assert np.abs(robot.inverse_dynamics(q, qd, found) - tau).max() < 10.0 * allowed
    assert (Robot(robot._model).with_binding('generic', 1).forward_dynamics(q, qd, tau, method=METHOD) == found).all()


def test_memory_of_ten_thousand_links():
    """The matrices of the workspace, 3 GB, are never written: a process with such a robot needs some 0.2 GB."""
    # what is compiled for all robots is compiled before
    small = cable(40)
    state = state_of(small)
    small.inverse_dynamics(*state[:2], small.forward_dynamics(*state))
    small.forward_dynamics(*state, method='divide_and_conquer')
    code = (
        'from support.cables import cable, state_of; robot = cable(10_000); state = state_of(robot);'
        'qdd = robot.forward_dynamics(*state); robot.inverse_dynamics(*state[:2], qdd);'
        "robot.forward_dynamics(*state, method='divide_and_conquer');"
        "print(*(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    paths = os.environ | {'PYTHONPATH': os.pathsep.join(sys.path)}
    finished = subprocess.run([sys.executable, '-c', code], env=paths, capture_output=True, text=True, check=True)
    assert int(finished.stdout) < 300_000  # kB


def test_twenty_thousand_links_are_the_most():
    with pytest.raises(ModelError, match='20001 joints that move: expected up to 20000'):
        Model.of('chain', trees.BASE, 20_001 * trees.random_joints(0, count=1))
