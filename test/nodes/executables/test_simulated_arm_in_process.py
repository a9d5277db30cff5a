"""simulated_arm in the process of the test: its callbacks one by one, clocks, exceptions, parts of a description."""

import time
from types import SimpleNamespace

from support.nodes import graph as ros

import numpy as np
import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock as RosClock
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.executables.simulated_arm import SimulatedArm
from robot_dynamics_ros.nodes.tasks.plant_loop import PlantLoop

NAMES = list(Robot.named('aubo_i5').joint_names)


class LateClock:
    """A node's clock in a process that now and then loses the processor right before it reads the clock."""

    def __init__(self, clock):
        self._clock, self._reads = clock, 0

    def now(self):
        self._reads += 1
        if self._reads % 7 == 0:
            time.sleep(0.02)
        return self._clock.now()

    @property
    def ros_time_is_active(self):
        return self._clock.ros_time_is_active


@pytest.fixture
def arm(alone):
    """An active node of this process, in no executor."""
    node = SimulatedArm(namespace='alone', parameter_overrides=[Parameter('command_timeout', value=0.005)])
    clock = LateClock(node.get_clock())
    node.get_clock = lambda: clock
    node.trigger_configure()
    node.trigger_activate()
    yield node
    node.fall_silent()
    node.destroy_node()


def test_stamps_neither_go_back_nor_ahead_where_the_processor_is_lost_between_two_clocks(arm):
    stamps = []
    for k in range(100):
        if k % 10 < 3:
            arm.task._on_command(Float64MultiArray(data=[0.0] * 6))
        if k == 50:
            arm.task._on_reset(None, Trigger.Response())
        if k == 70:
            arm.trigger_deactivate()
            arm.trigger_activate()
        arm.task._on_timer()
        stamps.append(ros.nanoseconds(arm.task._state.header.stamp))
        assert stamps[-1] <= time.time_ns()
        time.sleep(0.001)
    assert (np.diff(stamps) >= 0).all()
    assert stamps[-1] > stamps[0]


def test_activation_begins_on_the_brakes(arm):
    arm.task._on_command(Float64MultiArray(data=[0.0] * 6))
    arm.trigger_deactivate()
    arm.task._on_command(Float64MultiArray(data=[1.0] * 6))
    arm.trigger_activate()
    assert arm.task.report()['brakes'] == 'closed'
    before = list(arm.task._arm.position)
    time.sleep(0.01)
    arm.task._on_timer()
    assert list(arm.task._state.position) == before


@pytest.mark.parametrize('part', ['_on_timer', '_on_command', '_on_reset'])
def test_an_exception_leaves_no_callback(alone, monkeypatch, part):
    calls = []

    def fails(*arguments):
        calls.append(arguments)
        raise ZeroDivisionError('of the test')

    monkeypatch.setattr(PlantLoop, part, fails)
    node = SimulatedArm(namespace='failing')
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    node.start()
    commands = alone.node.create_publisher(Float64MultiArray, 'failing/effort_commands', 10)
    resets = alone.node.create_client(Trigger, 'failing/simulated_arm/reset')
    try:
        deadline = time.monotonic() + ros.TIMEOUT
        while not calls:
            assert time.monotonic() < deadline, 'not called'
            commands.publish(Float64MultiArray(data=[0.0] * 6))
            if resets.service_is_ready():
                resets.call_async(Trigger.Request())
            executor.spin_once(timeout_sec=0.05)  # an exception of a callback comes out here
        for _ in range(10):
            executor.spin_once(timeout_sec=0.01)
    finally:
        node.fall_silent()
        executor.shutdown()
        node.destroy_node()
        alone.node.destroy_publisher(commands)
        alone.node.destroy_client(resets)
    if part != '_on_reset':
        assert 'of the test' in node.crash


