"""Compares payload, gravity and gravity torque of an AUBO controller with those of this graph."""

import numpy as np
from geometry_msgs.msg import Vector3

from robot_dynamics_interfaces.srv import SetGravity, SetPayload
from robot_dynamics_ros.aubo.repetition import Repetition
from robot_dynamics_ros.aubo.settings import gravity_difference, mounting_difference, payload_difference
from robot_dynamics_ros.aubo.settings_poller import SettingsPoller
from robot_dynamics_ros.control.payload.payload_blending import GravityTorque, PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import carrier
from robot_dynamics_ros.messages.payload_gravity import payload_messages
from robot_dynamics_ros.nodes.inputs.payload_gravity_input import PayloadGravityInput
from robot_dynamics_ros.payload import Payload

PERIOD = 1.0
"""s between two comparisons."""
SERVER = 'dynamics_server'


class AuboComparison:
    """What is set on the controller beside what dynamics_server has published, and which follows which.

    With the parameters payload_source and gravity_source ``controller``, dynamics_server is asked to follow the
    controller. The controller itself is never changed.
    """

    def __init__(self, node, poller: SettingsPoller):
        """Compare what ``poller`` reads with the topics and the model of ``node``, a BaseNode."""
        self._node, self._poller, robot = node, poller, node.robot
        self._frame = carrier(robot, Payload(1.0, (0.0, 0.0, 0.0)), node.value('payload_frame'))
        self._input = PayloadGravityInput(node)
        self._gravity = PayloadBlender(GravityTorque, robot, self._input.current)
        self._input.follow(self._gravity.take)
        self._torque, self._difference = np.zeros(robot.nv), np.full(robot.nv, np.nan)
        self._followed = {
            'payload': _Followed(node, SetPayload, 'set_payload', 'payload_state'),
            'gravity': _Followed(node, SetGravity, 'set_gravity', 'gravity_state'),
        }
        timer = node.create_timer(PERIOD, self._follow, clock=node.steady_clock)
        node.resources.callback(node.destroy_timer, timer)

    def begin(self) -> None:
        """Look for payload and gravity, as at activation."""
        self._input.begin()
        self.forget()
        for followed in self._followed.values():
            followed.forget()

    def forget(self) -> None:
        """Forget the last comparison of gravity torques."""
        self._difference = np.full_like(self._difference, np.nan)

    def compare(self, stamp: int, position: np.ndarray, gravity: np.ndarray) -> None:
        """Compare ``gravity`` (n, N m) of the controller with the model's at ``position`` (n, rad); any thread."""
        self._gravity.torque(stamp, position, out=self._torque)
        self._difference = gravity - self._torque

    def warnings(self) -> list[str]:
        """Return what differs, a line each."""
        settings, now = self._poller.settings, self._input.current
        found = [f'settings of the controller: {self._poller.fault}'] if self._poller.fault else []
        if settings.payload is not None:
            found.append(self._payload_difference(settings.payload))
        if settings.gravity is not None:
            found.append(gravity_difference(settings.gravity, now.gravity.after))
            if self._node.value('gravity_source') != 'controller':  # else it is a refusal
                found.append(self._contradiction())
        elif settings.mounting is not None:
            found.append(mounting_difference(settings.mounting, now.gravity.after, 'that of the nodes'))
        tolerance = self._node.value('gravity_tolerance')
        if np.nanmax(np.abs(self._difference), initial=0.0) > tolerance:
            joint = int(np.nanargmax(np.abs(self._difference)))
            found.append(
                f'the gravity torque of the controller differs from the model by {self._difference[joint]:.3g} N m at '
                f'{self._node.robot.joint_names[joint]} (gravity_tolerance {tolerance:g} N m)'
            )
        found += [followed.refusal for followed in self._followed.values()]
        return [line for line in found if line] + self._input.warnings()

    def report(self) -> dict[str, str]:
        """Return the fields of the diagnostics."""
        settings, difference = self._poller.settings, self._difference
        gravity, payload = settings.gravity, settings.payload
        return {
            'controller payload, kg': '' if payload is None else f'{payload.mass:g}',
            'controller gravity, m/s^2': '' if gravity is None else ' '.join(f'{part:g}' for part in gravity),
            'gravity torque difference, N m': ''
            if np.isnan(difference).all()
            else ' '.join(f'{part:.2f}' for part in difference),
            **self._input.report(),
        }

    def _payload_difference(self, controller: Payload) -> str:
        """Return how the payload of the controller differs from that in force, '' for not."""
        model, ours = self._node.robot.model, self._node.robot.model.frame(self._frame)
        total = Payload(0.0, (0.0, 0.0, 0.0))
        for name, payload in self._input.current.payload.after.items():
            frame = model.frame(name)
            if frame.link != ours.link:
                return f'the payload of the nodes is on {name!r}, which is not fixed to {self._frame!r}'
            turn = ours.rotation.T @ frame.rotation
            centre = turn @ np.asarray(payload.com) + ours.rotation.T @ (frame.origin - ours.origin)
            total = total + Payload(payload.mass, centre, turn @ payload.inertia @ turn.T)
        return payload_difference(controller, total)

    def _follow(self) -> None:
        """Ask dynamics_server to follow the controller, where payload_source or gravity_source says so."""
        node, settings = self._node, self._poller.settings
        if not node.active:
            return
        now = self._input.current
        payload, gravity = settings.payload, settings.gravity
        for name, followed in self._followed.items():
            if node.value(f'{name}_source') != 'controller':
                followed.forget()
        if node.value('payload_source') == 'controller' and payload is not None:
            differs = self._payload_difference(payload)
            (body,) = payload_messages({self._frame: payload})
            request = SetPayload.Request(mass=body.mass, com=body.com, inertia=body.inertia, frame=body.frame)
            self._followed['payload'].ask(request, bool(differs), now.payload)
        if node.value('gravity_source') == 'controller' and gravity is not None:
            request = SetGravity.Request()
            request.gravity.vector = Vector3(x=gravity[0], y=gravity[1], z=gravity[2])
            contradiction = self._contradiction()
            if contradiction:
                self._followed['gravity'].refuse(contradiction)
            else:
                differs = bool(gravity_difference(gravity, now.gravity.after))
                self._followed['gravity'].ask(request, differs, now.gravity)

    def _contradiction(self) -> str:
        """Return how gravity and mounting pose of the controller contradict each other, '' where they do not."""
        settings = self._poller.settings
        known = settings.gravity is not None and settings.mounting is not None
        return mounting_difference(settings.mounting, settings.gravity) if known else ''


