"""The feedforward torque of another node, and whether it may be added."""

import time

import numpy as np

from robot_dynamics_interfaces.msg import TorqueInfo
from robot_dynamics_ros.control.feedforward_terms import TorqueTerms, load_mismatch, mismatch
from robot_dynamics_ros.control.joint_space_law import NO_FEEDFORWARD
from robot_dynamics_ros.control.law import Outcome, Result
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.messages.cdr import stamp_of
from robot_dynamics_ros.messages.joint_state import JointStateInput
from robot_dynamics_ros.messages.load import payload_messages
from robot_dynamics_ros.nodes.qos import TRANSIENT_LOCAL

TOPIC = 'feedforward_torque'
SPREAD = 1.0
"""s in which a change of payload or gravity reaches both nodes, and the producer's info this one."""
NO_INFO = Result(Outcome.INCOMPLETE, f'feedforward torque not added: nothing came on {TOPIC}/info')


class FeedforwardInput:
    """The newest torque on ``feedforward_torque`` and the newest terms on ``feedforward_torque``/info.

    The torque is used only where its terms fit: no term that the robot adds itself, the same joints, gravity owner and
    model, and the same payload and gravity. Where those two have fitted, they may differ for ``SPREAD`` at most.

    The hot path calls ``on_torque`` and ``fault``, the executor the other methods.
    """

    def __init__(self, node, arm, age_limit: float):
        """Subscribe to the info for a BaseNode and its LoadedRobot ``arm``.

        ``age_limit`` (s) is the largest distance of the torque's stamp from that of a state.
        """
        self._node, self._arm = node, arm
        self.age_limit = int(age_limit * 1e9)
        self._input = JointStateInput(arm.robot.joint_names, 'effort')
        (self.effort,) = self._input.numbers
        self._stamp: int | None = None
        self._info: TorqueTerms | None = None
        self._fault: Result | None = NO_INFO
        self._load_fits = False
        self._late: tuple[float, Result] | None = None  # from which time (steady, s) the load is a fault
        arm.followers.append(self.compare)
        subscription = node.create_subscription(TorqueInfo, f'{TOPIC}/info', self._on_info, TRANSIENT_LOCAL)
        node.resources.callback(node.destroy_subscription, subscription)

    def reset(self) -> None:
        """Drop the torque, as at activation."""
        self._stamp = None

    def fault(self, stamp: int) -> Result | None:
        """Return why there is no torque for the state of ``stamp`` (ns); None where there is one."""
        if self._fault is not None:
            return self._fault
        late = self._late
        if late is not None and time.monotonic() >= late[0]:
            return late[1]
        newest = self._stamp
        return None if newest is not None and abs(stamp - newest) <= self.age_limit else NO_FEEDFORWARD

    def on_torque(self, data: bytes) -> None:
        """Record the newest torque; a wrong one is refused by name, and drops the one before."""
        self._stamp = None
        try:
            if self._input.receive(data):
                self._stamp = stamp_of(data)
            else:
                self._node.refuse(f'feedforward torque refused: {self._input.missing("effort")}')
        except DynamicsError as error:
            self._node.refuse(f'feedforward torque refused: {error}')
        except Exception as error:  # no exception leaves a callback
            self._node.refuse(f'feedforward torque refused: internal error: {error!r}')

    def compare(self) -> None:
        """Compare the torque's terms with this node's, after either has changed."""
        if self._info is None:
            return
        needed = self._needed()
        fault = _refusal(mismatch(self._info, needed))
        if fault is not None and fault != self._fault:
            self._node.get_logger().warning(fault.reason)
        self._fault = fault
        late = _refusal(load_mismatch(self._info, needed))
        if late is None:
            self._late = None
        elif self._load_fits:
            self._late = time.monotonic() + SPREAD, late
        else:
            since, before = self._late or (0.0, None)
            if late != before:
                self._node.get_logger().warning(late.reason)
            self._late = since, late
        self._load_fits = late is None

    def _on_info(self, message: TorqueInfo) -> None:
        """Record the torque's terms and compare them."""
        self._info = _terms_of(message, message.terms, message.payloads)
        self.compare()

    def _needed(self) -> TorqueTerms:
        """Return the terms that a torque must have to be added."""
        arm, load = self._arm, self._arm.load.load
        return TorqueTerms(
            joint_names=tuple(arm.robot.joint_names),
            terms=arm.ownership.terms,
            gravity_owner=arm.ownership.gravity_owner,
            model_digest=arm.digest,
            gravity=tuple(map(float, load.gravity.after)),
            payload=_payload_of(payload_messages(load.payload.after)),
        )


def _refusal(why: str) -> Result | None:
    """Return the result for a torque that may not be added; None where nothing is against it."""
    return Result(Outcome.INCOMPLETE, f'feedforward torque not added: {why}') if why else None


def _terms_of(message: TorqueInfo, terms, payloads) -> TorqueTerms:
    gravity = message.gravity
    return TorqueTerms(
        joint_names=tuple(message.joint_names),
        terms=tuple(terms),
        gravity_owner=message.gravity_owner,
        model_digest=message.model_digest,
        gravity=(gravity.x, gravity.y, gravity.z),
        payload=_payload_of(payloads),
    )


def _payload_of(messages) -> tuple:
    """Return frame, mass, centre of mass and inertia of each body with a mass, in the order of the frames."""
    return tuple(
        sorted(
            (body.frame, body.mass, *(tuple(np.asarray(field).tolist()) for field in (body.com, body.inertia)))
            for body in messages
            if body.mass
        )
    )
