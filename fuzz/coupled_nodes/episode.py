"""One graph of coupled nodes: gives each node its messages and has its watch judge what it publishes."""

import time
from pathlib import Path
from random import Random

from support import graph

import numpy as np
import torques
from admissible import State
from load import TOPICS
from node_settings import CONTROLLER, FEEDFORWARD, GRAVITY_NODE, NAMED, SERVER, TORQUE_NODES
from rclpy.serialization import serialize_message
from torque_watch import TorqueWatch

from coupled_nodes.following_watch import ControllerWatch, FeedforwardWatch
from coupled_nodes.messages import LONG, Messages
from coupled_nodes.server_watch import ServerWatch
from coupled_nodes.settings import Settings

SECOND = graph.SECOND
FOLLOWERS = FEEDFORWARD, CONTROLLER
CPU = 0.1
"""Largest CPU time of a state, s, also the first state of a long trajectory (a short one: 0.0003)."""
RELAYS = ('before', 'before', 'before', 'after', 'lost')
"""When the controller gets the feedforward torque of a state: before that state, after it, or never."""
UNDER_WAY = 0.1
"""Latency of a message between processes, s."""


class NotUpError(Exception):
    """A node can't be activated: this episode ends."""


class Episode:
    """A graph, its watches, and the events that it can be exposed to."""

    def __init__(self, nodes, settings: Settings, found, random: Random, folder: Path):
        """Use ``nodes`` (InProcess or Processes), still empty; ``folder`` is for their files."""
        self.nodes, self.settings, self.found, self.random, self.arm = nodes, settings, found, random, settings.arm
        nodes.received = self.received
        nodes.failed = lambda name, error: found.check('CALLBACK', False, f'{name}: {error!r}')
        self.messages = Messages(random, self.arm, nodes.real_time)
        forward = FeedforwardWatch(FEEDFORWARD, settings, found)
        room = UNDER_WAY if nodes.real_time else 0.0
        self.watches: dict[str, TorqueWatch] = {
            FEEDFORWARD: forward,
            GRAVITY_NODE: TorqueWatch(GRAVITY_NODE, settings, found),
            CONTROLLER: ControllerWatch(CONTROLLER, settings, found, producer=forward, room=room),
        }
        self.server = ServerWatch(settings, nodes, found, self.messages)
        self.q, self.qd = self.messages.vector(0.5), np.zeros(self.arm.n)
        self.relay, self.relays, self.tracks = 'before', RELAYS, True
        self.paused = ''  # the node that gets no states now
        self.undelivered: list = []  # the newest feedforward torque for it
        self._file = folder / 'payload.yaml' if settings.payload_file else None

    def begin(self) -> None:
        """Start all nodes, the server first or last."""
        self.make(SERVER)
        first = self.random.random() < 0.8
        if first:
            self.bring_up(SERVER)
        for name in self.random.sample(TORQUE_NODES, len(TORQUE_NODES)):
            self.make(name)
            self.bring_up(name)
        if not first:
            for _ in range(self.random.randint(1, 4)):
                self.pass_by(0.4)
                self.round()
            self.bring_up(SERVER)
        self.pass_by(0.6)

    def received(self, name: str, topic: str, message) -> None:
        """Record that a node received a payload or gravity."""
        watch = self.watches.get(name)
        if watch is not None and watch.configured and topic in TOPICS:
            watch.follow_load(topic, message, self.nodes.now)
        self.watches[CONTROLLER].look_at_loads(self.nodes.steady)

    def make(self, name: str) -> None:
        """Start a node's process."""
        parameters = self.settings.parameters(name)
        if name == SERVER and self._file:
            parameters['payload_file'] = str(self._file)
        self.nodes.make(name, parameters)
        self.nodes.take(name)

    def bring_up(self, name: str) -> None:
        """Configure and activate a node."""
        part = self.server if name == SERVER else self.watches[name]
        part.configure(self.nodes.steady)
        self._transition(name, 'configure', 'inactive')
        if name != SERVER:
            part.created = self.nodes.subscribed(name, TOPICS[0])
            for topic in TOPICS:
                message = self.nodes.known(name, topic)
                if message is not None:
                    self.received(name, topic, message)
        self.activate(name)

    def activate(self, name: str) -> None:
        """Activate a node; it must not publish a torque for it."""
        self.nodes.take(name)
        if name != SERVER:
            self.watches[name].reset()
        self._transition(name, 'activate', 'active')
        sent = self.nodes.take(name)
        if name == SERVER:
            self.server.active = True
            self.server.activated({topic for topic, *_ in sent})
            return
        self.watches[name].active = True
        self.found.check('TERMS', not torques.read(sent), f'{name} published a torque at activation')

    def deactivate(self, name: str) -> None:
        """Deactivate a node, which ends with what ``on_deactivate`` says."""
        if name == SERVER:
            self.server.active = False
            self._transition(name, 'deactivate', 'inactive')
            return
        self.nodes.take(name)
        before = self.nodes.now, self.nodes.steady
        self._transition(name, 'deactivate', 'inactive')
        self.watches[name].deactivated(torques.read(self.nodes.take(name)), *before)

    def restart(self, name: str, way: str) -> None:
        """Deactivate a node and activate it again; ``way``: what happens between."""
        if self.server.active if name == SERVER else self.watches[name].active:
            self.deactivate(name)
        if way == 'deactivated':
            if self.random.random() < 0.5:
                self._meanwhile(name)
            self.activate(name)
            return
        if way == 'cleaned up':
            self._transition(name, 'cleanup', 'unconfigured')
        else:
            self.nodes.destroy(name)
            self.pass_by(self.random.choice((0.01, 0.3)))
            self.make(name)
        self.bring_up(name)

    def unconfigure_server(self) -> None:
        """End the server and start it again, unconfigured."""
        if self.server.active:
            self.deactivate(SERVER)
        self.nodes.destroy(SERVER)
        self.make(SERVER)

    def _meanwhile(self, name: str) -> None:
        """Send an inactive node a trajectory, which it refuses, and a state; the arm may be moved."""
        if name in FOLLOWERS:
            message = self.messages.trajectory(self.nodes.now, self.q, 0.1)
            self.give_trajectory(name, message, good=True)
            refused = self.nodes.diagnosed(name, 'trajectory refused last')
            self.found.check(
                'DEACTIVATED', 'not active' in refused, f'{name}: a trajectory while inactive: {refused!r}'
            )
        if name != SERVER:
            self.nodes.give_state(name, self.messages.state(self.nodes.now, self.q, self.qd)[1])
            sent = torques.read(self.nodes.take(name))
            self.found.check('DEACTIVATED', not sent, lambda: f'{name} published {sent} while inactive')
        self.pass_by(self.random.choice((0.02, 0.5, 4.0)))
        if self.random.random() < 0.5:
            self.q = self.q + self.messages.vector(0.5)

    def _transition(self, name: str, transition: str, state: str) -> None:
        self.found.index += 1
        self.found.counts[transition] += 1
        self.nodes.transition(name, transition)
        came = self.nodes.state(name)
        if not self.found.check('CALLBACK', came == state, lambda: f'{transition}: {came}, {self.nodes.why(name)}'):
            raise NotUpError

    def pass_by(self, duration: float) -> None:
        self.nodes.pass_by(round(duration * SECOND))
        self.watches[CONTROLLER].look_at_loads(self.nodes.steady)

    def wait(self, duration: float) -> None:
        """Advance the time by so many s, and check the nodes whose on_stale may act."""
        self.pass_by(duration)
        for name, watch in self.watches.items():
            if watch.falls_back:
                self.absence(name)

    def round(self, exact: bool = False) -> None:
        """Send a valid state to all nodes; its stamp is the present time if ``exact``."""
        age = 0.0 if exact or self.random.random() < 0.5 else self.random.uniform(0.0, 0.001)
        answered = [watch.answered or 0 for watch in self.watches.values() if watch.active]
        earliest = max((stamp for stamp in answered if stamp <= self.nodes.now), default=0)
        stamp = max(self.nodes.now - round(age * SECOND), earliest, 1)
        self._move(stamp)
        state, data = self.messages.state(stamp, self.q, self.qd)
        if self.random.random() < 0.03:
            self.relay = self.random.choice(self.relays)
        later = []
        for name in TORQUE_NODES:
            sent = [] if name == self.paused else self.state(name, state, data)
            if name == FEEDFORWARD and self.relay != 'lost':
                later = sent
            if name == FEEDFORWARD and self.relay == 'before':
                self._pass_on(later)
        self._pass_on(later)

    def state(self, name: str, state: State, data: bytes) -> list:
        """Send a state to a node, check its output and return the torques with the stamp of the state."""
        watch, nodes = self.watches[name], self.nodes
        if not watch.active:
            return []
        self.found.index += 1
        self.found.counts['states'] += 1
        expected = watch.expect(state, nodes.now, nodes.steady, {topic for topic in TOPICS if nodes.count(topic)})
        used = time.thread_time()
        nodes.give_state(name, data, expected)
        used = time.thread_time() - used
        self.found.check('PROMPT', used < CPU or nodes.real_time, lambda: f'{name}: a state took {used:.3f} s')
        sent = torques.read(nodes.take(name))
        self.found.counts['torques'] += len(sent)
        watch.judge(expected, sent, state, nodes.now, nodes.steady)
        return [torque for torque in sent if torque.stamp == state.stamp]

    def absence(self, name: str) -> None:
        """Check a node that receives no state."""
        watch, nodes = self.watches[name], self.nodes
        if watch.active:
            self.found.index += 1
            expected = watch.timeout(nodes.now, nodes.steady)
            nodes.pause(name)
            sent = torques.read(nodes.take(name))
            self.found.counts['torques without a state'] += len(sent)
            watch.judge(expected, sent, None, nodes.now, nodes.steady)

    def _move(self, stamp: int) -> None:
        """Set a plausible position of the arm at a stamp: on the trajectory, or drifting."""
        motion = self.watches[CONTROLLER].motion(stamp) if self.tracks else None
        if motion is not None:
            q, qd, _ = motion
            self.q, self.qd = q + self.messages.vector(0.003), qd + self.messages.vector(0.01)
            return
        self.q = self.q + self.messages.vector(0.002)
        self.qd = self.messages.vector(0.02)
        if self.random.random() < 0.002:
            self.q = self.messages.vector(1.5)

    def _pass_on(self, sent: list) -> None:
        while sent:
            self.feedforward(sent.pop(0).message)

    def feedforward(self, message) -> None:
        """Pass a feedforward torque to the controller."""
        if not self.watches[CONTROLLER].active:
            return
        if self.paused == CONTROLLER:
            self.undelivered[:] = [message]
            return
        self.found.index += 1
        self.found.counts['feedforward torques'] += 1
        effort = np.array(message.effort)
        effort = effort if np.isfinite(effort).all() else None
        self.watches[CONTROLLER].feedforward(graph.nanoseconds(message.header.stamp), effort)
        self.nodes.give(CONTROLLER, NAMED[FEEDFORWARD], serialize_message(message))

    def trajectory(self) -> None:
        """Send a trajectory to both followers, sometimes to one of them later than it was received."""
        tolerance = self.settings.nodes[self.random.choice(FOLLOWERS)].start_tolerance
        good, now = self.random.random() >= 0.12, self.nodes.now
        message = (
            self.messages.trajectory(now, self.q, tolerance) if good else self.messages.wrong_trajectory(now, self.q)
        )
        self.tracks = self.random.random() < 0.8
        is_late = self.random.random() < 0.1 and good and not graph.nanoseconds(message.header.stamp)
        late = self.random.choice((0.02, 0.06, 3.0)) if is_late else 0.0
        one, other = self.random.sample(FOLLOWERS, 2)
        self.give_trajectory(one, message, good)
        if late:
            self.pass_by(late)
        self.give_trajectory(other, message, good, late)
        if len(message.points) == LONG:
            self.round()

    def give_trajectory(self, name: str, message, good: bool, late: float = 0.0) -> None:
        """Send a trajectory to one node, ``late`` s after the middleware has received it."""
        watch, late = self.watches[name], round(late * SECOND)
        if not watch.configured:
            return
        self.found.index += 1
        self.found.counts['trajectories'] += 1
        watch.trajectory(message, self.nodes.now - late, self.nodes.now, good)
        self.nodes.give(name, 'joint_trajectory', serialize_message(message), late)

    def diagnose(self, name: str) -> None:
        """Check a torque node's diagnostics: OK only where torques are published, and never an internal error."""
        watch, status = self.watches[name], self.nodes.diagnose(name)
        self.found.index += 1
        if not self.found.check('DIAGNOSED', status is not None, f'{name} has no diagnostics'):
            return
        self.found.check('CALLBACK', 'internal error' not in status.message, f'{name}: {status.message}')
        if watch.active:
            age = np.inf if watch.sent_at is None else self.nodes.steady - self.nodes.lag - watch.sent_at
            right = status.level != b'\0' or age <= max(watch.limits[1], 1.0)
            self.found.check('DIAGNOSED', right, f'{name}: OK {age} s after the last torque: {status.message!r}')
