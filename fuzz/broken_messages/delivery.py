"""Passes messages to the nodes of a run as the middleware would, and checks each node after each message."""

from random import Random

import numpy as np
import torques
from findings import Findings
from in_process import InProcess
from load import LARGEST_COMPARED, SECOND, Load, ramp_of
from load import TOPICS as LOADS
from node_settings import CONTROLLER, SERVER, TERMS
from process import compiled
from rules import BROKEN
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from broken_messages.description import TOPIC as DESCRIPTION_TOPIC
from broken_messages.nodes import DESCRIBED, DESCRIPTION, NODES, ROBOT, Watch, read_state
from broken_messages.parameters import Parameters
from broken_messages.random_messages import SERVICES, Messages
from broken_messages.server import Server
from broken_messages.spoil import serialized, understood
from robot_dynamics_interfaces.msg import GravityState, PayloadState, TorqueInfo
from robot_dynamics_ros.messages.joint_trajectory import trajectory_of
from robot_dynamics_ros.messages.payload_gravity import payload_messages


class Delivery:
    """Nodes, messages and findings of a run."""

    def __init__(self, nodes: InProcess, reference_kind, seed: int):
        """Start ``nodes`` and send them messages drawn from ``seed``."""
        self.nodes, self.random, self.found, self.arm = nodes, Random(seed), Findings(BROKEN), nodes.settings.arm
        self.check, self.messages = self.found.check, Messages(self.random, ROBOT, reference_kind)
        self.allocated: list[tuple[int, float]] = []  # number of messages, MB
        nodes.failed = lambda name, error: self.check('CALLBACK', False, f'{name}: {error!r}')
        self._watches: dict[str, Watch] = {}
        self._parameters, self._server = {}, Server(self.found, self.arm)
        self._kernels: list = []  # all that are compiled, once everything is
        self._pass(SECOND)
        for number, (name, (kind, _, further)) in enumerate(NODES.items()):
            nodes.make(name, nodes.settings.parameters(name), kind, f'/fuzz_{number}')
            node = nodes.nodes[name]
            if further is DESCRIBED:
                nodes.give(name, DESCRIPTION_TOPIC, serialized(String(data=DESCRIPTION)))
            else:
                node.start()
            self._parameters[name] = Parameters(self.found, node, self.random)
            self._parameters[name].compile_all()
            if kind != SERVER:
                self._watches[name] = Watch(name, nodes.settings, self.found)
            self._begin(name, anew=True)

    def _pass(self, duration: int) -> None:
        self.nodes.sleep(duration)
        self.messages.now = self.nodes.now

    def _begin(self, name: str, anew: bool = False) -> None:
        """Reset what is expected of a node that was activated, or configured ``anew``."""
        if NODES[name][0] == SERVER:
            self._server.load = Load() if anew else self._server.load
            return
        watch = self._watches[name]
        if anew:
            watch.configure(self.nodes.steady)
            self._pass(SECOND)  # the node knows by now that nobody publishes a payload
        watch.reset()
        watch.active = True
        self.nodes.tick(name)
        self._inform(name)

    def _give(self, name: str, topic: str, data: bytes, prompt: bool = True):
        """Pass bytes to a node as the middleware would; return the response of a service, None where rclpy refuses."""
        node, found = self.nodes.nodes[name], self.found
        found.index += 1
        found.counts[topic] += 1
        self.nodes.take(name)
        node._refusal, before = '', compiled(self._kernels)
        services, service = self.nodes.kept(node).services, topic.removeprefix('~/')
        if service in services:
            message = understood(data, services[service][0].Request)
            answer = None if message is None else self.nodes.request(name, service, message)
        else:
            # external_torque_node has two of joint_states: one of them compares efforts at rest
            subscription, *_ = self.nodes.subscriptions(name, topic)
            answer = True if subscription.raw or understood(data, subscription.kind) is not None else None
            if answer:
                self.nodes.give(name, topic, data)
        versions, said = compiled(self._kernels) - before, f'{self._reason(name)!r}, refused: {node._refusal!r}'
        found.context = f'{name}, {said}, {topic}, message {data.hex()}'
        self.check('PROMPT', not versions or not prompt, f'{name}: {versions} kernels')
        self.check('CALLBACK', 'internal error' not in said, f'{name}: {said}')
        found.counts['refused by rclpy'] += answer is None
        return answer

    def _reason(self, name: str) -> str:
        node = self.nodes.nodes[name]
        return node.task.pipeline.silence if node.active and name in self._watches else node.silence

    def _message(self, name: str, topic: str, data: bytes, valid: bool = True) -> None:
        """Send a message and check the effect."""
        if topic == 'joint_states':
            self._state(name, data)
            return
        task = self.nodes.nodes[name].task
        loads = dict.fromkeys(LOADS, task._payload_gravity)
        source = task.trajectory if topic == 'joint_trajectory' else loads.get(topic)
        if source is not None:
            source.refused = ''
        read = self._give(name, topic, data)
        sent = torques.read(self.nodes.take(name))
        self.check('ONCE', not sent, lambda: f'{name}: {sent} published for {topic}')
        if topic == 'joint_trajectory':
            message = understood(data, JointTrajectory)
            if message is not None and serialized(message) == data:  # a string may lack its end, for instance
                good = all(np.isfinite(point.positions).all() for point in message.points)
                good = good and (not message.points or set(ROBOT.joint_names) <= set(message.joint_names))
                self.check('REFUSED', source.refused or good, lambda: f'{name}: {message} was not refused')
        if topic in LOADS and read:
            kind = PayloadState if topic == 'payload_state' else GravityState
            self._loaded(name, topic, understood(data, kind), source.refused, valid)

    def _loaded(self, name: str, topic: str, message, refused: str, valid: bool) -> None:
        """Check whether a payload or gravity was refused, and follow it otherwise."""
        if topic == 'payload_state':
            rows = [(body.mass, *body.com, *body.inertia) for body in (message, *message.before)]
        else:
            rows = [(vector.x, vector.y, vector.z) for vector in (message.gravity, message.before)]
        numbers = np.array([message.ramp_time, *np.ravel(rows)])
        good = bool(np.isfinite(numbers).all() and message.ramp_time >= 0.0)
        right = not (refused and valid) if good else bool(refused)
        self.check('REFUSED', right, lambda: f'{name}: {message} was {refused or "not refused"}')
        if not refused and good:
            watch = self._watches[name]
            watch.follow_load(topic, message, self.nodes.now)
            if np.abs(numbers).max() > LARGEST_COMPARED:  # then rounding may hide a step
                watch.load.ramps[topic].append(ramp_of(message))
            self._inform(name)

    def _inform(self, name: str, followed=None) -> None:
        """Send a controller the info of a feedforward node with the same load, which follows a JointTrajectory."""
        node = self.nodes.nodes[name]
        if NODES[name][0] != CONTROLLER or not node.active:
            return
        load, info = (
            node.task.arm.payload_gravity.current,
            TorqueInfo(joint_names=list(ROBOT.joint_names), terms=list(TERMS)),
        )
        info.header.frame_id, info.model_digest, info.gravity_owner = self.arm.base, node.robot.digest, 'node'
        info.gravity.x, info.gravity.y, info.gravity.z = load.gravity.after
        info.payloads = payload_messages(load.payload.after)
        if followed is not None:
            info.trajectory = trajectory_of(ROBOT.joint_names, followed).digest
            info.trajectory_start = followed.header.stamp
        self.nodes.give(name, 'feedforward_torque/info', serialized(info))

    def _state(self, name: str, data: bytes, known=None) -> None:
        """Send a state and check the torque, which may be ``known``, as a function of a load."""
        watch, state = self._watches[name], read_state(data)
        watch.known = known
        expected = watch.expect(state, self.nodes.now, self.nodes.steady, ())
        self._give(name, 'joint_states', data)
        sent, reason = torques.read(self.nodes.take(name)), self._reason(name)
        if sent and reason:  # then they are of the timeout
            expected = expected._replace(options=[each for each in expected.options if each.kind != 'state'])
        self.found.counts['torques'] += len(sent)
        watch.judge(expected, sent, state, self.nodes.now, self.nodes.steady)
        # what has none of the arm's joints is skipped
        self.check('DIAGNOSED', sent or reason or state.q is None, f'{name}: no torque and no reason')

    def _request(self, service: str, data: bytes, valid: bool = True) -> None:
        """Send the server a request and check the response."""
        response = self._give('server', service, data)
        if response is not None:
            request, sent = understood(data, SERVICES[service].Request), self.nodes.take('server')
            self._server.response(service, request, response, sent, self.nodes.now, valid)

    def _diagnose(self, name: str):
        """Return a node's diagnostics, which must contain the reason for which it publishes nothing."""
        status, reason = self.nodes.diagnose(name), self._reason(name)
        stated = reason in status.message or status.message.startswith('no joint state for ')
        self.check('DIAGNOSED', stated, f'{name}: {reason!r} in {status.message!r}')
        return status
