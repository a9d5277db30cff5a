"""A run of random and malformed messages: chooses node and message, and checks the node after each."""

from contextlib import contextmanager
from random import Random

from support import graph

import numpy as np
import rclpy
from process import compiled, kernels, memory
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from broken_messages.bytes import serialized
from broken_messages.description import TOPIC as DESCRIPTION_TOPIC
from broken_messages.description import Descriptions
from broken_messages.load import forget_robots
from broken_messages.nodes import AGE, KNOWN, STIFFNESS, watched
from broken_messages.oracle import DESCRIPTION, ROBOT, motion
from broken_messages.parameters import SERVICE as SET_PARAMETERS
from broken_messages.parameters import Parameters
from broken_messages.random_messages import Messages
from broken_messages.reference import Reference
from broken_messages.requests import RESET, SERVICES, Requests
from broken_messages.rules import ALIVE, ANSWERED, MEMORY, NET, PROMPT, REASON, SERVED, TOLD, WHOLE, Findings
from broken_messages.server import Server, wrong_reset
from broken_messages.torques import LOADS, Sent, Torques
from broken_messages.trajectory_check import MOST_SAMPLES, PERIOD
from robot_dynamics_interfaces.msg import GravityState, PayloadState
from robot_dynamics_interfaces.srv import CheckTrajectory, GetMassMatrix
from robot_dynamics_ros.messages.joint_trajectory import trajectory_of

SECOND = 1_000_000_000
START = 1_800_000_000 * SECOND
GOOD_EVERY = 250
"""Number of messages after which every node receives valid ones."""
STOPPED = 'no joint state for '
"""Beginning of the diagnostics after a joint-state timeout."""
INFO = 'feedforward_torque/info'
OFTEN = {'server': 4.0}
"""Relative frequency of messages by node."""
RESTARTED, RESET_ASKED, PARAMETERS_SET, DESCRIBED, PAUSED = 0.0005, 0.01, 0.03, 0.03, 0.01
"""Shares of events other than messages on a node's topics."""
KILOBYTES = 0.25
"""Allowed growth of the allocated memory per message; noise of 3000 messages is 0.05."""


