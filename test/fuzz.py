"""The nodes under random and broken messages: ``python test/fuzz.py --messages 200000 --seed 0``, or scripts/fuzz.

The nodes live in this process. What they subscribe and serve is called with bytes as the middleware would call it, what
they publish is kept at the last function before the middleware, and the ROS time stands still between messages: a seed
gives the same run again. After every message all of ``RULES`` are looked at.
"""

import argparse
import faulthandler
import gc
import os
import sys
import time
from collections import Counter
from contextlib import contextmanager
from random import Random
from typing import NamedTuple

import graph
import numpy as np
import rclpy
from fuzz_bytes import serialized
from fuzz_messages import Messages
from fuzz_nodes import AGE, RATE, STIFFNESS, watched
from fuzz_oracle import ROBOT, Read, motion, read_state, wrong_response
from fuzz_process import compiled, kernels, memory, quiet
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_interfaces.srv import GetForwardDynamics, GetInverseDynamics, GetMassMatrix

ALIVE = 'no exception leaves a callback'
NET = 'no callback needs its last net, the internal error'
REASON = 'a state that is not answered leaves a reason'
TOLD = 'a refused trajectory is told in the diagnostics'
WHOLE = 'torques are of every joint, on every topic, once, and for states alone'
LIMITS = 'torques are finite and within the effort limits'
STAMPS = 'a torque carries the stamp of its state'
OLD = 'a state older than age_limit is not answered'
FUTURE = 'a state more than age_limit in the future is not answered'
ORDER = 'a state from before the last that was answered is not answered'
RATES = 'from zero on, a torque changes by rate_limit at most'
RIGHT = 'a torque is that of the state it answers'
ANSWERED = 'a good state is answered'
SERVED = 'a good request is answered rightly, a wrong one refused by name'
PROMPT = 'nothing is compiled in a callback'
MEMORY = 'memory is flat'
RULES = (
    *(ALIVE, NET, REASON, TOLD, WHOLE, LIMITS, STAMPS, OLD, FUTURE, ORDER, RATES),
    *(RIGHT, ANSWERED, SERVED, PROMPT, MEMORY),
)

SERVICES = {
    '~/get_mass_matrix': GetMassMatrix,
    '~/get_forward_dynamics': GetForwardDynamics,
    '~/get_inverse_dynamics': GetInverseDynamics,
}
SECOND = 1_000_000_000
LIMIT = round(AGE * SECOND)
GOOD_EVERY = 250
"""Messages after which a good one is sent to every node."""
MEGABYTES = 5.0
"""By which the process may grow after a quarter of its messages."""


class Finding(NamedTuple):
    """The first message that broke a rule."""

    index: int
    what: str
    node: str
    topic: str
    data: bytes


class Sent(NamedTuple):
    """A state's torque as a node sent it."""

    stamp: int | None  # None: commands have none
    torque: np.ndarray


