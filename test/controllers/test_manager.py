"""Activations, switches and references of the controller, in a stand-in manager of each distribution."""

import functools

from support.controllers.controllers_core import MILLISECOND, RATE, Law, has_compilers
from support.controllers.controllers_law import RAMP, SECOND, Q, aubo_i5, gravity, library, steps
from support.controllers.stand_in_manager import (
    DISTRIBUTIONS,
    HUMBLE,
    MICROSECOND,
    ArmPlant,
    EffortController,
    RampTopic,
    StandInManager,
    StillPlant,
    TrajectoryController,
    server_texts,
    server_waits,
)

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(not has_compilers(), reason='no C and C++ compiler')
MOTION, EFFORT = ('position', 'velocity', 'acceleration'), ('effort',)
of_each_distribution = pytest.mark.parametrize('distribution', DISTRIBUTIONS, ids=lambda it: it.name)


def controller(interfaces=MOTION, **more) -> EffortController:
    settings = {'ramp_time': RAMP, 'reference_timeout': 0.0505, **more}
    return EffortController(Law(library(), aubo_i5().joint_names, **settings), aubo_i5().joint_names, interfaces)


def alone(distribution, plant=None, **more) -> StandInManager:
    """Return an active controller without another one above."""
    manager = StandInManager(distribution, controller(**more), plant or StillPlant(Q))
    manager.switch(activate=('below',))
    return manager


def chain(distribution, plant=None, stiffness=0.0, damping=0.0) -> StandInManager:
    """Return an active chain: a trajectory controller with gains writes efforts."""
    below = controller(EFFORT)
    gains = np.full(6, stiffness), np.full(6, damping)
    above = TrajectoryController(*gains, below.references[0], distribution.reads_effort_command)
    manager = StandInManager(distribution, below, plant or StillPlant(Q), above)
    manager.switch(activate=('below', 'above'))
    return manager


@functools.cache
def heavier():
    """Return the arm with links that are 10 % heavier than those of the controller's library."""
    return aubo_i5().with_inertial_parameters(1.1 * aubo_i5().inertial_parameters)


# --- activation


@of_each_distribution
def test_an_arm_that_is_activated_at_once_does_not_fall(distribution):
    manager = alone(distribution, ArmPlant(aubo_i5(), Q))
    manager.cycles(500)
    assert np.abs(np.array(manager.positions) - Q).max() < 1e-3 and np.abs(gravity()).max() > 10.0
    assert (manager.efforts[0] == gravity()).all()


@of_each_distribution
@pytest.mark.parametrize('requests', [1, 2])
@pytest.mark.parametrize('pause', [100 * MICROSECOND, 2 * MILLISECOND, 90 * MILLISECOND, 10 * SECOND])
def test_a_restart_is_one_however_quick(distribution, requests, pause):
    """After ~/ramp_to_zero it works again, and its efforts grow again over fade_in_time."""
    manager = alone(distribution, fade_in_time=RAMP)
    manager.cycles(200)
    manager.controller.request_stop()
    manager.cycles(200)
    assert manager.controller.outcome == 'stopped' and not manager.command.any()
    restart(manager, requests, pause)
    manager.cycles(int(2 * RAMP * RATE))
    assert manager.controller.outcome == 'gravity_only' and (manager.command == gravity()).all()
    assert (steps(np.zeros(6), manager.efforts[-200:]) <= 1.01 * np.abs(gravity()) / (RAMP * RATE) + 1e-9).all()


def restart(manager, requests, pause, names=('below',)) -> None:
    if requests == 1:
        manager.switch(activate=names, deactivate=names, takes=pause)
        return
    manager.switch(deactivate=names)
    manager.now += pause
    manager.switch(activate=names)


@of_each_distribution
@pytest.mark.parametrize('requests', [1, 2])
def test_a_restart_with_the_controller_above_is_one(distribution, requests):
    manager = chain(distribution)
    manager.cycles(100)
    manager.controller.request_stop()
    manager.cycles(200)
    restart(manager, requests, MILLISECOND, ('below', 'above'))
    manager.cycles(100)
    assert manager.controller.outcome == 'sent' and np.allclose(manager.command, gravity(), rtol=1e-9, atol=0.0)