class Fuzz:
    """One run: nodes, messages and findings."""

    def __init__(self, nodes: dict, steady, reference_kind, seed: int):
        """Send messages to ``nodes`` (by name), drawn from ``seed``; ``steady`` is their clock beside the ROS time."""
        self.nodes, self._steady, self._kind = nodes, steady, reference_kind
        self.random = Random(seed)
        self.messages = Messages(self.random, ROBOT.joint_names)
        self.requests = Requests(self.messages, ROBOT)
        self.found = Findings()
        self.now = START
        self._torques, self._servers, self._references, self._descriptions, self._parameters = {}, {}, {}, {}, {}
        for name, node in nodes.items():
            self._parameters[name] = Parameters(self.found, node, self.random)
            if node.serves:
                self._servers[name] = Server(self.found, node)
            else:
                self._torques[name] = Torques(self.found, node)
            if 'controller_state' in node.weights:
                self._references[name] = Reference(self.found, node, reference_kind, self._torques[name])
            if node.described:
                self._descriptions[name] = Descriptions(self.found, node, self.random)
        for name in self._torques:
            self._inform(name)
        self.allocated: list[tuple[int, float]] = []  # number of messages, MB
        for program in (ROBOT.gravity_torque, ROBOT.mass_matrix):
            program(np.zeros(ROBOT.nv))
        self._kernels = kernels()

    def run(self, messages: int, progress=lambda fuzz: None) -> None:
        """Send as many messages, or a few more."""
        part = max(messages // 20, 1)
        self._pass(SECOND)
        for node in self.nodes.values():
            node.settle()
        for parameters in self._parameters.values():
            parameters.compile_all()
        for name in self._servers:
            self._largest_check(name)
        while self.found.index < messages:
            sent = self.found.index
            for _ in range(GOOD_EVERY):
                self._one()
            self._measure()
            if self.found.index // part > sent // part:
                progress(self)
        grown = growth(self.allocated)
        self.found.check(MEMORY, grown <= KILOBYTES, f'grown by {grown:.2f} kB per message')

    def _measure(self) -> None:
        """Record the allocated memory when every node holds one payload and one gravity, and the expectations none."""
        for _ in range(2):  # the second load begins when no ramp from what was held is left
            self._good_ones()
        forget_robots()
        self.allocated.append((self.found.index, memory()))

    def _largest_check(self, name: str) -> None:
        """Request the largest number of samples first: the allocator does not release their memory."""
        ends = (0.0, np.zeros(ROBOT.nv)), (MOST_SAMPLES * PERIOD - 1.0, np.ones(ROBOT.nv))
        request = CheckTrajectory.Request(trajectory=graph.trajectory(ROBOT.joint_names, 0, *ends), resample=True)
        self._request(name, '~/check_trajectory', serialized(request))

    def _one(self) -> None:
        """Advance the time and send one random message to one node."""
        pause = self.random.random()
        self._pass(round(SECOND * (10.0 * self.random.random() if pause < 0.002 else 0.002 * pause)))
        (name,) = self.random.choices(list(self.nodes), [OFTEN.get(name, 1.0) for name in self.nodes])
        node = self.nodes[name]
        draw = self.random.random
        if draw() < RESTARTED:
            node.trigger_deactivate()
            node.trigger_activate()
            self._begin(name)
        if draw() < PARAMETERS_SET:
            self._set(name)
        elif node.serves:
            service = self.random.choice(list(SERVICES))
            self._request(name, service, self._perhaps_broken(self.requests.draw(service)))
        elif draw() < RESET_ASKED:
            self._reset(name)
        elif node.described and draw() < DESCRIBED:
            self._describe(name)
        elif draw() < PAUSED:
            self._fall_still(name)
        else:
            (topic,) = self.random.choices(list(node.weights), node.weights.values())
            self._message(name, topic, self._perhaps_broken(self._draw(topic)))

    def _draw(self, topic: str):
        """Return a valid or invalid message for a topic."""
        good = self.random.random() < 0.5
        if topic == 'joint_trajectory':
            return self.messages.trajectory() if good else self.messages.wrong_trajectory()
        if topic == 'controller_state':
            good = good or self.random.random() < 0.6  # a motion needs three good ones
            return (self.messages.reference if good else self.messages.wrong_reference)(self._kind)
        if topic in LOADS:
            return self.requests.payload() if topic == 'payload_state' else self.requests.gravity()
        return self.messages.state() if good else self.messages.wrong_state()

    def _perhaps_broken(self, message) -> bytes:
        """Return a message's bytes, a third of them broken."""
        data = serialized(message)
        return self.messages.broken(data) if self.random.random() < 0.33 else data

    def _pass(self, duration: int) -> None:
        """Advance the time by so many ns."""
        self.now += duration
        self.messages.now, self._steady.now = self.now, KNOWN + (self.now - START) / SECOND
        for node in self.nodes.values():
            node.set_time(self.now)

    def _begin(self, name: str, anew: bool = False) -> None:
        """Reset the expectations for a node that was activated or configured again."""
        if name in self._torques:
            self._torques[name].begin(anew)
            self._inform(name)
        if anew and name in self._servers:
            self._servers[name].begin()
        if anew and name in self._references:
            self._references[name].begin()

    def _give(self, name: str, topic: str, data: bytes, prompt: bool = True):
        """Pass bytes to a node as the middleware would; return its response, None if rclpy rejected them."""
        node, found = self.nodes[name], self.found
        found.begin(name, topic, data)
        node.sent.clear()
        node.announced.clear()
        node.refused = ''
        if topic in LOADS:
            node.task.arm.payload_gravity.refused = ''
        before = compiled(self._kernels)
        try:
            answer = node.give(topic, data)
        except Exception as error:  # any at all
            found.check(ALIVE, False, repr(error))
            return None
        versions = compiled(self._kernels)
        found.check(PROMPT, versions == before or not prompt, f'{versions - before} kernels')
        if answer is None:
            found.counts['refused by rclpy'] += 1
        said = f'{node.reason} {node.refused}'
        found.check(NET, 'internal error' not in said, said)
        found.check(WHOLE, topic == 'joint_states' or not node.sent, f'{len(node.sent)} messages sent')
        return answer

    def _message(self, name: str, topic: str, data: bytes) -> None:
        """Send a valid or invalid message and check the effect."""
        if topic == 'joint_states':
            self._state(name, data)
            return
        answer = self._give(name, topic, data)
        if topic in LOADS:
            self._torques[name].told(topic, data)
            self._inform(name)
        if topic == 'controller_state' and answer is not None:
            self._references[name].message(data)

    def _inform(self, name: str, followed=None) -> None:
        """Send a controller the info of a feedforward node with the same load, which follows a JointTrajectory."""
        node = self.nodes[name]
        if node.controls and INFO in node.called:
            info = self._torques[name].load.info(node.robot.digest)
            if followed is not None:
                info.trajectory = trajectory_of(ROBOT.joint_names, followed).digest
                info.trajectory_start = followed.header.stamp
            node.give(INFO, serialized(info))

    def _state(self, name: str, data: bytes) -> Sent | None:
        """Send a valid or invalid state and check the torque."""
        before = self.nodes[name].reason
        self._give(name, 'joint_states', data)
        sent = self._torques[name].state(data, self.now, before)
        if name in self._references:
            self._references[name].state(data, sent)
        return sent

    def _fall_still(self, name: str) -> None:
        """Send no state for some time."""
        node = self.nodes[name]
        for _ in range(self.random.randint(1, 6)):
            self._pass(round(SECOND * self.random.choice((0.005, 0.02, AGE, 0.3)) * self.random.random()))
            self.found.given = name, 'nothing', b''
            node.sent.clear()
            try:
                node.pause()
            except Exception as error:  # any at all
                self.found.check(ALIVE, False, repr(error))
            self.found.check(NET, 'internal error' not in node.reason, node.reason)
            self._torques[name].absence(self.now)

    def _request(self, name: str, service: str, data: bytes) -> None:
        """Send a valid or invalid request and check the response."""
        response = self._give(name, service, data)
        if response is not None:
            self._servers[name].response(service, data, response, self.now)

    def _reset(self, name: str) -> None:
        """Reset the counters of a node and check them."""
        response = self._give(name, RESET, self._perhaps_broken(self.requests.draw(RESET)))
        if response is not None:
            wrong = wrong_reset(response, self._diagnose(name))
            self.found.check(SERVED, not wrong, wrong)

    def _set(self, name: str) -> None:
        """Set valid or invalid parameters, check the result, and restore them."""
        parameters = self._parameters[name]
        before, data = parameters.before(), self._perhaps_broken(parameters.draw())
        response = self._give(name, SET_PARAMETERS, data)
        if response is None:
            return
        changed = parameters.look_at(data, response, before)
        configured = bool(changed) and parameters.configure(changed)
        parameters.restore(before, changed, configured)
        self.nodes[name].set_time(self.now)
        if configured:
            self.found.counts['configured anew'] += 1
            self._begin(name, anew=True)

    def _describe(self, name: str) -> None:
        """Publish another description, or a malformed one, and then that of all nodes."""
        data = self._perhaps_broken(String(data=self._descriptions[name].draw()))
        self._pass(SECOND // 10)  # later than what was answered, which may have come from the future
        for described in (data, serialized(String(data=DESCRIPTION))):
            if self._give(name, DESCRIPTION_TOPIC, described, prompt=False) is not None:
                self._pass(SECOND)
                self.nodes[name].settle()
                self._descriptions[name].look_at(described, self.now)
        self._pass(SECOND // 10)  # later than what was answered just now
        self._begin(name, anew=True)

    def _good_ones(self) -> None:
        """Send every node valid messages and check that its torques are correct, whatever was sent before."""
        for name, node in self.nodes.items():
            self._pass(SECOND)  # later than what was answered, which may have come from the future
            self._diagnose(name)
            q, qd, qdd = (np.array([self.random.uniform(-0.5, 0.5) for _ in range(ROBOT.nv)]) for _ in range(3))
            if node.serves:
                self._request(name, '~/get_mass_matrix', serialized(GetMassMatrix.Request(positions=q.tolist())))
                continue
            for topic in [topic for topic in LOADS if topic in node.weights]:
                self._message(name, topic, serialized(self._good_load(topic)))
            self._pass(SECOND)  # the ramp from what was held is over
            load = self._torques[name].load
            feedforward, _ = load.answer(self.now, lambda robot, q=q: robot.gravity_torque(q))
            if 'joint_trajectory' in node.weights:
                self._refused_trajectory(name)
                followed = motion(self.now, q, qd, qdd)
                self._give(name, 'joint_trajectory', serialized(followed))
            if 'controller_state' in node.weights:
                point = JointTrajectoryPoint(positions=q.tolist(), velocities=qd.tolist(), accelerations=qdd.tolist())
                reference = graph.stamped(self._kind(joint_names=ROBOT.joint_names, reference=point), self.now)
                if hasattr(reference, 'speed_scaling_factor'):  # releases before had none
                    reference.speed_scaling_factor = 1.0
                self._message(name, 'controller_state', serialized(reference))
            if 'feedforward_torque' in node.weights:
                fed = graph.stamped(JointState(name=list(ROBOT.joint_names), effort=feedforward.tolist()), self.now)
                self._inform(name, followed)
                self._give(name, 'feedforward_torque', serialized(fed))
            # where the trajectory is, but a controller has a little to do
            met = q - 0.01 if node.controls else q
            state = graph.joint_state(ROBOT.joint_names, self.now, met, qd)
            last = self._torques[name].last
            sent = self._state(name, serialized(state))
            self.found.check(ANSWERED, sent is not None, node.reason)
            if sent is None:
                continue
            rigid, _ = load.answer(self.now, lambda robot, q=q, qd=qd, qdd=qdd: robot.inverse_dynamics(q, qd, qdd))
            whole = rigid + ROBOT.friction_torque(qd)
            expected = {
                'gravity': feedforward,
                'feedforward': whole,
                'reference': whole,
                'controller': STIFFNESS * 0.01 + feedforward,
            }[node.law]
            if node.rate_limited:  # on the way from the last one to the right one
                expected = np.clip(expected, -ROBOT.limits.effort, ROBOT.limits.effort)
                expected = np.clip(sent.torque, np.minimum(last, expected), np.maximum(last, expected))
            self._torques[name].compare(sent.torque, [expected])

    def _good_load(self, topic: str):
        """Return a payload or gravity that a node has to apply immediately."""
        if topic == 'gravity_state':
            down = graph.stamped(GravityState(), self.now)
            down.gravity.x, down.gravity.z = self.random.uniform(-1.0, 1.0), self.random.uniform(-10.0, -9.0)
            return down
        message = PayloadState(mass=self.random.uniform(0.1, 3.0), com=self.messages.numbers(3, 0.1), frame='ee_link')
        message.stamp.sec, message.stamp.nanosec = divmod(self.now, SECOND)
        return message

    def _refused_trajectory(self, name: str) -> None:
        """Send a trajectory of an unknown joint, which the diagnostics have to name."""
        nobody = f'nobody_{self.found.index}'
        wrong = JointTrajectory(joint_names=[nobody], points=[JointTrajectoryPoint(positions=[0.0])])
        self._give(name, 'joint_trajectory', serialized(wrong))
        status = self._diagnose(name)
        self.found.check(TOLD, nobody in str(status), f'{status}')

    def _diagnose(self, name: str):
        """Return a node's diagnostics, which must contain the reason for which it publishes nothing."""
        node = self.nodes[name]
        self.found.given = name, '/diagnostics', b''
        try:
            status = node.diagnose()
        except Exception as error:  # any at all
            self.found.check(ALIVE, False, repr(error))
            return None
        told = node.reason in status.message or status.message.startswith(STOPPED)
        self.found.check(REASON, told, f'{node.reason!r} in {status.message!r}')
        return status


def growth(allocated: list[tuple[int, float]]) -> float:
    """Return the growth of ``allocated``, kB per message, in the second half: before, caches fill for the first time.

    Each item is a number of messages and the allocated memory after them, MB.
    """
    messages, megabytes = np.array(allocated[len(allocated) // 2 :]).T
    return 1e3 * np.polyfit(messages, megabytes, 1)[0]


@contextmanager
def fuzzed(seed: int, reference_kind):
    """Create the nodes and a run with them."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        with watched() as (nodes, steady):
            yield Fuzz(nodes, steady, reference_kind, seed)
    finally:
        rclpy.try_shutdown()