class _Followed:
    """A service of dynamics_server that sets what the controller has; ``refusal`` is why it did not."""

    def __init__(self, node, kind, name: str, topic: str):
        """Call service ``name`` of dynamics_server, which publishes the value in force on ``topic``."""
        self._node, self._name, self._topic = node, f'{SERVER}/{name}', topic
        self._repetition = Repetition()
        self._client = node.create_client(kind, self._name)
        node.resources.callback(node.destroy_client, self._client)
        self._pending = None
        self.forget()

    def forget(self) -> None:
        """Forget what was asked last."""
        self.refusal, self._seen, self._logged = '', None, None
        self._repetition.forget()
        self._drop()

    def refuse(self, reason: str) -> None:
        """Send no request, and report the ``reason``."""
        self.forget()
        self.refusal = self._why(reason)

    def ask(self, request, differs: bool, state) -> None:
        """Send ``request`` while the ``state`` in force ``differs``, with pauses that grow up to 8 s.

        After a change of the state or of its publishers the first pause is short again.
        """
        seen = state, self._node.payload_gravity_topics.publishers(self._topic)
        if self._seen is None or seen[0] is not self._seen[0] or seen[1] != self._seen[1]:
            self._seen = seen
            self._repetition.forget()
        if not differs:
            self.refusal, self._logged = '', None
            self._repetition.forget()
        elif not self._client.service_is_ready():
            self.refusal = self._why('activate dynamics_server')
        elif self._repetition.due(request):
            if request != self._logged:
                self._logged = request
                self._node.get_logger().info(f'{self._name}: as the controller has it')
            self._drop()
            self._pending = self._client.call_async(request)
            self._pending.add_done_callback(self._node.guarded(self._on_answer))

    def _drop(self) -> None:
        """Await no answer any more."""
        if self._pending is not None:
            self._client.remove_pending_request(self._pending)
        self._pending = None

    def _on_answer(self, future) -> None:
        if future is not self._pending:
            return
        self._pending, answer = None, future.result()
        self.refusal = '' if answer.success else self._why(answer.message)

    def _why(self, reason: str) -> str:
        return f'{self._name} does not follow the controller: {reason}'