def test_where_the_motion_diverges_the_arm_is_silent_until_its_reset_and_the_log_says_so_once(arm, capfd):
    published = []
    arm.task._publisher = SimpleNamespace(publish=published.append)
    for _ in range(5):
        arm.task._on_command(Float64MultiArray(data=[1e30, 0.0, 0.0, 0.0, 0.0, 0.0]))
        time.sleep(0.002)  # less than command_timeout
        arm.task._on_timer()
    while not arm.task._diverged:  # a busy machine may have closed the brakes in between
        arm.task._on_command(Float64MultiArray(data=[1e30, 0.0, 0.0, 0.0, 0.0, 0.0]))
        arm.task._on_timer()
    published.clear()
    arm.task._on_command(Float64MultiArray(data=[0.0] * 6))
    arm.task._on_timer()
    assert not published and arm.task.report()['brakes'] == 'closed'
    assert "largest torque 1e+30 at joint 'shoulder_joint'" in arm.silence and '~/reset' in arm.silence
    lines = capfd.readouterr().err.splitlines()
    assert len([line for line in lines if 'diverges' in line]) == 1 and not any('WARN' in line for line in lines)
    arm.task._on_reset(None, Trigger.Response())
    arm.task._on_timer()
    assert published and arm.silence == ''
    arm.task._on_command(Float64MultiArray(data=[0.0] * 6))
    assert arm.task.report()['brakes'] == 'open'


def test_after_an_error_the_arm_is_silent_until_it_is_activated_again(arm):
    plant, arm.task._arm = arm.task._arm, None
    stamp = ros.nanoseconds(arm.task._state.header.stamp)
    tick = arm.guarded(arm.task._on_timer)
    tick()
    assert 'internal error' in arm.silence
    arm.task._arm = plant
    tick()
    assert ros.nanoseconds(arm.task._state.header.stamp) == stamp
    assert 'internal error' in arm.silence
    arm.trigger_deactivate()
    arm.trigger_activate()
    tick()
    assert ros.nanoseconds(arm.task._state.header.stamp) > stamp
    assert arm.silence == ''


def test_stamps_follow_simulated_time_also_where_it_goes_back(alone):
    node = SimulatedArm(namespace='timed', parameter_overrides=[Parameter('use_sim_time', value=True)])
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    node.start()
    clock = alone.node.create_publisher(RosClock, '/clock', 10)

    def stamp_at(now):
        """Return the stamp of the state at ``now``, in ns both."""
        message, deadline = RosClock(), time.monotonic() + ros.TIMEOUT
        message.clock.sec, message.clock.nanosec = divmod(now, ros.SECOND)
        while node.get_clock().now().nanoseconds != now:
            assert time.monotonic() < deadline, 'the clock'
            clock.publish(message)
            executor.spin_once(timeout_sec=0.02)
        node.task._on_timer()
        return ros.nanoseconds(node.task._state.header.stamp)

    try:
        assert stamp_at(100 * ros.SECOND) == 100 * ros.SECOND
        node.task._on_command(Float64MultiArray(data=[0.0] * 6))
        assert stamp_at(100 * ros.SECOND + 20_000_000) == 100 * ros.SECOND + 20_000_000
        assert any(node.task._state.velocity)
        assert stamp_at(3 * ros.SECOND) == 3 * ros.SECOND
        assert not any(node.task._state.velocity)  # commands of a time that is over: brakes
    finally:
        node.fall_silent()
        executor.shutdown()
        node.destroy_node()
        alone.node.destroy_publisher(clock)


@pytest.mark.parametrize(
    ('part', 'joints'),
    [
        ({'locked_joints': ['foreArm_joint: 1.0']}, [name for name in NAMES if name != 'foreArm_joint']),
        ({'tip_link': 'wrist1_Link'}, NAMES[:4]),
        (
            {'base_link': 'shoulder_Link', 'gravity': [0.0, 0.0, -9.81], 'locked_joints': ['wrist2_joint: 0.7']},
            [*NAMES[1:4], NAMES[5]],
        ),
    ],
)
def test_part_of_a_description_is_a_plant_of_its_own(alone, part, joints):
    values = {**part, 'start': [0.3]}
    node = SimulatedArm(
        namespace='part', parameter_overrides=[Parameter(name, value=value) for name, value in values.items()]
    )
    try:
        node.trigger_configure()
        assert node.silence == 'not active'
        robot, plant = node.robot, node.task._arm
        assert node.task._state.name == joints == list(robot.joint_names)
        start = np.full(len(joints), 0.3)
        plant.torque[:] = robot.gravity_torque(start) + robot.friction.offset
        plant.brakes = False
        plant.step(500)
        np.testing.assert_allclose(plant.position, start, rtol=0, atol=1e-6)  # it carries what it weighs, no more
        plant.torque[0] += 30.0
        plant.step(100)
        assert plant.velocity[0] > 0.1
    finally:
        node.fall_silent()
        node.destroy_node()