@of_each_distribution
@pytest.mark.parametrize('both_first', [True, False])
def test_a_restart_without_or_with_the_controller_above_is_one(distribution, both_first):
    """Two requests that change the chained mode, as a user sends them one after the other."""
    manager = chain(distribution) if both_first else alone(distribution, interfaces=EFFORT)
    if not both_first:
        commands = manager.controller.references[0]
        manager.above = TrajectoryController(np.zeros(6), np.zeros(6), commands, distribution.reads_effort_command)
    manager.cycles(100)
    manager.controller.request_stop()
    manager.cycles(200)
    both, below = ('below', 'above'), ('below',)
    manager.switch(deactivate=both if both_first else below)
    manager.cycles(50)
    manager.switch(activate=below if both_first else both)
    manager.cycles(100)
    assert manager.controller.outcome == ('gravity_only' if both_first else 'sent')
    assert np.allclose(manager.command, gravity(), rtol=1e-9, atol=0.0)


@of_each_distribution
@pytest.mark.parametrize('takes', [MICROSECOND, 15 * MILLISECOND])
def test_a_controller_above_that_starts_or_stops_makes_no_step(distribution, takes):
    manager = alone(distribution, interfaces=EFFORT, fade_in_time=RAMP)
    above = manager.above = TrajectoryController(
        np.full(6, 50.0), np.zeros(6), manager.controller.references[0], distribution.reads_effort_command
    )
    manager.cycles(200)
    manager.switch(activate=('above',), takes=takes)
    assert (manager.command == manager.efforts[-1]).all()
    manager.cycles(1)
    above.hold = Q + 0.1
    manager.cycles(200)
    assert manager.controller.outcome == 'sent' and np.allclose(manager.command, gravity() + 5.0, rtol=1e-12, atol=0.0)
    manager.switch(deactivate=('above',), takes=takes)
    assert (manager.command == manager.efforts[-1]).all()
    manager.cycles(200)
    assert manager.controller.outcome == 'gravity_only' and (manager.command == gravity()).all()
    assert (steps(manager.efforts[-201], manager.efforts[-200:]) <= 1.01 * 5.0 / (RAMP * RATE) + 1e-9).all()


@of_each_distribution
def test_zero_stays_where_a_controller_above_stops_after_a_ramp_to_zero(distribution):
    manager = chain(distribution)
    manager.cycles(100)
    manager.controller.request_stop()
    manager.cycles(200)
    manager.switch(deactivate=('above',))
    manager.cycles(50)
    assert manager.controller.outcome == 'stopped' and not manager.command.any()
    restart(manager, 2, MILLISECOND)
    manager.cycles(50)
    assert manager.controller.outcome == 'gravity_only'


@of_each_distribution
def test_a_controller_that_gives_up_is_deactivated_where_the_manager_does_that(distribution):
    plant = StillPlant(Q)
    manager = alone(distribution, plant)
    manager.cycles(10)
    plant.q = Q * np.nan
    manager.cycles(int(2 * RAMP * RATE))
    assert manager.controller.is_active != distribution.deactivates_on_error and not manager.command.any()


# --- references


@of_each_distribution
def test_a_chain_of_efforts_follows_each_trajectory(distribution):
    """An arm that is 10 % heavier than the controller's, below a trajectory controller with gains.

    The efforts are those that it has where the trajectory controller does not read its measured effort.
    """
    managers = [
        chain(it, ArmPlant(heavier(), Q, damping=2.0), stiffness=400.0, damping=40.0) for it in (distribution, HUMBLE)
    ]
    for manager in managers:
        manager.cycles(300)
        for target in (Q + 0.2, Q - 0.1):
            before = manager.positions[-1].copy()
            manager.above.go(target, 0.5)
            manager.cycles(500)
            ideal = before + np.linspace(0.0, 1.0, 500)[:, None] * (target - before)
            assert np.abs(np.array(manager.positions[-500:]) - ideal).max() < 0.06, 'the whole way is 0.2 and 0.3'
    efforts = [np.array(it.efforts) for it in managers]
    assert np.isfinite(managers[0].above.written).all() and np.allclose(*efforts, rtol=0.0, atol=1e-12)


def test_efforts_that_nobody_writes_are_no_number_that_counts():
    below = controller(EFFORT)
    plant = StillPlant(Q)
    manager = StandInManager(DISTRIBUTIONS[0], below, plant)
    manager.switch(activate=('below',))
    manager.cycles(10)
    assert np.isfinite(below.references).all() and (np.abs(below.references) < 1e-200).all()
    assert below.outcome == 'gravity_only'
    below.references[:] = 0.0
    manager.cycles(1)
    assert below.outcome == 'sent'
    below.references[:] = np.nan
    manager.cycles(1)
    assert below.outcome == 'reference_refused'
    manager.cycles(100)
    assert below.outcome == 'gravity_only'


