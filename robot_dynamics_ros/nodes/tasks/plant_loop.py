"""Plant loop of simulated_arm: steps MuJoCo, publishes joint states, reads effort commands and applied wrenches."""

import reprlib
import time

import numpy as np
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError, LoopError, SingularError, UnstableError
from robot_dynamics_ros.messages.command_stamp import answered_stamp
from robot_dynamics_ros.messages.stamps import set_nanoseconds
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.nodes.inputs.applied_wrench_input import AppliedWrenchInput
from robot_dynamics_ros.nodes.lifecycle.lifecycle_task import LifecycleTask
from robot_dynamics_ros.simulation.elastic_joints import ElasticJoints
from robot_dynamics_ros.simulation.plant.arm_clock import ArmClock
from robot_dynamics_ros.simulation.plant.command_age import CommandAge
from robot_dynamics_ros.simulation.plant.motor_pd import MotorPd
from robot_dynamics_ros.simulation.plant.surfaces import Surfaces

STEP_NS = 1_000_000
"""Simulation step in ns."""
SECOND = 1_000_000_000
AT_REST = 0.02
"""rad/s or m/s: an arm whose joints are all slower makes up lost time."""


def plant_class():
    """Return MujocoArm; ArgumentError where MuJoCo, which nothing else of a bringup needs, is not installed."""
    try:
        from robot_dynamics_ros.simulation.plant.mujoco_arm import MujocoArm  # noqa: PLC0415
    except ImportError as error:
        raise ArgumentError(f"simulated_arm needs MuJoCo (pip install 'mujoco>=3.3'): {error}") from None
    return MujocoArm


def gain(name: str, values, nv: int) -> np.ndarray:
    """Return a gain of the motors (nv) from one number for each joint or one for all; ArgumentError otherwise."""
    if list(values) == [-1.0]:
        raise ArgumentError(f'{name}: not stated, and actuation motor_pd needs it')
    return validation.of_each_joint(name, values, nv, zero=True)


def elastic_joints(robot, stiffness, damping) -> ElasticJoints | None:
    """Return the elastic joints of a robot, None for a stiffness of -1; ArgumentError naming a wrong parameter."""
    D = validation.of_each_joint('joint_damping', damping, robot.nv, zero=True)
    if list(stiffness) == [-1.0]:
        if D.any():
            raise ArgumentError('joint_damping: rigid joints have none; state joint_stiffness, too')
        return None
    return ElasticJoints(robot, validation.of_each_joint('joint_stiffness', stiffness, robot.nv, zero=False), D)


def contact_frame(robot, name: str) -> str:
    """Return the link or frame that is touched, '': ``end_link``; UnknownNameError for one that ``robot`` lacks."""
    if name:
        robot.link_pose(robot.neutral(), name)
    return name or robot.end_link


def surfaces(planes, frame: str) -> Surfaces | None:
    """Return the surfaces that a frame touches, None for [0.0]; ArgumentError for wrong ones."""
    return None if list(planes) == [0.0] else Surfaces(planes, frame)


def start_position(values, robot) -> np.ndarray:
    """Return the start position (n, rad) from one number for each joint or one for all; ArgumentError otherwise.

    [0.0] is the neutral position: zeros, or where the loops of a mechanism are closed first.
    """
    if list(values) == [0.0]:
        return robot.neutral()
    start = np.array(values, float)
    return validation.finite('start', np.full(robot.nq, start[0]) if len(start) == 1 else start, (robot.nq,))


