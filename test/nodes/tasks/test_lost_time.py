"""What a simulated arm does about the time that a busy machine has lost."""

from types import SimpleNamespace

from support.nodes.graph import SECOND

import numpy as np
import pytest
from rclpy.parameter import Parameter
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.messages.command_stamp import stamped
from robot_dynamics_ros.nodes.executables.simulated_arm import SimulatedArm
from robot_dynamics_ros.nodes.tasks import plant_loop
from robot_dynamics_ros.simulation.plant.arm_clock import ArmClock

MS = 1_000_000
PERIOD, DELAY = 2 * MS, 2 * MS
"""Of the rate and of longest_delay, ns."""


@pytest.fixture
def arm(file_graph):
    """An active node of this process, in no executor."""
    settings = {'model': 'aubo_i5', 'rate': SECOND / PERIOD, 'longest_delay': DELAY / SECOND, 'command_timeout': 10.0}
    node = SimulatedArm(
        namespace='alone', parameter_overrides=[Parameter(name, value=value) for name, value in settings.items()]
    )
    node.trigger_configure()
    node.trigger_activate()
    yield node
    node.fall_silent()
    node.destroy_node()


@pytest.mark.parametrize(('speed', 'regained'), [(0.0, True), (0.5, False)], ids=['at rest', 'in motion'])
def test_lost_time_is_made_up_while_the_arm_rests(monkeypatch, arm, speed, regained):
    loop, now, numbers = arm.task, [0], np.zeros(6)
    loop._arm = SimpleNamespace(
        brakes=False,
        position=numbers,
        velocity=numbers,
        passive_position=np.zeros(0),
        passive_velocity=np.zeros(0),
        torque=numbers.copy(),
        motor_torque=numbers,
        step=lambda count: None,
    )
    loop._arm_time = ArmClock(plant_loop.STEP_NS, lambda: now[0], lambda: now[0], lambda: False)

    def tick(duration):
        now[0] += duration
        loop._on_command(Float64MultiArray(data=[0.0] * 6))
        loop._on_timer()

    tick(2_000_000)
    monkeypatch.setattr(loop._arm, 'velocity', np.full(6, speed))
    tick(500_000_000)  # the machine was busy
    lost = loop._arm_time.steps_lost
    assert lost > 400 and loop._arm_time.stamp == now[0] - lost * plant_loop.STEP_NS
    for _ in range(300):
        tick(2_000_000)
    assert loop._arm_time.steps_lost == (0 if regained else lost)
    assert loop._arm_time.stamp == now[0] - loop._arm_time.steps_lost * plant_loop.STEP_NS


class LateController:
    """Answers every state ``delay`` later, and records how old commands become in the arm's time while it moves."""

    def __init__(self, arm, delay):
        self._loop, self._delay = arm.task, delay
        self.now, self._under_way, self._answered, self._before, self.oldest = 10**9, [], None, 0, 0
        self._loop._arm_time = ArmClock(plant_loop.STEP_NS, lambda: self.now, lambda: self.now, lambda: False)
        self._loop._publisher = SimpleNamespace(publish=self._on_state)

    @property
    def stamp(self):
        return self._loop._arm_time.stamp

    def _on_state(self, message):
        if self._answered is not None and self.stamp > self._before:  # the arm moved under the command until now
            self.oldest = max(self.oldest, self.stamp - self._answered)
        self._before = self.stamp
        self._under_way.append((self.now + self._delay, self.stamp))

    def run(self, ticks):
        began = self.stamp
        for _ in range(ticks):
            self.now += PERIOD
            while self._under_way and self._under_way[0][0] <= self.now:
                self._answered = self._under_way.pop(0)[1]
                command = stamped(6)
                command.layout.dim[0].size, command.layout.dim[0].stride = divmod(self._answered, SECOND)
                self._loop._on_command(command)
            self._loop._on_timer()
        return self.stamp - began


@pytest.mark.parametrize('delay', [0, 10, 30])
def test_a_late_answer_makes_the_arm_slow_and_is_no_older_in_its_time_than_longest_delay(arm, delay):
    controller = LateController(arm, delay * MS)
    controller.run(100)
    elapsed = controller.run(300)
    assert 0 < controller.oldest <= PERIOD + DELAY
    assert elapsed == pytest.approx(300 * PERIOD * min(1.0, (PERIOD + DELAY) / max(delay * MS, 1)), rel=0.1)
    assert arm.task.report()['commands without a state'] == '0'


def test_the_commands_of_others_are_counted(arm):
    arm.task._on_command(Float64MultiArray(data=[0.0] * 6))
    assert arm.task.report()['commands without a state'] == '1'