class Fuzz:
    """One run: nodes, what was found, and what was counted."""

    def __init__(self, nodes: dict, seed: int):
        """Send messages to ``nodes`` (by name), drawn from ``seed``."""
        self.nodes = nodes
        self.random = Random(seed)
        self.messages = Messages(self.random, ROBOT.joint_names)
        self.findings: dict[str, Finding] = {}
        self.counts: Counter = Counter()
        self.index = 0
        self.now = 1_800_000_000 * SECOND
        self._last: dict[str, tuple[int, np.ndarray] | None] = dict.fromkeys(nodes)
        self._newest = dict.fromkeys(nodes, 0)
        self._given: tuple = ()
        self.resident: list[float] = []
        for program in (ROBOT.gravity_torque, ROBOT.mass_matrix):
            program(np.zeros(ROBOT.nv))
        self._kernels = kernels()
        self._compiled = compiled(self._kernels)

    def run(self, messages: int, progress=lambda fuzz: None) -> None:
        """Send as many messages, or a few more."""
        part = max(messages // 20, 1)
        while self.index < messages:
            sent = self.index
            self._good_ones()
            for _ in range(GOOD_EVERY):
                self._one()
            if self.index // part > sent // part:
                gc.collect()
                self.resident.append(memory())
                progress(self)
        grown = self.resident[-1] - self.resident[len(self.resident) // 4]
        self.check(MEMORY, grown <= MEGABYTES, f'grown by {grown:.1f} MB')

    def check(self, rule: str, holds: bool, what: str) -> None:
        """Remember the message at hand if it is the first for which ``rule`` does not hold."""
        if not holds:
            self.counts[rule] += 1
            self.findings.setdefault(rule, Finding(self.index, what, *self._given))

    def _one(self) -> None:
        """Let some time go by and send one random message to one node."""
        pause = self.random.random()
        self._pass(round(SECOND * (10.0 * self.random.random() if pause < 0.002 else 0.002 * pause)))
        name = self.random.choice(list(self.nodes))
        node = self.nodes[name]
        if self.random.random() < 0.0005:
            node.trigger_deactivate()
            node.trigger_activate()
            self._last[name] = None
        if node.serves:
            service = self.random.choice(list(SERVICES))
            self._request(name, service, self._perhaps_broken(self.messages.request(SERVICES[service])))
            return
        (topic,) = self.random.choices(list(node.weights), node.weights.values())
        if topic == 'joint_trajectory':
            draw = self.random.choice((self.messages.trajectory, self.messages.wrong_trajectory))
            self._give(name, topic, self._perhaps_broken(draw()))
        else:
            draw = self.random.choice((self.messages.state, self.messages.wrong_state))
            self._state(name, topic, self._perhaps_broken(draw()))

    def _perhaps_broken(self, message) -> bytes:
        """Return a message's bytes, a third of them broken."""
        data = serialized(message)
        return self.messages.broken(data) if self.random.random() < 0.33 else data

    def _pass(self, duration: int) -> None:
        """Let time (ns) go by."""
        self.now += duration
        self.messages.now = self.now
        for node in self.nodes.values():
            node.set_time(self.now)

    def _give(self, name: str, topic: str, data: bytes):
        """Give bytes to a node as the middleware would; return what it answers, None where rclpy refused them."""
        node = self.nodes[name]
        self._given = name, topic, data
        self.index += 1
        node.sent.clear()
        node.refused = ''
        try:
            answer = node.give(topic, data)
        except Exception as error:  # any at all
            self.check(ALIVE, False, repr(error))
            return None
        versions = compiled(self._kernels)
        self.check(PROMPT, versions == self._compiled, f'{versions - self._compiled} kernels')
        self._compiled = versions
        if answer is None:
            self.counts['refused by rclpy'] += 1
        self.counts[topic] += 1
        said = f'{node.silence} {node.refused}'
        self.check(NET, 'internal error' not in said, said)
        self.check(WHOLE, topic == 'joint_states' or not node.sent, f'{len(node.sent)} messages sent')
        return answer

    def _state(self, name: str, topic: str, data: bytes) -> Sent | None:
        """Give a state, good or not, and look at the answer."""
        node = self.nodes[name]
        self._give(name, topic, data)
        if topic != 'joint_states':
            return None
        read = read_state(data)
        if not node.sent:
            self.check(REASON, bool(node.silence), 'no torque and no reason')
            good = read is not None and read.good and abs(self.now - read.stamp) < LIMIT // 2
            # what else a node needs, a trajectory for instance, is known of these alone
            if good and node.always and read.stamp > self._newest[name]:
                self.check(ANSWERED, False, node.silence)
            if read is not None and abs(self.now - read.stamp) <= LIMIT:
                self._newest[name] = max(self._newest[name], read.stamp)
            return None
        self.counts['torques'] += 1
        self.check(RIGHT, read is not None and read.q is not None, f'the state is {read}')
        sent = self._sent(node)
        if sent is None or read is None:
            return None
        self._look_at(name, read, sent)
        self._last[name] = read.stamp, sent.torque
        self._newest[name] = max(self._newest[name], read.stamp)
        return sent

    def _sent(self, node) -> Sent | None:
        """Return the torque that a node has sent on all of its topics."""
        by_topic = dict(node.sent)
        whole = len(node.sent) == len(by_topic) and set(by_topic) == set(node.outputs)
        self.check(WHOLE, whole, f'topics {[topic for topic, _ in node.sent]}')
        if not whole:
            return None
        *named, (topic, commands) = by_topic.items()
        torque = np.array(deserialize_message(commands, Float64MultiArray).data)
        self.check(WHOLE, len(torque) == ROBOT.nv, f'{topic}: {len(torque)} numbers')
        for topic, data in named:
            message = deserialize_message(data, JointState)
            same = list(message.effort) == torque.tolist() and message.name == list(ROBOT.joint_names)
            self.check(WHOLE, same, f'{topic}: {message}, commands {torque}')
            return Sent(graph.nanoseconds(message.header.stamp), torque)
        return Sent(None, torque)

    def _look_at(self, name: str, read: Read, sent: Sent) -> None:
        """Look at the torque that answers a state."""
        node = self.nodes[name]
        torque, age = sent.torque, self.now - read.stamp
        self.check(STAMPS, sent.stamp in (None, read.stamp), f'{sent.stamp} for {read.stamp}')
        limits = np.isfinite(torque).all() and (np.abs(torque) <= ROBOT.limits.effort).all()
        self.check(LIMITS, bool(limits), f'{torque}')
        if node.age_limited:
            self.check(OLD, age <= LIMIT, f'{age} ns old')
            self.check(FUTURE, age >= -LIMIT, f'{-age} ns in the future')
        before, torque_before = self._last[name] or (0, np.zeros(ROBOT.nv))
        self.check(ORDER, read.stamp >= before, f'{read.stamp} after {before}')
        if node.rate_limited:
            step = max(0, read.stamp - before)
            if self._last[name] is None or step > LIMIT:
                torque_before, step = np.zeros(ROBOT.nv), LIMIT
            change = np.abs(torque - torque_before).max()
            self.check(RATES, change <= RATE * step * 1e-9 + 1e-9, f'changed by {change} N m in {step} ns')
        if node.always and read.q is not None and not node.rate_limited:
            self._compare(torque, ROBOT.gravity_torque(read.q))

    def _compare(self, torque, expected) -> None:
        """Look whether a torque is the expected one, clamped."""
        expected = np.clip(expected, -ROBOT.limits.effort, ROBOT.limits.effort)
        self.check(RIGHT, bool(np.allclose(torque, expected, rtol=0, atol=1e-9)), f'{torque}, expected {expected}')

    def _request(self, name: str, service: str, data: bytes) -> None:
        """Give a request, good or not, and look at the response."""
        response = self._give(name, service, data)
        if response is None:
            return
        request = deserialize_message(data, SERVICES[service].Request)
        self.check(NET, 'internal error' not in response.message, response.message)
        wrong = wrong_response(request, response)
        self.check(SERVED, not wrong, wrong)

    def _good_ones(self) -> None:
        """Send every node something good, whatever came before, and look whether it is answered rightly."""
        for name, node in self.nodes.items():
            self._pass(SECOND)
            self._diagnose(name)
            q, qd, qdd = (np.array([self.random.uniform(-0.5, 0.5) for _ in range(ROBOT.nv)]) for _ in range(3))
            if node.serves:
                request = GetMassMatrix.Request(positions=q.tolist())
                response = self._give(name, '~/get_mass_matrix', serialized(request))
                right = response is not None and np.allclose(response.mass_matrix, ROBOT.mass_matrix(q).ravel())
                self.check(SERVED, right, f'{response}')
                continue
            feedforward = ROBOT.gravity_torque(q)
            if not node.always:
                self._refused_trajectory(name)
                self._give(name, 'joint_trajectory', serialized(motion(self.now, q, qd, qdd)))
            if 'feedforward_torque' in node.weights:
                fed = graph.stamped(JointState(name=list(ROBOT.joint_names), effort=feedforward.tolist()), self.now)
                self._give(name, 'feedforward_torque', serialized(fed))
            # where the trajectory is, but a controller has a little to do
            met = q - 0.01 if node.controls else q
            state = graph.joint_state(ROBOT.joint_names, self.now, met, qd)
            sent = self._state(name, 'joint_states', serialized(state))
            self.check(ANSWERED, sent is not None, node.silence)
            if sent is None:
                continue
            expected = {
                'gravity': lambda q=q: ROBOT.gravity_torque(q),
                'feedforward': lambda q=q, qd=qd, qdd=qdd: (
                    ROBOT.inverse_dynamics(q, qd, qdd) + ROBOT.friction_torque(qd)
                ),
                'controller': lambda feedforward=feedforward: STIFFNESS * 0.01 + feedforward,
            }[node.law]()
            if node.rate_limited:  # begins at zero, on the way to the right one
                expected = np.clip(sent.torque, np.minimum(0.0, expected), np.maximum(0.0, expected))
            self._compare(sent.torque, expected)

    def _refused_trajectory(self, name: str) -> None:
        """Send a trajectory of an unknown joint, which the diagnostics have to name."""
        nobody = f'nobody_{self.index}'
        wrong = JointTrajectory(joint_names=[nobody], points=[JointTrajectoryPoint(positions=[0.0])])
        self._give(name, 'joint_trajectory', serialized(wrong))
        status = self._diagnose(name)
        self.check(TOLD, nobody in str(status), f'{status}')

    def _diagnose(self, name: str):
        """Return a node's diagnostics, which have to hold its reason for silence."""
        node = self.nodes[name]
        self._given = name, '/diagnostics', b''
        try:
            status = node.diagnose()
        except Exception as error:  # any at all
            self.check(ALIVE, False, repr(error))
            return None
        self.check(REASON, node.silence in status.message, f'{node.silence!r} in {status.message!r}')
        return status


@contextmanager
def fuzzed(seed: int):
    """Make the nodes and a run of them."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    nodes: dict = {}
    try:
        nodes = watched()
        yield Fuzz(nodes, seed)
    finally:
        for node in nodes.values():
            node.fall_silent()
            node.destroy_node()
        rclpy.try_shutdown()


def report(fuzz: Fuzz, seed: int) -> str:
    """Return what was found, a case that shows it for each rule that did not hold."""
    lines = []
    for rule, (index, what, node, topic, data) in fuzz.findings.items():
        lines += [
            f'BROKEN, {fuzz.counts[rule]} times: {rule}',
            f'  first at seed {seed}, index {index} (--seed {seed} --messages {index}), {node}, {topic}: {what}',
            f'  message {data.hex()}',
        ]
    counted = ', '.join(f'{count} {what}' for what, count in sorted(fuzz.counts.items()) if what not in RULES)
    return '\n'.join([*lines, counted, f'{len(fuzz.findings)} of {len(RULES)} rules broken'])


def main() -> int:
    """Send as many messages as asked; return 1 where a rule was broken."""
    parser = argparse.ArgumentParser(prog='scripts/fuzz', description='random and broken messages for the nodes')
    parser.add_argument('--messages', type=int, default=200_000, help='how many; 200000 where nothing is said')
    parser.add_argument('--seed', type=int, default=time.time_ns() % 2**32, help='of the messages; else the time')
    arguments = parser.parse_args()
    print(f'seed {arguments.seed}', flush=True)
    crashes = os.fdopen(os.dup(2), 'w')  # those are told whatever else is left out
    faulthandler.enable(crashes)

    def progress(fuzz: Fuzz) -> None:
        took = time.monotonic() - began
        print(f'{fuzz.index} messages in {took:.0f} s, {fuzz.resident[-1]:.1f} MB', flush=True)

    with quiet(), fuzzed(arguments.seed) as fuzz:
        began = time.monotonic()
        fuzz.run(arguments.messages, progress)
    print(report(fuzz, arguments.seed))
    return bool(fuzz.findings)


if __name__ == '__main__':
    sys.exit(main())