class PlantLoop(LifecycleTask):
    """``effort_commands`` in, ``joint_states`` out, ``~/reset`` to the start position.

    With actuation motor_pd ``position_commands`` come in, too, and ``applied_wrench`` always. Brakes hold the arm from
    activation to the first command and whenever none came for ``command_timeout``. Where this node is late by more than
    ``longest_delay``, or the state that the command answers is that old (``CommandAge``), the arm's time stands still:
    a busy machine makes the simulation slow, not wrong. Lost time is made up, at double speed, while the arm rests.
    Stamps never go back (``ArmClock``). The joints of a mechanism that have no motor come after the others.

    Where the motion diverges, or a mechanism cannot go on, nothing is published until ``~/reset`` or the next
    activation.
    """

    def __init__(self, node):
        """Create the plant, the command input and the state output of ``node``, a BaseNode."""
        self._node, robot = node, node.robot
        check_tree(robot.model, node.get_name())
        motors: MotorPd | None = None
        if node.value('actuation') == 'motor_pd':
            gains = {'motor_stiffness': node.value('motor_stiffness'), 'motor_damping': node.value('motor_damping')}
            motors = MotorPd(*(gain(name, values, robot.nv) for name, values in gains.items()))
        frame = contact_frame(robot, node.value('contact_frame'))
        self._arm = plant_class()(
            robot,
            STEP_NS / SECOND,
            start_position(node.value('start'), robot),
            mass_error=node.value('mass_error'),
            friction_error=node.value('friction_error'),
            motors=motors,
            elastic=elastic_joints(robot, node.value('joint_stiffness'), node.value('joint_damping')),
            surfaces=surfaces(node.value('surfaces'), frame),
            frame=frame,
        )
        self._applied_wrench = AppliedWrenchInput(node, self._arm, frame)
        ros_clock = node.get_clock()
        self._arm_time = ArmClock(
            STEP_NS, lambda: ros_clock.now().nanoseconds, time.monotonic_ns, lambda: ros_clock.ros_time_is_active
        )
        self._timeout = round(node.value('command_timeout') * SECOND)
        self._period = max(STEP_NS, round(SECOND / node.value('rate')))
        self._longest_delay = round((1.0 / node.value('rate') + node.value('longest_delay')) * SECOND)
        self._command_age = CommandAge(self._longest_delay)
        self._diverged = ''
        names = [*robot.joint_names, *self._arm.passive_joint_names]
        rest = [0.0] * len(names)
        self._state = JointState(name=names, position=rest, velocity=rest, effort=rest)
        # the message's own memory: nothing is converted on the way out
        self._position = np.frombuffer(self._state.position)
        self._velocity = np.frombuffer(self._state.velocity)
        self._effort = np.frombuffer(self._state.effort)
        self._publisher = node.create_lifecycle_publisher(JointState, 'joint_states', 10)
        handlers = {'effort_commands': self._on_command}
        if motors is not None:
            handlers['position_commands'] = self._on_position
        for topic, handler in handlers.items():
            commands = node.create_subscription(Float64MultiArray, topic, handler, qos_profile_sensor_data)
            node.resources.callback(node.destroy_subscription, commands)
        timer = node.create_timer(1.0 / node.value('rate'), self._on_timer)
        reset = node.create_service(Trigger, '~/reset', self._on_reset)
        for destroy, entity in (
            (node.destroy_lifecycle_publisher, self._publisher),
            (node.destroy_timer, timer),
            (node.destroy_service, reset),
        ):
            node.resources.callback(destroy, entity)

    def begin(self) -> None:
        """Close the brakes and start the arm's time."""
        self.silence = LifecycleTask.silence
        self._arm.close_brakes()
        self._begin()

    def report(self) -> dict[str, str]:
        """Return brakes, lost time, the number of commands that named no state, forces of surfaces and of a hand."""
        lost = self._arm_time.steps_lost * STEP_NS / SECOND
        return {
            'brakes': 'closed' if self._arm.brakes else 'open',
            'time lost, s': f'{lost:.3f}',
            'commands without a state': str(self._command_age.unnamed),
            'contact force, N': ' '.join(f'{x:.3g}' for x in self._arm.contact_force),
            **self._applied_wrench.report(),
        }

    def warnings(self) -> list[str]:
        """Return that several nodes apply a wrench."""
        return self._applied_wrench.warnings()

    def _on_timer(self) -> None:
        """Step the arm up to now and publish its state."""
        if not self._node.active or self._node.crash or self._diverged:
            return
        if self._arm_time.read():
            self._command_age.reset()  # of the old time
        if self._command_age.quiet(self._arm_time.time) > self._timeout and not self._arm.brakes:
            self._arm.close_brakes()
        if self._arm.brakes:
            self._arm_time.follow()  # nothing moves: lost time is caught up
        try:
            self._step()
        except UnstableError as error:
            self._stop(f'{error}: lower the gains of its controller, then call ~/reset')
            return
        except (LoopError, SingularError) as error:
            self._stop(f'the arm cannot go on, its brakes are closed: {error}; call ~/reset')
            return
        set_nanoseconds(self._state.header.stamp, self._arm_time.stamp)
        n = len(self._arm.torque)
        self._position[:n], self._velocity[:n] = self._arm.position, self._arm.velocity
        self._position[n:], self._velocity[n:] = self._arm.passive_position, self._arm.passive_velocity
        self._effort[:n] = self._arm.motor_torque
        self._publisher.publish(self._state)
        self.silence = ''

    def _stop(self, reason: str) -> None:
        """Log the reason for which nothing is published any more."""
        self._diverged = self.silence = reason
        self._node.get_logger().error(reason)

    def _begin(self) -> None:
        """Start the arm's time now, without a command."""
        self._diverged = ''
        self._command_age.reset()
        self._arm_time.read()
        self._arm_time.follow()

    def _step(self) -> None:
        """Step the arm by the due time; a late machine or controller loses time, and an arm at rest regains some."""
        room = self._command_age.room(self._arm_time.stamp, self._arm_time.time) // STEP_NS
        if room and np.abs(self._arm.velocity).max() < AT_REST:
            self._arm_time.regain(self._period // STEP_NS)
        due = self._arm_time.due()
        count = min(due, room)
        self._arm.step(count)
        self._arm_time.advance(count, lost=due - count)

    def _on_command(self, message: Float64MultiArray) -> None:
        """Apply the newest torque, in joint order; a wrong one is refused."""
        self._apply(message, self._arm.torque, 'torques')

    def _on_position(self, message: Float64MultiArray) -> None:
        """Apply the newest position command, in joint order, likewise."""
        self._apply(message, self._arm.position_command, 'positions')

    def _apply(self, message: Float64MultiArray, command: np.ndarray, what: str) -> None:
        """Write the numbers of a message into ``command`` (n) and release the brakes of an active arm."""
        if not self._node.active or self._diverged:
            return
        if len(message.data) != len(command) or not np.isfinite(message.data).all():
            got = reprlib.repr(list(message.data))  # short, however much came
            self._node.get_logger().warning(
                f'command refused: expected {len(command)} finite {what}, got {got}', throttle_duration_sec=1.0
            )
            return
        command[:] = message.data
        self._arm.brakes = False
        self._command_age.receive(answered_stamp(message), self._arm_time.stamp, self._arm_time.now())

    def _on_reset(self, request, response):
        """Reset the arm to its start position, brakes closed."""
        self._arm.reset()
        self._begin()
        response.success, response.message = True, 'at the start position, brakes closed'
        return response
