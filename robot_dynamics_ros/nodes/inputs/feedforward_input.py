"""Input of the feedforward torque from another node, with the check whether it may be added."""

import time

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.msg import TorqueInfo
from robot_dynamics_ros.control.law import Outcome, Result
from robot_dynamics_ros.control.laws.joint_space_law import NO_FEEDFORWARD
from robot_dynamics_ros.control.trajectories.followed import Followed
from robot_dynamics_ros.control.trajectories.lead import Limits
from robot_dynamics_ros.control.trajectories.motion_agreement import MotionAgreement
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.cdr import stamp_of
from robot_dynamics_ros.messages.joint_state import JointStateInput
from robot_dynamics_ros.nodes.inputs.torque_producers import Producers
from robot_dynamics_ros.nodes.process.hot_path import Input

TOPIC = 'feedforward_torque'
INFO_TOPIC = f'{TOPIC}/info'
FIELDS = 'position', 'velocity', 'effort'
SAID = 1.0
"""Time for which it is a warning that the torque led from elsewhere, s."""
INFO_QOS = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""The newest message of each of several publishers also reaches a node that is activated later."""
ANOTHER = Result(
    Outcome.INCOMPLETE,
    'feedforward torque not added: it follows another trajectory than this node, or from another start',
)


class Torques:
    """Newest torque for one trajectory, and the motion for which it was computed."""

    def __init__(self, numbers: np.ndarray):
        """Read ``numbers`` (3, n): q, qd and the torque in N m."""
        self.numbers, self.motion, self.effort = numbers, numbers[:2], numbers[2]
        self.stamp: int | None = None  # of its state, ns
        self.identity = self.start = 0  # of its trajectory
        self.is_used = False  # whether it belonged to a trajectory that this node follows

    def belongs_to(self, plan: Followed) -> bool:
        """Return whether the torque follows ``plan``; where its start is not exact, this one becomes its start."""
        if plan.agrees(self.identity, self.start):
            self.is_used = True
            return True
        if self.identity == plan.identity and not plan.is_exact:
            plan.agree_on(self.start)  # from the next state on
        return False


class FeedforwardInput:
    """The newest torque on ``feedforward_torque``, with what ``feedforward_torque``/info says of its publisher.

    A torque is used only where the info of its own publisher fits (``Producers``) and names the trajectory that this
    node follows, from the same start, or another point of the same stream, and where its motion is that of this node
    (``MotionAgreement``). While a trajectory is replaced, the newest torque that was added is kept: the trajectory goes
    on until the first torque of the new one.

    Everything but ``warnings`` and ``report`` belongs to the thread of the hot path.
    """

    def __init__(self, node, arm, age_limit: float, desired: np.ndarray, limits: Limits):
        """Read the torques for a BaseNode and its ControlledArm ``arm``.

        ``age_limit`` (s) is the largest distance of the torque's stamp from that of a state. ``desired`` (3, n) is
        where the node writes its motion, ``limits`` are those of its leads.
        """
        self._node = node
        self.age_limit = int(age_limit * 1e9)
        self.producers = Producers(node, arm, TOPIC)
        self._input = JointStateInput(arm.robot.joint_names, *FIELDS)
        numbers = self._input.numbers
        self._newest, self._before = Torques(numbers), Torques(np.zeros_like(numbers))
        self._agreement = MotionAgreement(arm.robot, desired, limits)
        self.effort = numbers[2]
        self.apart: Result | None = None
        self._compared = 0.0  # steady time at which a torque was compared with the motion of this node, s
        # an info is sent before the first torque of its trajectory, so it is taken after the torque and handled before
        self.inputs = Input(TOPIC, JointState, self.on_torque), Input(INFO_TOPIC, TorqueInfo, self.on_info, INFO_QOS)

    def reset(self) -> None:
        """Drop the torques, as at activation."""
        self._newest.stamp = self._before.stamp = self.apart = None

    def fault(self, stamp: int, plan: Followed | None) -> Result | None:
        """Return why there is no torque on ``plan`` for the state of ``stamp`` (ns); None: it is in ``effort``."""
        now = time.monotonic()
        fault = self.producers.fault(now)
        if fault is not None:
            return fault
        came = False
        for torques in (self._newest, self._before):
            if torques.stamp is not None and abs(stamp - torques.stamp) <= self.age_limit:
                came = True
                if plan is not None and torques.belongs_to(plan):
                    self.apart, self._compared = self._agreement.fault(plan, stamp, torques.motion, torques.stamp), now
                    if self.apart is None:
                        self.effort = torques.effort
                    return self.apart
        return ANOTHER if came else NO_FEEDFORWARD

    def moves(self, stamp: int) -> bool:
        """Return whether there is a torque of a motion, not one at rest, for the state of ``stamp`` (ns)."""
        of = self._newest.stamp
        return of is not None and abs(stamp - of) <= self.age_limit and self._agreement.moves(self._newest.motion)

    def on_torque(self, data: bytes, info: dict) -> None:
        """Record the newest torque; a wrong one is refused by name, and drops those before."""
        try:
            newest = self._newest
            stamp = stamp_of(data)
            last, before = newest.stamp, self.producers.chosen
            if not self.producers.accepts(info, last is None or abs(stamp - last) > self.age_limit):
                return
            producer = self.producers.chosen
            if newest.identity != producer.identity or newest.start != producer.start:
                if newest.is_used:
                    self._keep(newest)
                newest.identity, newest.start, newest.is_used = producer.identity, producer.start, False
            elif stamp == last and producer is before:
                return  # a fallback torque has the stamp of the last torque along the trajectory
            newest.stamp = None
            found = self._input.receive(data)
            missing = [field for bit, field in enumerate(FIELDS) if not found >> bit & 1]
            if missing:
                raise ArgumentError(self._input.missing(missing[0]))
            newest.stamp = stamp
        except DynamicsError as error:
            self.reset()
            self._node.refuse(f'feedforward torque refused: {error}')
        except Exception as error:  # no exception leaves a callback
            self.reset()
            self._node.refuse(f'feedforward torque refused: internal error: {error!r}')

    def on_info(self, data: bytes, info: dict) -> None:
        """Record what the torques of a publisher contain from now on."""
        try:
            self.producers.tell(deserialize_message(data, TorqueInfo), info)
        except Exception as error:  # no exception leaves a callback
            self._node.refuse(f'{INFO_TOPIC} refused: {error!r}')

    def warnings(self) -> list[str]:
        """Return why a torque could not be added now, whether a trajectory is followed or not."""
        apart = self.apart
        found = self.producers.warnings()
        return [*found, apart.reason] if apart is not None and time.monotonic() - self._compared < SAID else found

    def report(self) -> dict[str, str]:
        """Return the fields of the diagnostics."""
        return self.producers.report()

    def _keep(self, newest: Torques) -> None:
        """Keep the newest torque of a trajectory that another one replaces."""
        before = self._before
        before.numbers[:] = newest.numbers
        before.stamp, before.identity, before.start = newest.stamp, newest.identity, newest.start