def test_positions_that_nobody_writes_are_nan():
    """A trajectory controller takes finite ones as its start."""
    below = controller((*MOTION, 'effort'))
    manager = StandInManager(DISTRIBUTIONS[0], below, StillPlant(Q))
    manager.switch(activate=('below',))
    below.references[:] = [Q, np.zeros(6), np.zeros(6), np.zeros(6)]
    manager.cycles(1)
    assert below.outcome == 'sent'
    assert np.isnan(below.references[:3]).all() and np.isfinite(below.references[3]).all()
    below.references[:3] = Q
    manager.cycles(1)
    assert below.outcome == 'reference_refused', 'efforts were not written'


@of_each_distribution
def test_a_controller_above_without_usable_references_is_named_after_a_second(distribution):
    manager = chain(distribution)
    manager.cycles(100)
    assert not manager.controller.unused_references
    for fault, said in (
        ('is_broken', 'reference shoulder_joint/effort was NaN'),
        ('is_silent', 'no reference for more'),
    ):
        setattr(manager.above, fault, True)
        manager.cycles(999)
        assert not manager.controller.unused_references
        manager.cycles(3)
        assert manager.controller.unused_references.startswith(said)
        assert np.allclose(manager.command, gravity(), rtol=1e-9, atol=0.0)
        setattr(manager.above, fault, False)
        manager.cycles(1)
        assert not manager.controller.unused_references


def test_a_controller_without_another_one_above_needs_no_reference():
    manager = alone(DISTRIBUTIONS[-1])
    manager.cycles(1200)
    assert not manager.controller.unused_references


@pytest.mark.parametrize(
    ('interfaces', 'said'),
    [
        (('velocity',), 'reference_interfaces: expected position among them, or effort alone'),
        (('effort', 'velocity'), 'reference_interfaces: expected position among them, or effort alone'),
        (
            ('position', 'velocity', 'acceleration') * 8,
            'reference_interfaces: expected at most 128 references, got 144',
        ),
    ],
)
def test_reference_interfaces_that_are_refused(interfaces, said):
    with pytest.raises(ValueError, match=said):
        controller(interfaces)


# --- payload and gravity of a server


def test_configuring_waits_for_a_server_that_may_be_there():
    unknown, seen, applied, refused = (0, 0, 1, 0), (1, 0, 1, 0), (1, 1, 1, 0), (1, 0, 1, 1)
    assert server_waits(unknown, unknown, 0.4, 0.3) and not server_waits(unknown, unknown, 0.6, 0.3)
    assert not server_waits(unknown, unknown, 100.0, 0.0), 'discovery was over before'
    assert server_waits(seen, unknown, 100.0, 0.9) and not server_waits(seen, unknown, 100.0, 1.1)
    assert server_waits(unknown, seen, 100.0, 0.4) and not server_waits(unknown, seen, 100.0, 0.6)
    for known in (applied, refused):
        assert not server_waits(known, applied, 0.0, 0.0)
        assert server_waits(unknown, known, 0.4, 0.0), 'of a server one topic may be known before the other'
    unsettled = (1, 1, 0, 0)
    assert server_waits(unsettled, applied, 100.0, 3.9) and not server_waits(unsettled, applied, 100.0, 4.1)


def test_what_a_missing_message_means():
    assert server_texts((0, 0, 1, 0)) == [
        '',
        'topic is awaited (await_payload_gravity), but no message came: activate dynamics_server',
    ]
    warning, lacks = server_texts((1, 0, 1, 0))
    assert warning.startswith('topic has a publisher, but no message came; that of the export counts') and lacks
    assert server_texts((1, 1, 1, 0)) == ['', '']
    just_started = 'topic: dynamics_server has just started, and nodes may hold what was set before'
    assert server_texts((1, 1, 0, 0)) == ['', just_started]
    assert server_texts((1, 0, 1, 1)) == ['', 'refused: topic: wrong']


def test_an_early_message_is_logged_once():
    law = Law(library(), aubo_i5().joint_names)
    topic, now = RampTopic(law), law.now
    topic.receive(2.0, now + 3 * SECOND, SECOND, now)
    for k in range(100):
        topic.retry(now + k * 20 * MILLISECOND)
        topic.receive(2.0, now + 3 * SECOND, SECOND, now + k * 20 * MILLISECOND)
    assert len(topic.log) == 1 and 'payload_state: its ramp begins 3 s later than now' in topic.log[0]
    topic.retry(now + 3 * SECOND)
    assert topic.is_applied and len(topic.log) == 1
    topic.receive(-1.0, now, 0, now + 3 * SECOND)
    topic.receive(-1.0, now, 0, now + 3 * SECOND)
    topic.receive(-2.0, now, 0, now + 3 * SECOND)
    assert [it.partition(', got')[2] for it in topic.log[1:]] == [' -1', ' -2']
