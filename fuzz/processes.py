"""Coupled nodes as processes over DDS, under random events: all that they publish is recorded, and judged at the end.

Messages take their time here, so nobody knows what a node has received when. What holds for the record holds anyway.
"""

from itertools import pairwise
from pathlib import Path
from random import Random

from support.nodes import graph

import numpy as np
import yaml
from findings import Findings
from load import SECOND, value_of
from messages import Messages
from node_settings import COMMANDS, GRAVITY_NODE, NAMED, SERVER, TORQUE_NODES, drawn
from rclpy.serialization import serialize_message
from robots import GRAVITY, NO_PAYLOAD
from rules import RULES
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from torques import fault, is_within, read

from robot_dynamics_interfaces.srv import SetPayload

PERIOD, SETTLED = 0.01, 2 * SECOND
"""Time between two states, s, and from the answer of the server to the end of its ramp at all nodes, ns."""


def whole(run):
    """A torque is finite, of every joint, and within the effort limits."""
    for name, torques in run.torques.items():
        limited = run.settings.nodes[name].preset != 'monitor_only'
        for torque in torques:
            wrong = fault(torque, run.settings.arm, torque.message is not None, torque.command is not None, limited)
            yield not wrong, f'{name}: {wrong}'


def once(run):
    """A state gets at most one torque, with its stamp, and stamps do not go back."""
    for name, torques in run.torques.items():
        stamps = [torque.stamp for torque in torques if torque.message is not None]
        yield set(stamps) <= set(run.states), f'{name}: torques for {set(stamps) - set(run.states)}'
        yield all(one < other for one, other in pairwise(stamps)), f'{name}: stamps {stamps}'


def right_payload(run):
    """Where no payload has changed for some time, the gravity torque is that with the payload set last."""
    for torque in run.torques[GRAVITY_NODE]:
        before = [time for time in run.payloads if torque.message and time < torque.stamp]
        if torque.stamp in run.states and before and torque.stamp - before[-1] > SETTLED:
            right = run.settings.arm.gravity_torque(run.states[torque.stamp], (run.payloads[before[-1]], GRAVITY))
            limit = run.settings.arm.effort if run.settings.nodes[GRAVITY_NODE].preset != 'monitor_only' else np.inf
            low = np.clip(right, -limit, limit)
            yield is_within(torque.effort, low, low), f'{torque}, expected {low}'


INVARIANTS = {'WHOLE': whole, 'ONCE': once, 'TERMS': right_payload}


class Processes:
    """The nodes of one run, states and payloads that were sent, by their time, ns, and the torques of each node."""

    def __init__(self, nodes: graph.Graph, random: Random, found):
        self.settings, self._graph, self._found = drawn(random), nodes, found
        self.settings.simulated_time, self.settings.robot, self.settings.payload_gravity_ramp_time = (
            False,
            'aubo_i5',
            0.5,
        )
        for node in self.settings.nodes.values():
            node.age_limit, node.rate_limit, node.on_stale = 1.0, 0.0, 'silent'
        self.messages, self.q = Messages(random, self), np.zeros(self.settings.arm.n)
        self.states: dict[int, np.ndarray] = {}
        self.payloads = {SECOND: NO_PAYLOAD}
        self.torques: dict[str, list] = {name: [] for name in TORQUE_NODES}
        self._sent: dict[tuple, list] = {}  # by node and topic: order is kept on each of them

    @property
    def now(self) -> int:
        return self._graph.now()

    def run(self, count: int) -> None:
        """Start the nodes, and cause random events while so many states are sent."""
        nodes = {name: {**self.settings.parameters(name), 'autostart': True} for name in (SERVER, *TORQUE_NODES)}
        path = self._graph.folder / 'parameters.yaml'
        path.write_text(yaml.safe_dump({f'/{name}': {'ros__parameters': values} for name, values in nodes.items()}))
        for name in TORQUE_NODES:
            for topic, kind in (NAMED.get(name), JointState), (COMMANDS[name], Float64MultiArray):
                if topic:
                    self._graph.node.create_subscription(kind, topic, self._keep(name, topic), 1000)
        self._graph.start(SERVER, *TORQUE_NODES, arguments=['--params-file', str(path)])
        while len(self.states) < count:
            event = self.messages.random.choice((self._send_states,) * 6 + (self._motion, self._payload, self._restart))
            self._found.counts[event.__name__.strip('_')] += 1
            event()
        self._spin(1.0)
        for (name, _), sent in self._sent.items():
            self.torques[name].extend(read(sent))

    def _send_states(self) -> None:
        for _ in range(20):
            self.q = self.q + self.messages.vector(0.002)
            stamp = self.now
            self.states[stamp] = self.q
            self._graph.send('joint_states', graph.joint_state(self.settings.arm.names, stamp, self.q, 0.0 * self.q))
            self._spin(PERIOD)

    def _motion(self) -> None:
        self._graph.send('joint_trajectory', self.messages.motion(self.q))

    def _payload(self) -> None:
        request, _ = self.messages.payload()
        before = self.now
        response = self._graph.client.call(SetPayload, f'{SERVER}/set_payload', request)
        self.payloads[before] = list(self.payloads.values())[-1]  # until the ramp is over
        if response.success:
            self.payloads[self.now] = value_of(request, self.settings.arm)

    def _restart(self) -> None:
        self._graph.reactivate(self.messages.random.choice(TORQUE_NODES))

    def _keep(self, name: str, topic: str):
        sent = self._sent.setdefault((name, topic), [])
        return lambda message: sent.append((topic, serialize_message(message), 0.0))

    def _spin(self, duration: float) -> None:
        self._graph.client.spin_while_waiting(lambda: False, duration)


def run(seed: int, count: int, folder: Path) -> Findings:
    """Have processes publish torques for so many states, and judge the record."""
    found = Findings(RULES)
    with graph.Graph(folder) as nodes:
        processes = Processes(nodes, Random(f'{seed}'), found)
        found.context = f'--seed {seed}: {processes.settings}'
        processes.run(count)
    found.index += count
    found.counts['torques'] += sum(map(len, processes.torques.values()))
    for rule, invariant in INVARIANTS.items():
        for holds, what in invariant(processes):
            found.check(rule, holds, what)
    return found
