"""Stamps of a simulated arm: never back, never ahead of the time, whatever the scheduler and the clocks do."""

import random

import pytest

from robot_dynamics_ros.simulation.plant.arm_clock import ArmClock

MS = 1_000_000


class Machine:
    """A ROS clock and a steady clock of one machine, whose process may lose the processor before any read."""

    def __init__(self, lose=lambda: 0, simulated=False):
        self.ros, self.steady, self.simulated, self._lose = 1_000_000 * MS, 50 * MS, simulated, lose

    def passes(self, duration):
        self.ros += duration
        self.steady += duration

    def ros_time(self):
        self.passes(self._lose())
        return self.ros

    def steady_time(self):
        self.passes(self._lose())
        return self.steady

    def clock(self):
        return ArmClock(MS, self.ros_time, self.steady_time, lambda: self.simulated)


def moves(clock, most=10**9):
    """One state of an arm that moves; return its stamp."""
    clock.read()
    due = clock.due()
    clock.advance(min(due, most), lost=due - min(due, most))
    return clock.stamp


def stands(clock):
    """One state of an arm on its brakes; return its stamp."""
    clock.read()
    clock.follow()
    return clock.stamp


@pytest.mark.parametrize('seed', range(20))
def test_stamps_never_go_back_and_are_never_ahead_whenever_the_processor_is_lost(seed):
    numbers = random.Random(seed)
    machine = Machine(lambda: numbers.choice((0, 0, 0, 1, 30, 400)) * MS)
    clock = machine.clock()
    before = clock.stamp
    for _ in range(500):
        machine.passes(numbers.randrange(3 * MS))
        stamp = moves(clock, most=numbers.choice((22, 10**9))) if numbers.random() < 0.8 else stands(clock)
        assert before <= stamp <= machine.ros
        before = stamp


def test_a_processor_lost_between_the_two_clocks_makes_no_state_of_the_future():
    lost = iter([0, 0, 0, 100 * MS])  # at the second read: between the ROS clock and the steady one
    machine = Machine(lambda: next(lost, 0))
    clock = machine.clock()
    stands(clock)
    assert moves(clock) <= machine.ros
    assert stands(clock) == machine.ros


def test_the_time_of_a_moving_arm_advances_by_the_steady_clock():
    machine = Machine()
    clock = machine.clock()
    began = clock.stamp
    machine.passes(5 * MS + MS // 2)
    assert moves(clock) == began + 5 * MS
    machine.ros += 1000 * MS  # set ahead: of no account to an arm that moves
    machine.passes(MS // 2)
    assert moves(clock) == began + 6 * MS
    assert stands(clock) == machine.ros


def test_lost_steps_are_not_due_again_and_are_made_good_on_the_brakes():
    machine = Machine()
    clock = machine.clock()
    began = clock.stamp
    machine.passes(100 * MS)
    assert moves(clock, most=22) == began + 22 * MS
    assert (clock.due(), clock.steps_lost) == (0, 78)
    machine.passes(2 * MS)
    assert moves(clock, most=22) == began + 24 * MS
    assert stands(clock) == began + 102 * MS
    assert clock.steps_lost == 0


def test_a_system_clock_that_is_set_back_holds_the_stamps():
    machine = Machine()
    clock = machine.clock()
    before = stands(clock)
    machine.ros -= 3600_000 * MS
    assert stands(clock) == before
    machine.passes(7 * MS)
    assert moves(clock) == before + 7 * MS
    machine.ros += 3600_000 * MS
    assert stands(clock) == machine.ros == before + 7 * MS


def test_simulated_time_counts_steps_and_pauses_and_restarts_where_it_goes_back():
    machine = Machine(simulated=True)
    clock = machine.clock()
    began = clock.stamp
    machine.ros += 20 * MS
    machine.steady += 900 * MS
    assert moves(clock) == began + 20 * MS
    assert moves(clock) == began + 20 * MS  # paused
    machine.ros = 3 * MS
    assert clock.read()
    assert (clock.stamp, clock.due(), clock.now()) == (3 * MS, 0, 3 * MS)
    assert not clock.read()
    machine.ros += MS
    assert moves(clock) == 4 * MS


def test_another_clock_restarts_the_time():
    machine = Machine()
    clock = machine.clock()
    machine.simulated, machine.ros = True, 5 * MS
    assert clock.read()
    assert (clock.stamp, clock.due()) == (5 * MS, 0)
    machine.simulated, machine.ros = False, 10**18
    assert clock.read()
    assert (clock.stamp, clock.due(), clock.now()) == (10**18, 0, machine.steady)


def test_skipped_steps_are_made_up_and_no_more():
    machine = Machine()
    clock = machine.clock()
    began = clock.stamp
    machine.passes(100 * MS)
    assert moves(clock, most=22) == began + 22 * MS
    assert clock.steps_lost == 78
    for k in range(1, 60):
        machine.passes(2 * MS)
        clock.read()
        assert clock.regain(2) == (2 if k <= 39 else 0)
        assert moves(clock) == began + 22 * MS + min(4 * k, 2 * k + 78) * MS
    assert clock.steps_lost == 0 and clock.stamp == machine.ros
